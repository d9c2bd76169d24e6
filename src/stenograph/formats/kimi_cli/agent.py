"""The agent that writes these formats."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent("kimi-cli", "kimi-cli", resume=("kimi", "-S", "{session}"), begin=("kimi", "-p", "{prompt}"))
