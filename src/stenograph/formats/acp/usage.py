"""Token counts at the end of a prompt, which agents fill in differently.

Theory of operation. Copilot's `usage` counts the session since its process began; `totalTokens` shows whether cached
input and thoughts are included in the other numbers (Copilot) or not (OpenCode, which reports its last model call
only). Gemini counts the prompt, in another field. An unknown agent is taken to count like Copilot.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import string, tokens
from stenograph.model.payload import Scope, UsagePayload

_LAST_CALL_ONLY = {"OpenCode"}
"""Agents whose `usage` is that of the last model call."""


def usage_of(result: dict[str, Any], agent: str | None, model: str | None) -> UsagePayload | None:
    """The tokens in the answer to a prompt; None when it has none."""
    usage = result.get("usage")
    if isinstance(usage, dict):
        return _reported(usage, "call" if agent in _LAST_CALL_ONLY else "total", model)
    meta = result.get("_meta")
    quota = meta.get("quota") if isinstance(meta, dict) else None
    return _quota(quota, model) if isinstance(quota, dict) else None


def _reported(usage: dict[str, Any], scope: Scope, model: str | None) -> UsagePayload | None:
    into, out = tokens(usage.get("inputTokens")), tokens(usage.get("outputTokens"))
    if into is None and out is None:
        return None
    read, written = tokens(usage.get("cachedReadTokens")), tokens(usage.get("cachedWriteTokens"))
    thought = tokens(usage.get("thoughtTokens"))
    cached, beside = (read or 0) + (written or 0), thought or 0
    if usage.get("totalTokens") != (into or 0) + (out or 0) + cached + beside:
        cached = beside = 0
    return UsagePayload(
        scope=scope,
        input_tokens=tokens((into or 0) + cached) or 0,
        output_tokens=tokens((out or 0) + beside) or 0,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=written,
        reasoning_output_tokens=thought,
        model=model,
    )


def _quota(quota: dict[str, Any], model: str | None) -> UsagePayload | None:
    counts = quota.get("token_count")
    into, out = (tokens(counts.get(name)) for name in _NAMES) if isinstance(counts, dict) else (None, None)
    if into is None and out is None:
        return None
    models = quota.get("model_usage")
    named = [string(each.get("model")) for each in models if isinstance(each, dict)] if isinstance(models, list) else []
    return UsagePayload(
        scope="turn", input_tokens=into or 0, output_tokens=out or 0, model=named[0] if len(named) == 1 else model
    )


_NAMES = ("input_tokens", "output_tokens")
