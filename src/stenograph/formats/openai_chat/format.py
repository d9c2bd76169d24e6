"""openai_chat: Chat Completions as OpenAI, LiteLLM and compatible servers speak it, and datasets of chats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats import tools
from stenograph.formats.base import FormatSpec, Identity
from stenograph.formats.shared.model_api.format import ApiFormat
from stenograph.formats.shared.model_api.recognize import identity_of, is_written_in


class OpenAIChatFormat(ApiFormat):
    """Requests, answers and chunks of Chat Completions; `{"messages": […]}` lines; one message per line."""

    name = "openai_chat"
    api = "chat"


def _detect(records: Sequence[Any], path: str) -> bool:
    return is_written_in("chat", records)


def _identify(records: Sequence[Any], path: str) -> Identity:
    return identity_of(records)


SPEC = FormatSpec(
    name="openai_chat",
    what="OpenAI Chat Completions (also LiteLLM and compatible servers), chat datasets",
    versions="openai 2.54 and 3.49, LiteLLM 1.106",
    on_disk=False,
    detect=_detect,
    identify=_identify,
    open=OpenAIChatFormat,
    tools=tools.GENERIC,
)
