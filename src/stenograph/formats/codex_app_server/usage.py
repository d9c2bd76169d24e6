"""Token counts of a thread, keyed so that nothing is counted twice.

Theory of operation. `thread/tokenUsage/updated` has no id of the answer it belongs to, and is sent again after a
resume, a fork or a compaction. Its `total` grows with every answer, and a repetition names the turn in which the
answer fell, also in a fork (where the thread is another one). So turn and total together name the answer. When raw
events give the answer's own id, that is the key instead.
"""

from __future__ import annotations

from typing import Any

from stenograph.model.payload import UsagePayload

_FIELDS = {
    "input_tokens": ("inputTokens", "input_tokens"),
    "output_tokens": ("outputTokens", "output_tokens"),
    "cache_read_input_tokens": ("cachedInputTokens", "cached_input_tokens"),
    "cache_creation_input_tokens": ("cacheWriteInputTokens", "cache_write_input_tokens"),
    "reasoning_output_tokens": ("reasoningOutputTokens", "reasoning_output_tokens"),
}
_LARGEST = 2**63 - 1


def usage_of(counts: Any, scope: str, model: str | None, message_id: str | None = None) -> UsagePayload | None:
    """Counts as Codex writes them, in either spelling; None when they are none."""
    if not isinstance(counts, dict):
        return None
    found = {name: _number(counts, keys) for name, keys in _FIELDS.items()}
    if found["input_tokens"] is None and found["output_tokens"] is None:
        return None
    return UsagePayload(
        scope=scope,  # type: ignore[arg-type]  # ours, and one of the three
        input_tokens=found["input_tokens"] or 0,
        output_tokens=found["output_tokens"] or 0,
        cache_read_input_tokens=found["cache_read_input_tokens"],
        cache_creation_input_tokens=found["cache_creation_input_tokens"],
        reasoning_output_tokens=found["reasoning_output_tokens"],
        model=model,
        message_id=message_id,
    )


def _number(counts: dict[str, Any], keys: tuple[str, str]) -> int | None:
    for key in keys:
        value = counts.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST:
            return value
    return None


def is_nothing(usage: UsagePayload) -> bool:
    """Whether it counts no token: after a compaction the last answer is given as all zeros."""
    return not usage.input_tokens and not usage.output_tokens


def answer_key(thread_id: str, turn_id: Any, total: Any) -> str | None:
    """A name for the answer after which a thread's total stood at this many tokens; None when no total is told."""
    tokens = _number(total, ("totalTokens", "total_tokens")) if isinstance(total, dict) else None
    if tokens is None:
        return None
    turn = turn_id if isinstance(turn_id, str) else ""
    # Turns of 0.63 are numbered from 0 in each thread; since then they are UUIDs.
    return f"{turn}:{tokens}" if len(turn) == 36 else f"{thread_id}:{turn}:{tokens}"
