"""The description of this format."""

from stenograph.fold.agent_tables import BEGINS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.opencode.agent import AGENT
from stenograph.formats.opencode.spec import TURNS
from stenograph.formats.opencode.tools import TOOLS

SPEC = FormatSpec(
    name="opencode_stream",
    what="output of `opencode run --format json`",
    versions="1.18.33",
    agent=AGENT,
    kind="stream",
    detect=later("stenograph.formats.opencode_stream.detection", "detect"),
    identify=later("stenograph.formats.opencode_stream.detection", "identify"),
    open=later("stenograph.formats.opencode_stream.format", "OpenCodeStreamFormat"),
    turns=Turns(marks={"step-start": BEGINS}, announced=("step-start",), interrupting_errors=TURNS.interrupting_errors),
    tools=TOOLS,
    tokens=("call",),
    sample=b'{"type":"text","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_1","messageID":"msg_1","text":"x"}}\n',
)
