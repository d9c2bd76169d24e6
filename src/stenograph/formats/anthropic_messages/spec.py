"""The description of this format."""

from stenograph.formats.base import FormatSpec, later
from stenograph.formats.shared.host_tools import HOST_TOOLS
from stenograph.formats.shared.model_api.agents import ANTHROPIC
from stenograph.formats.shared.model_api.recognize import detection_of, identity_of

SPEC = FormatSpec(
    name="anthropic_messages",
    what="Anthropic Messages API",
    versions="anthropic 2.8",
    agent=ANTHROPIC,
    kind="stream",
    documents=True,
    detect=detection_of("messages"),
    identify=identity_of,
    open=later("stenograph.formats.anthropic_messages.format", "AnthropicMessagesFormat"),
    tools=HOST_TOOLS,
    tokens=("call",),
    sample=b'{"type":"message","id":"msg_1","role":"assistant","model":"m","content":[],"usage":{}}\n',
)
