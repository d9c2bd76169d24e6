"""The agent that writes this format."""

from stenograph.fold.agent_tables import Agent

AGENT = Agent(
    "qwen-code",
    "Qwen Code",
    resume=("qwen", "--resume", "{session}"),
    begin=("qwen", "--prompt-interactive", "{prompt}"),
)
