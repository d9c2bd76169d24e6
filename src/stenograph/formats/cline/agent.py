"""The agent that writes this format."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent("cline", "Cline", resume=("cline", "--id", "{session}"), begin=("cline", "{prompt}"))
