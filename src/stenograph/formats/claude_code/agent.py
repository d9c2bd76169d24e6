"""Whose format it is."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent(
    "claude",
    "Claude Code",
    resume=("claude", "--resume", "{session}"),
    begin=("claude", "{prompt}"),
)
