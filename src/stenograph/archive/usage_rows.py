"""Tokens as rows, one for each model call however often and in however many runs it is told."""

from __future__ import annotations

from stenograph.archive.index_writer import IndexWriter, Row
from stenograph.archive.run_draft import RunDraft
from stenograph.model.event import Event
from stenograph.model.payload import TOKEN_COUNTS, UsagePayload

_UNIQUE_LENGTH = 8
"""Ids shorter than this are no more than numbers; they tell calls of one run apart."""
_MOST = 1 << 40
"""More tokens than any call takes; sums of garbage stay within what SQLite can add."""


_NAMES = f"key, run, event, source, scope, at_ms, model, message_id, {', '.join(TOKEN_COUNTS)}"
_TOLD = 8
"""So many of them tell what was counted."""
_REPORT = f"""
    INSERT INTO usage ({_NAMES}) VALUES ({", ".join("?" * (_TOLD + len(TOKEN_COUNTS)))})
    ON CONFLICT (key) DO UPDATE SET model = coalesce(excluded.model, model),
      {", ".join(f"{name} = excluded.{name}" for name in TOKEN_COUNTS)}
    WHERE excluded.scope = 'total'
       OR excluded.input_tokens + excluded.output_tokens >= input_tokens + output_tokens
"""
_SUM = f"""
    UPDATE runs SET ({", ".join(TOKEN_COUNTS)}) =
      (SELECT {", ".join(f"coalesce(sum({name}), 0)" for name in TOKEN_COUNTS)} FROM counted_sums WHERE run = ?1)
    WHERE id = ?1
"""


class UsageRows:
    """The reports of one batch."""

    def __init__(self, index: IndexWriter) -> None:
        self._index = index
        self._rows: list[Row] = []
        self._totals: dict[str, int] = {}
        """Where the row of each total is: one is told again with every call, and only the last counts."""

    def add(self, run: RunDraft, event: Event, payload: UsagePayload, id: int, ms: int) -> None:
        """Take a report into account, whose event has this id and moment."""
        run.has_usage = True
        run.has_calls |= payload.scope == "call"
        run.has_turns |= payload.scope == "turn"
        counts = [min(getattr(payload, name) or 0, _MOST) for name in TOKEN_COUNTS]
        key = _key(run, event, payload)
        told = (key, run.id, id, event.source, payload.scope, ms)
        row = (*told, payload.model, payload.message_id, *counts)
        place = self._totals.setdefault(key, len(self._rows)) if payload.scope == "total" else len(self._rows)
        if place < len(self._rows):
            self._rows[place] = _together(self._rows[place], row)
        else:
            self._rows.append(row)

    def write(self) -> None:
        """Write them; of two reports of one call the richer one counts, of two equal ones the later.

        A call belongs to the run that told of it first: a fork repeats the calls of another run.
        """
        self._index.add(_REPORT, *self._rows)


def sum_tokens(index: IndexWriter, run: RunDraft) -> None:
    """Put the run's own tokens into its row."""
    index.add(_SUM, (run.id,))


def _together(first: Row, last: Row) -> Row:
    """What two reports of one total come to, as `_REPORT` would have it."""
    *told, known, message_id = first[:_TOLD]
    model = last[_TOLD - 2]
    return (*told, known if model is None else model, message_id, *last[_TOLD:])


def _key(run: RunDraft, event: Event, payload: UsagePayload) -> str:
    if payload.scope == "total":
        return f"total {run.run_id}"
    if not payload.message_id:
        return f"{payload.scope} {run.run_id} #{event.seq}"
    if len(payload.message_id) < _UNIQUE_LENGTH:
        return f"{payload.scope} {run.run_id} {payload.message_id}"
    return f"{payload.scope} {payload.message_id}"
