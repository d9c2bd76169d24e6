"""The description of this format."""

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.shared.host_tools import HOST_TOOLS

SPEC = FormatSpec(
    name="exchange",
    what="Stenograph's own journals ($STENOGRAPH_STORAGE/transcripts/<run-id>.jsonl) and AWF's exchange transcripts",
    versions="Stenograph 0.1, AWF's published schema",
    agent=Agent("stenograph", "Stenograph"),
    kind="file",
    detect=later("stenograph.formats.exchange.detection", "detect"),
    identify=later("stenograph.formats.exchange.detection", "identify"),
    open=later("stenograph.formats.exchange.format", "ExchangeFormat"),
    tools=HOST_TOOLS,
    tokens=("call", "turn", "total"),
    sample=b'{"seq":1,"run_id":"r","type":"run.started","path":"","iteration":0,"timestamp":"","payload":null}\n',
)
