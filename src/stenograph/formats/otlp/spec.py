"""The description of this format."""

from stenograph.fold.agent_tables import ENDS, Agent, Turns
from stenograph.formats.base import Binary, FormatSpec, later
from stenograph.formats.otlp.layout import LAYOUT
from stenograph.formats.shared.host_tools import HOST_TOOLS

SPEC = FormatSpec(
    name="otlp",
    what="OpenTelemetry spans of agents (OTLP): GenAI conventions, OpenInference",
    versions="pydantic-ai 2.66, openai-agents, LangChain 1, smolagents, CrewAI, AutoGen 0.7.5, Google ADK 2.13",
    agent=Agent("otlp", "OpenTelemetry"),
    kind="stream",
    layout=LAYOUT,
    binary=Binary(
        may_be=later("stenograph.formats.otlp.protobuf", "is_protobuf"),
        records=later("stenograph.formats.otlp.protobuf", "records_in_file"),
        suffixes=(".pb", ".binpb", ".protobuf", ".otlp"),
    ),
    documents=True,
    detect=later("stenograph.formats.otlp.detection", "detect"),
    identify=later("stenograph.formats.otlp.detection", "identify"),
    open=later("stenograph.formats.otlp.format", "OtlpFormat"),
    turns=Turns(marks={"agent_ended": ENDS}),
    tools=HOST_TOOLS,
    tokens=("call",),
    sample=b'{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{"name":"x"},"spans":[]}]}]}\n',
)
