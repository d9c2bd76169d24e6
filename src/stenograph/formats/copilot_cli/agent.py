"""The agent that writes this format."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent(
    "copilot", "Copilot CLI", resume=("copilot", "--resume={session}"), begin=("copilot", "--interactive", "{prompt}")
)
