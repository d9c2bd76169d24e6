"""The agent that writes this format."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent(
    "opencode", "OpenCode", resume=("opencode", "--session", "{session}"), begin=("opencode", "--prompt", "{prompt}")
)
