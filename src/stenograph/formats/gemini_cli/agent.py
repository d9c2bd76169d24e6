"""Whose format it is."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent(
    "gemini",
    "Gemini CLI",
    resume=("gemini", "--resume", "{session}"),
    begin=("gemini", "--prompt-interactive", "{prompt}"),
)
