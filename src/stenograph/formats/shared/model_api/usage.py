"""Token counts of the three dialects in one form: input includes cached, output includes reasoning."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_dict, dollars, first_str, tokens
from stenograph.model.payload import UsagePayload


def openai_usage(
    usage: Any, model: str | None, message_id: str | None, service_tier: str | None = None
) -> UsagePayload | None:
    """Chat (`prompt_tokens`) and Responses (`input_tokens`): both include cached and reasoning already.

    The service tier stands beside the usage in an answer; gateways add what the call cost. LiteLLM logs zeros for a
    stream without usage: every call takes tokens, so zeros mean unknown.
    """
    counts = a_dict(usage)
    into = _first(counts, "prompt_tokens", "input_tokens")
    out = _first(counts, "completion_tokens", "output_tokens")
    if not into and not out:
        return None
    read = a_dict(counts.get("prompt_tokens_details") or counts.get("input_tokens_details"))
    written = a_dict(counts.get("completion_tokens_details") or counts.get("output_tokens_details"))
    return UsagePayload(
        scope="call",
        input_tokens=into or 0,
        output_tokens=out or 0,
        cache_read_input_tokens=_either(
            _first(read, "cached_tokens"), _first(counts, "cache_read_input_tokens", "prompt_cache_hit_tokens")
        ),
        cache_creation_input_tokens=_either(
            _first(read, "cache_creation_tokens", "cache_write_tokens"), _first(counts, "cache_creation_input_tokens")
        ),
        reasoning_output_tokens=_first(written, "reasoning_tokens"),
        service_tier=service_tier,
        cost_usd=dollars(counts.get("cost")),
        model=model,
        message_id=message_id,
    )


def anthropic_usage(usage: Any, model: str | None, message_id: str | None) -> UsagePayload | None:
    """Anthropic's `input_tokens` leaves out what was read from and written to the cache."""
    counts = a_dict(usage)
    into, out = tokens(counts.get("input_tokens")), tokens(counts.get("output_tokens"))
    if into is None and out is None:
        return None
    read = tokens(counts.get("cache_read_input_tokens"))
    by_duration = a_dict(counts.get("cache_creation"))
    hour, minutes = (_first(by_duration, name) for name in ("ephemeral_1h_input_tokens", "ephemeral_5m_input_tokens"))
    created = tokens(counts.get("cache_creation_input_tokens"))
    if created is None and by_duration:
        created = (hour or 0) + (minutes or 0)
    return UsagePayload(
        scope="call",
        input_tokens=(into or 0) + (read or 0) + (created or 0),
        output_tokens=out or 0,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=created,
        cache_creation_1h_input_tokens=hour,
        speed=first_str(counts, "speed"),
        service_tier=first_str(counts, "service_tier"),
        cost_usd=dollars(counts.get("cost")),
        model=model,
        message_id=message_id,
    )


def _first(counts: dict[str, Any], *names: str) -> int | None:
    return next((found for name in names if (found := tokens(counts.get(name))) is not None), None)


def _either(first: int | None, second: int | None) -> int | None:
    return second if first is None else first
