"""The description of this format."""

from stenograph.fold.agent_tables import BEGINS, ENDS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.qwen_code.agent import AGENT
from stenograph.formats.qwen_code.tools import TOOLS

SPEC = FormatSpec(
    name="qwen_stream",
    what="Qwen Code's stdout: qwen -p … --output-format stream-json",
    versions="0.24.4",
    agent=AGENT,
    kind="stream",
    detect=later("stenograph.formats.qwen_stream.detection", "detect"),
    identify=later("stenograph.formats.qwen_stream.detection", "identify"),
    open=later("stenograph.formats.qwen_stream.format", "QwenStreamFormat"),
    turns=Turns(marks={"init": BEGINS, "result": ENDS}, announced=("init",)),
    tools=TOOLS,
    tokens=("call", "turn"),
    sample=b'{"type":"system","subtype":"init","uuid":"u","session_id":"s","model":"m","permission_mode":"yolo"}\n',
)
