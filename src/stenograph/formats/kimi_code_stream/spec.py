"""The description of this format."""

from stenograph.fold.agent_tables import ENDS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.kimi_code.agent import AGENT
from stenograph.formats.kimi_code.tools import TOOLS

SPEC = FormatSpec(
    name="kimi_code_stream",
    what="Kimi Code's stdout: kimi -p … --output-format stream-json",
    versions="2.1.0",
    agent=AGENT,
    kind="stream",
    detect=later("stenograph.formats.kimi_code_stream.detection", "detect"),
    identify=later("stenograph.formats.kimi_code_stream.detection", "identify"),
    open=later("stenograph.formats.kimi_code_stream.format", "KimiCodeStreamFormat"),
    turns=Turns(marks={"session.resume_hint": ENDS}),
    tools=TOOLS,
    sample=b'{"role":"meta","type":"system.version","version":"2.1.0"}\n',
)
