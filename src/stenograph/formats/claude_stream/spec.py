"""The description of this format."""

from stenograph.fold.agent_tables import BEGINS, ENDS, INTERRUPTS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.claude_code.agent import AGENT
from stenograph.formats.claude_code.spec import STOPPED
from stenograph.formats.claude_code.tools import TOOLS, VOLATILE
from stenograph.formats.claude_code.wording import LABELS, NOTICES

SPEC = FormatSpec(
    name="claude_stream",
    what="Claude Code's stdout: claude -p --output-format stream-json",
    versions="1.0.60, 2.0.30, 2.1.197, 2.1.325",
    agent=AGENT,
    kind="stream",
    detect=later("stenograph.formats.claude_stream.detection", "detect"),
    identify=later("stenograph.formats.claude_stream.detection", "identify"),
    open=later("stenograph.formats.claude_stream.format", "ClaudeStreamFormat"),
    turns=Turns(
        marks={"init": BEGINS, "result": ENDS, "interrupted": INTERRUPTS}, announced=("init",), interruptions=STOPPED
    ),
    tools=TOOLS,
    labels=LABELS,
    notices=NOTICES,
    volatile=VOLATILE,
    tokens=("call", "turn"),
    sample=b'{"type":"system","subtype":"init","session_id":"s","uuid":"u","tools":[],"model":"m"}\n',
)
