"""The description of this format."""

from stenograph.fold.agent_tables import ANSWERS, ASKS, BEGINS, ENDS, INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.kimi_code.agent import AGENT
from stenograph.formats.kimi_code.layout import LAYOUT
from stenograph.formats.kimi_code.tools import TOOLS

SPEC = FormatSpec(
    name="kimi_code",
    what="Kimi Code's sessions, with their subagents (from version 2 on)",
    versions="2.1.0",
    agent=AGENT,
    kind="file",
    layout=LAYOUT,
    detect=later("stenograph.formats.kimi_code.detection", "detect"),
    identify=later("stenograph.formats.kimi_code.detection", "identify"),
    open=later("stenograph.formats.kimi_code.format", "KimiCodeFormat"),
    programs=("kimi",),
    turns=Turns(
        marks={
            "turn.prompt": BEGINS,
            "turn.cancel": INTERRUPTS,
            "turn.ended": ("reason", {"completed": ENDS, "failed": ENDS, "cancelled": INTERRUPTS}),
            "interaction.request": ASKS,
            "interaction.resolved": ANSWERS,
        },
        announced=("turn.prompt",),
    ),
    tools=TOOLS,
    labels={"repeated": "Repeated at the end of the turn"},
    tokens=("call",),
    sample=b'{"type":"metadata","protocol_version":"1.5","created_at":1794834438747}\n',
)
