"""The agent that writes this format."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent("pi", "pi", resume=("pi", "--session", "{session}"), begin=("pi", "{prompt}"))
