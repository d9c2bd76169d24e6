"""OpenAI Agents: by OpenInference."""

from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from shared import PROMPTS, URL, provider, run_shell, send_all

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool

OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
client = AsyncOpenAI(base_url=f"{URL}/v1", api_key="none")
model = OpenAIChatCompletionsModel(model="fake-model", openai_client=client)
agent = Agent(
    name="helper",
    instructions="You are a tester. 指示",
    tools=[function_tool(run_shell, name_override="shell")],
    model=model,
)
first = Runner.run_sync(agent, PROMPTS[0])
Runner.run_sync(agent, [*first.to_input_list(), {"role": "user", "content": PROMPTS[1]}])
try:
    Runner.run_sync(agent, PROMPTS[2])
except Exception as error:
    print(type(error).__name__)
send_all()
