"""smolagents: by OpenInference."""

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from shared import PROMPTS, URL, provider, run_shell, send_all
from smolagents import OpenAIServerModel, ToolCallingAgent, tool

SmolagentsInstrumentor().instrument(tracer_provider=provider)


@tool
def shell(command: str) -> str:
    """Run a shell command.

    Args:
        command: what to run
    """
    try:
        return run_shell(command)
    except RuntimeError as error:
        return f"ERROR {error}"


model = OpenAIServerModel(model_id="fake-model", api_base=f"{URL}/v1", api_key="none")
agent = ToolCallingAgent(tools=[shell], model=model, max_steps=3, name="helper", description="It helps.")
agent.run(PROMPTS[0])
try:
    agent.run(PROMPTS[2])
except Exception as error:
    print(type(error).__name__)
send_all()
