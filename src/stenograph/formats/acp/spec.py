"""The description of this format."""

from stenograph.fold.agent_tables import ANSWERS, ASKS, ENDS, INTERRUPTS, Agent, Turns
from stenograph.formats.acp.tools import TOOLS
from stenograph.formats.base import FormatSpec, later

_ENDS = ("end_turn", "max_tokens", "max_turn_requests", "refusal")

SPEC = FormatSpec(
    name="acp",
    what="The Agent Client Protocol, recorded: gemini --acp, copilot --acp, opencode acp",
    versions="protocol 1; Gemini CLI 0.61.0, GitHub Copilot CLI 1.0.102, OpenCode 1.18.33",
    agent=Agent("acp", "ACP agent"),
    kind="stream",
    detect=later("stenograph.formats.acp.detection", "detect"),
    identify=later("stenograph.formats.acp.detection", "identify"),
    open=later("stenograph.formats.acp.parser", "AcpFormat"),
    turns=Turns(
        marks={
            "session/prompt/response": ("stopReason", {"cancelled": INTERRUPTS} | dict.fromkeys(_ENDS, ENDS)),
            "session/cancel": INTERRUPTS,
            "session/request_permission": ASKS,
            "session/request_permission/response": ANSWERS,
        }
    ),
    tools=TOOLS,
    tokens=("call", "turn", "total"),
    sample=b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"x"}}}\n',
)
