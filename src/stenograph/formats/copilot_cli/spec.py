"""The description of this format."""

from stenograph.fold.agent_tables import ANSWERS, ASKS, ENDS, INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.copilot_cli.agent import AGENT
from stenograph.formats.copilot_cli.layout import LAYOUT
from stenograph.formats.copilot_cli.tools import TOOLS

SPEC = FormatSpec(
    name="copilot_cli",
    what="GitHub Copilot CLI session files, with their subagents",
    versions="1.0.102",
    agent=AGENT,
    kind="file",
    layout=LAYOUT,
    detect=later("stenograph.formats.copilot_cli.detection", "detect"),
    identify=later("stenograph.formats.copilot_cli.detection", "identify"),
    open=later("stenograph.formats.copilot_cli.format", "CopilotCliFormat"),
    programs=("copilot",),
    turns=Turns(
        marks={
            "abort": INTERRUPTS,
            "session.shutdown": ENDS,
            "permission.requested": ASKS,
            "permission.completed": ANSWERS,
        }
    ),
    tools=TOOLS,
    tokens=("call", "total"),
    sample=b'{"type":"session.start","data":{"sessionId":"s"},"id":"i","timestamp":"2026-01-01T00:00:00.000Z"}\n',
)
