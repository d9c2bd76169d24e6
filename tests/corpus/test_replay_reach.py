"""How much of transcripts that nobody here made can be replayed: each conversation, to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_client import is_counted, walked
from shared_folder import SHARED
from stenograph.errors import StenographError
from stenograph.model import Event
from stenograph.sources.conversion import convert

pytestmark = pytest.mark.corpus
LARGEST = 8_000_000
UNREACHED = {
    "captures/codex/old_0.42.0_compact/exec.jsonl": "the summary that replaced its context is not told",
    "claude/large.jsonl": "its calls have no ids",
    "claude/schema_drift.jsonl": "its calls have no ids",
    "cursor/large.jsonl": "its calls have no ids",
}
"""Sessions that cannot be gone through to their end, by the end of their paths, and why."""


def _runs(path: Path) -> list[list[Event]]:
    runs: dict[str, list[Event]] = {}
    try:
        for event in convert(path, keep_raw=False):
            runs.setdefault(event.run_id, []).append(event)
    except StenographError:
        return []  # not a transcript
    return list(runs.values())


def test_reach_over_captures_and_corpus() -> None:
    """At least 95 % of the sessions with a prompt and no call id twice, and each of the others is named here."""
    reached, missed = 0, []
    for folder in ("captures", "corpus"):
        for path in sorted(each for each in (SHARED / folder).rglob("*") if each.is_file()):
            if path.stat().st_size > LARGEST:
                continue
            for events in filter(is_counted, _runs(path)):
                if any(walk.missed for walk in walked(events)):
                    missed.append(str(path.relative_to(SHARED)).replace("__", "/"))
                else:
                    reached += 1
    assert reached > 500
    assert reached >= 0.95 * (reached + len(missed))
    assert [path for path in missed if not path.endswith(tuple(UNREACHED))] == []
