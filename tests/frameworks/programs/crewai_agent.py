"""CrewAI: by OpenInference alone, which sends no model calls."""

import os

from shared import PROMPTS, URL, provider, run_shell, send_all

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "false"}
os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_API_BASE": f"{URL}/v1", "OPENAI_BASE_URL": f"{URL}/v1"}

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from openinference.instrumentation.crewai import CrewAIInstrumentor

CrewAIInstrumentor().instrument(tracer_provider=provider, skip_dep_check=True)


@tool("shell")
def shell(command: str) -> str:
    """Run a shell command."""
    return run_shell(command)


model = LLM(model="openai/fake-model", base_url=f"{URL}/v1", api_key="none")
agent = Agent(role="helper", goal="test", backstory="指示", llm=model, tools=[shell])
task = Task(description=PROMPTS[0], expected_output="anything", agent=agent)
Crew(agents=[agent], tasks=[task]).kickoff()
send_all()
