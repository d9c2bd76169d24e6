"""AutoGen: native, without content."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from shared import PROMPTS, URL, run_shell, send_all


def shell(command: str) -> str:
    """Run a shell command."""
    return run_shell(command)


async def main() -> None:
    """One task."""
    abilities = {
        "vision": False,
        "function_calling": True,
        "json_output": False,
        "family": "unknown",
        "structured_output": False,
    }
    model = OpenAIChatCompletionClient(model="fake-model", base_url=f"{URL}/v1", api_key="none", model_info=abilities)
    agent = AssistantAgent("helper", model, tools=[shell], system_message="指示", max_tool_iterations=5)
    await agent.run(task=PROMPTS[0])


asyncio.run(main())
send_all()
