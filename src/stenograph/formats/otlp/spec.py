"""The description of this format."""

from stenograph.fold.agent_tables import ENDS, Agent, Turns
from stenograph.formats.base import Binary, FormatSpec
from stenograph.formats.otlp.detection import detect, identify
from stenograph.formats.otlp.format import NAME, OtlpFormat
from stenograph.formats.otlp.layout import LAYOUT
from stenograph.formats.otlp.protobuf import is_protobuf, records_in_file
from stenograph.formats.otlp.transcript import ENDED
from stenograph.formats.shared.host_tools import HOST_TOOLS

SPEC = FormatSpec(
    name=NAME,
    what="OpenTelemetry spans of agents (OTLP): GenAI conventions, OpenInference",
    versions="pydantic-ai 2.66, openai-agents, LangChain 1, smolagents, CrewAI, AutoGen 0.7.5, Google ADK 2.13",
    agent=Agent("otlp", "OpenTelemetry"),
    kind="stream",
    layout=LAYOUT,
    binary=Binary(may_be=is_protobuf, records=records_in_file, suffixes=(".pb", ".binpb", ".protobuf", ".otlp")),
    documents=True,
    detect=detect,
    identify=identify,
    open=OtlpFormat,
    turns=Turns(marks={ENDED: ENDS}),
    tools=HOST_TOOLS,
    tokens=("call",),
    sample=b'{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{"name":"x"},"spans":[]}]}]}\n',
)
