"""What a transcript is: frozen values and their codec. No I/O, no clock, no chance."""

from stenograph.model.block import (
    AttachmentBlock,
    Block,
    CommandBlock,
    Fidelity,
    StreamBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
)
from stenograph.model.codec import decode, encode
from stenograph.model.event import EVENT_TYPES, Event, Origin
from stenograph.model.payload import (
    ErrorPayload,
    LifecyclePayload,
    MessagePayload,
    Payload,
    SystemPayload,
    ToolPayload,
    UnknownPayload,
    UsagePayload,
)
from stenograph.model.value import Value

__all__ = [
    "EVENT_TYPES",
    "AttachmentBlock",
    "Block",
    "CommandBlock",
    "ErrorPayload",
    "Event",
    "Fidelity",
    "LifecyclePayload",
    "MessagePayload",
    "Origin",
    "Payload",
    "StreamBlock",
    "SystemPayload",
    "TextBlock",
    "ThinkingBlock",
    "ToolPayload",
    "ToolResultBlock",
    "ToolUseBlock",
    "UnknownBlock",
    "UnknownPayload",
    "UsagePayload",
    "Value",
    "decode",
    "encode",
]
