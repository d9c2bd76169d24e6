"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.shared.host_tools import HOST_TOOLS

SPEC = FormatSpec(
    name="langchain",
    what="dumps of LangChain's messages and of LangGraph's states",
    versions="langchain-core 1.7.2",
    agent=Agent("langchain", "LangChain"),
    kind="document",
    documents=True,
    detect=later("stenograph.formats.langchain.detection", "detect"),
    identify=later("stenograph.formats.langchain.detection", "identify"),
    open=later("stenograph.formats.langchain.format", "LangChainFormat"),
    tools=HOST_TOOLS,
    tokens=("call",),
)
