"""Rows of usage: one for each model call, however often and in however many runs it is reported.

`fold.usage` decides which reports are of one call and which of them counts; `_REPORT` is `Report.after` in SQL, and a
property compares the two.
"""

from __future__ import annotations

from stenograph.archive.index.index_writer import IndexWriter, Row
from stenograph.archive.index.model_call_rows import as_json
from stenograph.archive.index.run_row import RunRow
from stenograph.archive.index.tables import MS_PER_ID, sum_of_run
from stenograph.fold.model_calls import ModelCall
from stenograph.fold.usage import UsageKeys
from stenograph.model.event import Event
from stenograph.model.ids import is_unique
from stenograph.model.payload import TOKEN_COUNTS, UsagePayload

_MOST = 1 << 40
"""More tokens than any call takes; sums of garbage stay within what SQLite can add."""
_FIRST = ("model_call", "tools", "key", "run", "event", "source", "scope", "at_ms")
"""Columns that the first report of a call decides: the run that it belongs to, and the tools that share it."""
_LAST = ("model", "message_id", *TOKEN_COUNTS, "speed", "service_tier", "cost_usd", "reporter", "reported_ms")
"""Columns that the last report decides: what the call took."""
COLUMNS = (*_FIRST, *_LAST)
_IS_EARLIER = "excluded.run <> run AND excluded.at_ms < at_ms"
"""A call belongs to the run that reported it first: a fork repeats the calls of another run."""
_IS_LATER = "excluded.reporter = reporter OR (excluded.reported_ms, excluded.reporter) > (reported_ms, reporter)"
_REPORT = f"""
    INSERT INTO usage ({", ".join(COLUMNS)}) VALUES ({", ".join("?" * len(COLUMNS))})
    ON CONFLICT (key) DO UPDATE SET
      {", ".join(f"{name} = iif({_IS_EARLIER}, excluded.{name}, {name})" for name in _FIRST if name != "key")},
      {", ".join(f"{name} = iif({_IS_LATER}, excluded.{name}, {name})" for name in _LAST)}
    WHERE ({_IS_EARLIER}) OR {_IS_LATER}
"""
_KEY = "INSERT OR IGNORE INTO usage_keys (run, name, key) VALUES (?, ?, ?)"
_SUM = sum_of_run("?")


class UsageRows:
    """The reports of one batch."""

    def __init__(self, index: IndexWriter) -> None:
        self._index = index
        self._rows: dict[tuple[str, int], tuple[ModelCall, Row]] = {}
        """By call and run; of one run only the last report counts. The tools of a model call are known at the end."""
        self._runs: dict[str, int] = {}
        self._known: dict[tuple[str, str], str] = {}
        self._stored: set[tuple[str, str]] = set()
        self._keys = UsageKeys(self._known)

    def add(self, run: RunRow, event: Event, payload: UsagePayload, id: int, ms: int | None, call: ModelCall) -> None:
        """Add a report, whose event has this id and, where the source gives it, this time.

        `call` is the model call that it belongs to.
        """
        run.has_usage = True
        run.has_calls |= payload.scope == "call"
        run.has_turns |= payload.scope == "turn"
        self._load_key(run, payload)
        key = self._keys.key(event, payload, ms, event.seq)
        first = (key, run.id, id, event.source, payload.scope, id * MS_PER_ID if ms is None else ms)
        counts = (min(getattr(payload, name) or 0, _MOST) for name in TOKEN_COUNTS)
        terms = (payload.speed, payload.service_tier, payload.cost_usd)
        last = (payload.model, payload.message_id, *counts, *terms, event.run_id, ms or 0)
        known = self._rows.get((key, run.id))
        if known is not None:
            call, first = known[0], known[1][: len(first)]
        self._rows[key, run.id] = call, (*first, *last)

    def _load_key(self, run: RunRow, payload: UsagePayload) -> None:
        """Load the key that an earlier batch of the run gave to an id that is not unique by itself."""
        if not payload.message_id or is_unique(payload.message_id):
            return
        self._runs[run.run_id] = run.id
        name = f"{payload.scope} {payload.message_id}"
        if run.is_new or (run.run_id, name) in self._known:
            return
        for (key,) in self._index.written("SELECT key FROM usage_keys WHERE run = ? AND name = ?", (run.id, name)):
            self._known[run.run_id, name] = key
            self._stored.add((run.run_id, name))

    def write(self) -> None:
        """Write all rows."""
        self._index.add(_REPORT, *((call.number, as_json(call.shares), *row) for call, row in self._rows.values()))
        new = ((place, key) for place, key in self._known.items() if place not in self._stored)
        self._index.add(_KEY, *((self._runs[run_id], name, key) for (run_id, name), key in new))


def sum_tokens(index: IndexWriter, run: RunRow) -> None:
    """Write the run's own tokens into its row."""
    index.add(_SUM, (run.id, run.id))
