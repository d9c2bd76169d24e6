"""Google ADK: native, with its content by two variables of the environment."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.genai import types
from shared import PROMPTS, run_shell, send_all


def shell(command: str) -> dict:
    """Run a shell command."""
    try:
        return {"output": run_shell(command)}
    except RuntimeError as error:
        return {"error": str(error)}


async def main() -> None:
    """Three turns of one session."""
    agent = LlmAgent(name="helper", model="gemini-2.5-flash", instruction="You are a tester. 指示", tools=[shell])
    runner = InMemoryRunner(agent=agent, app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="user")
    for prompt in PROMPTS:
        message = types.Content(role="user", parts=[types.Part(text=prompt)])
        try:
            async for _ in runner.run_async(user_id="user", session_id=session.id, new_message=message):
                pass
        except Exception as error:
            print(type(error).__name__)


asyncio.run(main())
send_all()
