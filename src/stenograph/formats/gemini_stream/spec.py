"""The description of this format."""

from stenograph.fold.agent_tables import BEGINS, ENDS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.gemini_cli.agent import AGENT
from stenograph.formats.gemini_cli.tools import TOOLS

SPEC = FormatSpec(
    name="gemini_stream",
    what="Gemini CLI's stdout: gemini -p … --output-format stream-json",
    versions="0.61.0",
    agent=AGENT,
    kind="stream",
    detect=later("stenograph.formats.gemini_stream.detection", "detect"),
    identify=later("stenograph.formats.gemini_stream.detection", "identify"),
    open=later("stenograph.formats.gemini_stream.format", "GeminiStreamFormat"),
    turns=Turns(marks={"init": BEGINS, "result": ENDS}, announced=("init",)),
    tools=TOOLS,
    tokens=("turn",),
    sample=b'{"type":"init","timestamp":"2026-01-01T00:00:00.000Z","session_id":"s","model":"m"}\n',
)
