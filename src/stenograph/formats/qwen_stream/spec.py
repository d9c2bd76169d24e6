"""The description of this format."""

from stenograph.fold.agent_tables import BEGINS, ENDS, Turns
from stenograph.formats.base import FormatSpec
from stenograph.formats.qwen_code.agent import AGENT
from stenograph.formats.qwen_code.tools import TOOLS
from stenograph.formats.qwen_stream.format import QwenStreamFormat, detect, identify

SPEC = FormatSpec(
    name="qwen_stream",
    what="Qwen Code's stdout: qwen -p … --output-format stream-json",
    versions="0.24.4",
    agent=AGENT,
    kind="stream",
    detect=detect,
    identify=identify,
    open=QwenStreamFormat,
    turns=Turns(marks={"init": BEGINS, "result": ENDS}, announced=("init",)),
    tools=TOOLS,
    tokens=("call", "turn"),
    sample=b'{"type":"system","subtype":"init","uuid":"u","session_id":"s","model":"m","permission_mode":"yolo"}\n',
)
