"""The agent that writes this format."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent("continue", "Continue", begin=("cn", "{prompt}"))
