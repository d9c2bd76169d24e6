"""Token counts of a thread, keyed so that nothing is counted twice.

Theory of operation. `thread/tokenUsage/updated` has no id of the answer it belongs to, and is sent again after a
resume, a fork or a compaction. Its `total` grows with every answer, and a repetition names the turn of the answer, also
in a fork (where the thread is another one). So turn and total together identify the answer. When raw events give the
answer's own id, that is the key instead.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.codex_rollout.usage import usage_of as rollout_usage_of
from stenograph.formats.shared.loose import tokens
from stenograph.model.payload import Scope, UsagePayload

_SPELLINGS = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cached_input_tokens": "cachedInputTokens",
    "cache_write_input_tokens": "cacheWriteInputTokens",
    "reasoning_output_tokens": "reasoningOutputTokens",
}
"""The names of counts in rollouts, and their spellings in the protocol."""


def usage_of(
    counts: Any, scope: Scope, model: str | None, message_id: str | None = None, service_tier: str | None = None
) -> UsagePayload | None:
    """Counts as Codex writes them, in either spelling; None when there are none."""
    if not isinstance(counts, dict):
        return None
    numbers = {name: _number(counts, (spelling, name)) for name, spelling in _SPELLINGS.items()}
    return rollout_usage_of(scope, numbers, model, message_id, service_tier)


def _number(counts: dict[str, Any], keys: tuple[str, str]) -> int | None:
    return next((found for key in keys if (found := tokens(counts.get(key))) is not None), None)


def is_nothing(usage: UsagePayload) -> bool:
    """Whether it counts no token: after a compaction the last answer is given as all zeros."""
    return not usage.input_tokens and not usage.output_tokens


def answer_key(thread_id: str, turn_id: Any, total: Any) -> str | None:
    """A key for the answer that led to this total of a thread; None when there is no total."""
    count = _number(total, ("totalTokens", "total_tokens")) if isinstance(total, dict) else None
    if count is None:
        return None
    turn = turn_id if isinstance(turn_id, str) else ""
    # Turns of 0.63 are numbered from 0 in each thread; since then they are UUIDs.
    return f"{turn}:{count}" if len(turn) == 36 else f"{thread_id}:{turn}:{count}"
