"""The agent that writes this format."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent(
    "hermes-agent",
    "Hermes Agent",
    resume=("hermes", "chat", "--resume", "{session}"),
    begin=("hermes", "chat", "-q", "{prompt}"),
)
