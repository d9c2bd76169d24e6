"""The agent that writes this format."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent(
    "openhands", "OpenHands", resume=("openhands", "--resume", "{session}"), begin=("openhands", "-t", "{prompt}")
)
