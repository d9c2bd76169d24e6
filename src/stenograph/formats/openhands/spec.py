"""The description of this format."""

from stenograph.fold.agent_tables import INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.openhands.agent import AGENT
from stenograph.formats.openhands.layout import LAYOUT
from stenograph.formats.openhands.tools import TOOLS

SPEC = FormatSpec(
    name="openhands",
    what="OpenHands' conversations since version 1",
    versions="1.16.0 (SDK 1.21.0)",
    agent=AGENT,
    kind="document",
    layout=LAYOUT,
    documents=True,
    detect=later("stenograph.formats.openhands.detection", "detect"),
    identify=later("stenograph.formats.openhands.detection", "identify"),
    open=later("stenograph.formats.openhands.format", "OpenHandsFormat"),
    programs=("openhands",),
    turns=Turns(marks={"PauseEvent": INTERRUPTS}),
    tools=TOOLS,
    tokens=("call",),
    sample=b'{"id":"c","agent":{"kind":"Agent"},"workspace":{},"execution_status":"idle"}\n',
)
