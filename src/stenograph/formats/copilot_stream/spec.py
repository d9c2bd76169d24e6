"""The description of this format."""

from stenograph.fold.agent_tables import BEGINS, ENDS, INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.copilot_cli.agent import AGENT
from stenograph.formats.copilot_cli.tools import TOOLS

SPEC = FormatSpec(
    name="copilot_stream",
    what="GitHub Copilot CLI's stdout: copilot -p --output-format json",
    versions="1.0.102",
    agent=AGENT,
    kind="stream",
    detect=later("stenograph.formats.copilot_stream.detection", "detect"),
    identify=later("stenograph.formats.copilot_stream.detection", "identify"),
    open=later("stenograph.formats.copilot_stream.format", "CopilotStreamFormat"),
    turns=Turns(
        marks={"assistant.turn_start": BEGINS, "assistant.idle": ENDS, "result": ENDS, "abort": INTERRUPTS},
        announced=("assistant.turn_start",),
    ),
    tools=TOOLS,
    notices=frozenset({"model.call_failure"}),
    tokens=("call", "total"),
    sample=b'{"type":"assistant.idle","data":{},"ephemeral":true,"id":"i","timestamp":"2026-01-01T00:00:00.000Z"}\n',
)
