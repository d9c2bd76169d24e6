"""Short ids of runs, for typing."""

from __future__ import annotations

import sqlite3
from itertools import pairwise

_SHORTEST = 8


def short_ids(index: sqlite3.Connection) -> dict[str, str]:
    """The shortest unique beginning of each run id; ids made from the clock begin alike."""
    ids = [run_id for (run_id,) in index.execute("SELECT run_id FROM main.runs ORDER BY run_id")]
    shared = [_shared(*pair) for pair in pairwise(ids)]
    lengths = [max(before, after) + 1 for before, after in zip([0, *shared], [*shared, 0], strict=True)]
    return {run_id: run_id[: max(_SHORTEST, length)] for run_id, length in zip(ids, lengths, strict=False)}


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
