"""What an agent itself says that a session took, and why our sum may be another; read with nothing but `json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Tokens = tuple[int, int, int, int, int]
"""Input with what was cached, output, read from the cache, written to it, reasoning."""

NO_WORDS = "[Your previous response had no visible output"


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file that are objects."""
    for line in path.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def files_of_claude(session: Path) -> list[Path]:
    """A session's file and those of its subagents."""
    return [session, *sorted(session.with_suffix("").rglob("agent-*.jsonl"))]


def claude_totals(session: Path) -> dict[str, Tokens] | None:
    """By model, what the last `cost-state` line of a session tells; None where there is none."""
    told = [record for record in records(session) if record.get("type") == "cost-state"]
    if not told:
        return None
    return {model: _claude_tokens(usage) for model, usage in told[-1]["modelUsage"].items()}


def _claude_tokens(usage: dict[str, int]) -> Tokens:
    read, written = usage["cacheReadInputTokens"], usage["cacheCreationInputTokens"]
    return usage["inputTokens"] + read + written, usage["outputTokens"], read, written, 0


def claude_reasons(session: Path) -> set[str]:
    """Calls of the model that left no answer in the files, by the headings of docs/formats/claude_code.md."""
    reasons = set()
    for path in files_of_claude(session):
        for record in records(path):
            if record.get("subtype") == "compact_boundary":
                reasons.add("a summary for a compaction")
            elif record.get("subtype") == "api_error":
                reasons.add("an attempt that was given up")
            elif str((record.get("message") or {}).get("content")).startswith(NO_WORDS):
                reasons.add("an answer without words")
    return reasons


def codex_totals(rollout: Path) -> Tokens | None:
    """What a thread's last `token_usage_record` tells, or its last `token_count` where it has no records."""
    counts, used = _codex_counts(rollout), _codex_records(rollout)
    if used:
        return _codex_tokens(used[-1]["thread_token_usage"])
    return _codex_tokens(counts[-1]["total_token_usage"]) if counts else None


def codex_reasons(rollout: Path) -> set[str]:
    """Why a thread's total is not what its answers took, by the headings of docs/formats/codex_rollout.md."""
    used = _codex_records(rollout)
    if used:
        first = used[0]
        inherited = _minus(_codex_tokens(first["thread_token_usage"]), _codex_tokens(first["usage"]))
        return {"what a fork inherited"} if any(inherited) else set()
    reasons = set()
    before: Tokens = (0, 0, 0, 0, 0)
    for count in _codex_counts(rollout):
        total, last = _codex_tokens(count["total_token_usage"]), _codex_tokens(count.get("last_token_usage") or {})
        moved = _minus(total, before)
        if total != before and moved != last:
            reports_less = all(more >= less for more, less in zip(moved, last, strict=True))
            reasons.add("a call that is not reported" if reports_less else "a total that does not add up")
        before = total
    return reasons


def _codex_records(rollout: Path) -> list[dict[str, Any]]:
    return [record["payload"] for record in records(rollout) if record.get("type") == "token_usage_record"]


def _codex_counts(rollout: Path) -> list[dict[str, Any]]:
    payloads = [record.get("payload") for record in records(rollout) if record.get("type") == "event_msg"]
    infos = [each.get("info") for each in payloads if isinstance(each, dict) and each.get("type") == "token_count"]
    return [info for info in infos if isinstance(info, dict) and isinstance(info.get("total_token_usage"), dict)]


def _codex_tokens(usage: dict[str, Any]) -> Tokens:
    names = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
    first, second, third, fourth = (usage.get(name) or 0 for name in names)
    return first, second, third, fourth, usage.get("reasoning_output_tokens") or 0


def _minus(first: Tokens, second: Tokens) -> Tokens:
    a, b, c, d, e = (x - y for x, y in zip(first, second, strict=True))
    return a, b, c, d, e
