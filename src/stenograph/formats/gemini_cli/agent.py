"""The agent that writes this format."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent(
    "gemini",
    "Gemini CLI",
    resume=("gemini", "--resume", "{session}"),
    begin=("gemini", "--prompt-interactive", "{prompt}"),
)
