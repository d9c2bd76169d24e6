"""The agent that writes this format."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent(
    "codex",
    "Codex",
    resume=("codex", "resume", "{session}"),
    begin=("codex", "{prompt}"),
)
