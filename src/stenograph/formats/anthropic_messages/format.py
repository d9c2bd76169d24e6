"""anthropic_messages: calls to Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats import tools
from stenograph.formats.base import FormatSpec, Identity
from stenograph.formats.shared.model_api.format import ApiFormat
from stenograph.formats.shared.model_api.recognize import identity_of, is_written_in


class AnthropicMessagesFormat(ApiFormat):
    """Requests, answers, stream events and single messages of the Messages API."""

    name = "anthropic_messages"
    api = "messages"


def _detect(records: Sequence[Any], path: str) -> bool:
    return is_written_in("messages", records)


def _identify(records: Sequence[Any], path: str) -> Identity:
    return identity_of(records)


SPEC = FormatSpec(
    name="anthropic_messages",
    what="Anthropic Messages API",
    versions="anthropic 2.8",
    on_disk=False,
    detect=_detect,
    identify=_identify,
    open=AnthropicMessagesFormat,
    tools=tools.GENERIC,
)
