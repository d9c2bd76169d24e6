"""Pydantic AI: native, with all its content."""

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from shared import PROMPTS, URL, run_shell, send_all

Agent.instrument_all()
model = OpenAIChatModel("fake-model", provider=OpenAIProvider(base_url=f"{URL}/v1", api_key="none"))
agent = Agent(model, name="helper", instructions="You are a tester. 指示")


@agent.tool_plain(retries=3)
def shell(command: str) -> str:
    """Run a shell command."""
    try:
        return run_shell(command)
    except RuntimeError as error:
        raise ModelRetry(str(error)) from error


first = agent.run_sync(PROMPTS[0])
agent.run_sync(PROMPTS[1], message_history=first.all_messages())
try:
    agent.run_sync(PROMPTS[2])
except Exception as error:
    print(type(error).__name__)
send_all()
