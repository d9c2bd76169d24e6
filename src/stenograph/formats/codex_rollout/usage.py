"""Tokens, by Codex's own keys."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import tokens
from stenograph.model.ids import is_unique
from stenograph.model.payload import Scope, UsagePayload


def usage_of(
    scope: Scope, numbers: Any, model: str | None, key: str | None = None, service_tier: str | None = None
) -> UsagePayload | None:
    """Codex's numbers as a payload; None when there are none. Its input already includes what was cached."""
    if not isinstance(numbers, dict):
        return None
    into, out = tokens(numbers.get("input_tokens")), tokens(numbers.get("output_tokens"))
    if into is None and out is None:
        return None
    return UsagePayload(
        scope=scope,
        input_tokens=into or 0,
        output_tokens=out or 0,
        cache_read_input_tokens=tokens(numbers.get("cached_input_tokens")),
        cache_creation_input_tokens=tokens(numbers.get("cache_write_input_tokens")),
        reasoning_output_tokens=tokens(numbers.get("reasoning_output_tokens")),
        service_tier=service_tier,
        model=model,
        message_id=key,
    )


def answer_id(response_id: str | None, turn_id: str | None) -> str | None:
    """The id of an answer, the same in every session that holds it; with its turn, if a server only numbers answers.

    A fork copies turns and answers with new times.
    """
    if response_id is None or turn_id is None or is_unique(response_id) or not is_unique(turn_id):
        return response_id
    return f"{turn_id}:{response_id}"
