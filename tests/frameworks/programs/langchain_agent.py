"""LangChain and LangGraph: by OpenInference, with a session."""

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from openinference.instrumentation.langchain import LangChainInstrumentor
from shared import PROMPTS, URL, provider, run_shell, send_all

LangChainInstrumentor().instrument(tracer_provider=provider)


@tool
def shell(command: str) -> str:
    """Run a shell command."""
    try:
        return run_shell(command)
    except RuntimeError as error:
        return f"ERROR {error}"


model = ChatOpenAI(model="fake-model", base_url=f"{URL}/v1", api_key="none", use_responses_api=False)
agent = create_agent(model, [shell], system_prompt="You are a tester. 指示", checkpointer=InMemorySaver())
settings = {"configurable": {"thread_id": "talk"}, "metadata": {"session_id": "talk"}}
agent.invoke({"messages": [("user", PROMPTS[0])]}, settings)
agent.invoke({"messages": [("user", PROMPTS[1])]}, settings)
try:
    agent.invoke({"messages": [("user", PROMPTS[2])]}, {"configurable": {"thread_id": "other"}})
except Exception as error:
    print(type(error).__name__)
send_all()
