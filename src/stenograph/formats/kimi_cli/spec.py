"""The description of this format."""

from stenograph.fold.agent_tables import ANSWERS, ASKS, ENDS, Turns
from stenograph.formats.base import FormatSpec, later
from stenograph.formats.kimi_cli.agent import AGENT
from stenograph.formats.kimi_cli.layout import LAYOUT
from stenograph.formats.kimi_cli.tools import TOOLS

SPEC = FormatSpec(
    name="kimi_cli",
    what="kimi-cli's sessions, with their subagents (version 1)",
    versions="1.45.0",
    agent=AGENT,
    kind="file",
    layout=LAYOUT,
    detect=later("stenograph.formats.kimi_cli.detection", "detect"),
    identify=later("stenograph.formats.kimi_cli.detection", "identify"),
    open=later("stenograph.formats.kimi_cli.format", "KimiCliFormat"),
    programs=("kimi", "kimi-cli"),
    turns=Turns(
        marks={
            "TurnEnd": ENDS,
            "ApprovalRequest": ASKS,
            "ApprovalResponse": ANSWERS,
            "QuestionRequest": ASKS,
            "QuestionResponse": ANSWERS,
        }
    ),
    tools=TOOLS,
    tokens=("call",),
    sample=b'{"type": "metadata", "protocol_version": "1.10"}\n'
    b'{"timestamp": 1794835331.3, "message": {"type": "TurnBegin", "payload": {"user_input": "x"}}}\n',
)
