"""The agent that writes these formats."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent("kimi-code", "Kimi Code", resume=("kimi", "-r", "{session}"), begin=("kimi", "-p", "{prompt}"))
