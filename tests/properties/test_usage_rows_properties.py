"""Token reports become the same rows however they are divided into batches."""

from __future__ import annotations

import sqlite3
from itertools import count
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stenograph.archive.index_writer import IndexWriter
from stenograph.archive.run_draft import RunDraft
from stenograph.archive.tables import TABLES
from stenograph.archive.usage_rows import UsageRows
from stenograph.model.event import Event
from stenograph.model.payload import UsagePayload

payloads = st.builds(
    UsagePayload,
    scope=st.sampled_from(["call", "turn", "total"]),
    input_tokens=st.integers(0, 3),
    output_tokens=st.integers(0, 3),
    reasoning_output_tokens=st.none() | st.integers(0, 3),
    model=st.sampled_from([None, "one", "two"]),
    message_id=st.sampled_from([None, "short", "a-longer-id"]),
)
reports = st.tuples(st.sampled_from([1, 2]), payloads)


def _rows(batches: list[list[tuple[int, UsagePayload]]]) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(TABLES)
    index = IndexWriter(connection)
    runs = {number: RunDraft(number, f"run-{number}", "codex_rollout", "codex") for number in (1, 2)}
    seqs = count(1)
    for batch in batches:
        rows = UsageRows(index)
        for (number, payload), seq in zip(batch, seqs, strict=False):
            run_id = runs[number].run_id
            event = Event(
                seq=seq, run_id=run_id, type="token.usage", path="", iteration=0, timestamp="", payload=payload
            )
            rows.add(runs[number], event, payload, seq, seq)
        rows.write()
    told = index.execute("SELECT * FROM usage ORDER BY key").fetchall()
    index.close()
    return [row[1:] for row in told]


@given(st.lists(st.lists(reports, max_size=6), max_size=5))
def test_batches_make_no_difference(batches: list[list[tuple[int, UsagePayload]]]) -> None:
    """Nor does it when all reports come as one, or each alone."""
    together = [report for batch in batches for report in batch]
    assert _rows(batches) == _rows([together]) == _rows([[report] for report in together])
