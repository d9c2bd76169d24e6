"""openai_responses: calls to OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats import tools
from stenograph.formats.base import FormatSpec, Identity
from stenograph.formats.shared.model_api.format import ApiFormat
from stenograph.formats.shared.model_api.recognize import identity_of, is_written_in


class OpenAIResponsesFormat(ApiFormat):
    """Requests, answers, stream events and single items of the Responses API."""

    name = "openai_responses"
    api = "responses"


def _detect(records: Sequence[Any], path: str) -> bool:
    return is_written_in("responses", records)


def _identify(records: Sequence[Any], path: str) -> Identity:
    return identity_of(records)


SPEC = FormatSpec(
    name="openai_responses",
    what="OpenAI Responses API",
    versions="openai 2.54 and 3.49",
    on_disk=False,
    detect=_detect,
    identify=_identify,
    open=OpenAIResponsesFormat,
    tools=tools.GENERIC,
)
