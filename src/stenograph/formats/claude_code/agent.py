"""The agent that writes this format."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent(
    "claude",
    "Claude Code",
    resume=("claude", "--resume", "{session}"),
    begin=("claude", "{prompt}"),
)
