"""The description of this format."""

from stenograph.formats.base import FormatSpec, later
from stenograph.formats.shared.host_tools import HOST_TOOLS
from stenograph.formats.shared.model_api.agents import ANTHROPIC

SPEC = FormatSpec(
    name="anthropic_messages",
    what="Anthropic Messages API",
    versions="anthropic 2.8",
    agent=ANTHROPIC,
    kind="stream",
    documents=True,
    detect=later("stenograph.formats.anthropic_messages.detection", "detect"),
    identify=later("stenograph.formats.shared.model_api.recognize", "identity_of"),
    open=later("stenograph.formats.anthropic_messages.format", "AnthropicMessagesFormat"),
    tools=HOST_TOOLS,
    tokens=("call",),
    sample=b'{"type":"message","id":"msg_1","role":"assistant","model":"m","content":[],"usage":{}}\n',
)
