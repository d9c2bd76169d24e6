"""The description of this format."""

from stenograph.formats.base import FormatSpec, later
from stenograph.formats.cline.agent import AGENT
from stenograph.formats.cline.layout import LAYOUT
from stenograph.formats.cline.tools import TOOLS

SPEC = FormatSpec(
    name="cline",
    what="Cline's sessions since version 3, with their subagents",
    versions="3.0.65",
    agent=AGENT,
    kind="document",
    layout=LAYOUT,
    documents=True,
    detect=later("stenograph.formats.cline.detection", "detect"),
    identify=later("stenograph.formats.cline.detection", "identify"),
    open=later("stenograph.formats.cline.format", "ClineFormat"),
    programs=("cline",),
    tools=TOOLS,
    tokens=("call",),
    sample=b'{"version":1,"agent":"lead","sessionId":"s","origin":{},"messages":[]}\n',
)
