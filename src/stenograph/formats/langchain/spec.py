"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec
from stenograph.formats.langchain.detection import detect, identify
from stenograph.formats.langchain.format import LangChainFormat
from stenograph.formats.shared.host_tools import HOST_TOOLS

SPEC = FormatSpec(
    name="langchain",
    what="dumps of LangChain's messages and of LangGraph's states",
    versions="langchain-core 1.7.2",
    agent=Agent("langchain", "LangChain"),
    kind="document",
    documents=True,
    detect=detect,
    identify=identify,
    open=LangChainFormat,
    tools=HOST_TOOLS,
    tokens=("call",),
)
