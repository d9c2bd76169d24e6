"""Fills a small index in memory with what a query needs of a lake, so that the code for archives can read it.

`steno ls` and `steno stats` read sums that an index keeps by run and quarter of an hour. Hosts send these sums with
their runs, so that the table of events need not be read. For runs without sums (those of `steno lake build`, or of an
older program), DuckDB computes them from the table of events. All are put into the tables that an index has for sums.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from stenograph.archive.index.tables import LONG_INPUT, NANODOLLARS, NEVER, QUARTER_HOUR, TABLES
from stenograph.fleet.lake.reading import WHOLE, Lake, Span, day_of
from stenograph.fleet.lake.views import CURRENT
from stenograph.fleet.store.sent_events import INPUT_STEP
from stenograph.fold.model_calls import MODEL_CALL_TYPES, ModelCalls
from stenograph.model.payload import TOKEN_COUNTS
from stenograph.query.period import Period

if TYPE_CHECKING:
    import duckdb

_RUN = (
    "run_id, parent_run_id, forked_from, agent, format, cwd, project, agent_version, name, first_prompt, model,"
    " started_at, ended_at, started_ms, ended_ms, events, turns, tools, errors, has_calls, has_turns, evidence, branch,"
    " revision, messages, failed_calls, open_calls, copied_calls"
)
_TOKENS = ", ".join(TOKEN_COUNTS)
_MS = "coalesce(used.ms, epoch_ms(CAST(used.day AS TIMESTAMP)))"
_TERMS = "coalesce(used.model, ''), used.scope, coalesce(used.speed, ''), coalesce(used.service_tier, '')"
_NANO = f"CAST(round({NANODOLLARS} * coalesce(used.cost_usd, 0)) AS BIGINT)"
_SUMS = f"""
    SELECT number.id, greatest(0, {_MS}) // {QUARTER_HOUR}, {_TERMS}, CAST(coalesce(used.cost_usd, 0) > 0 AS INTEGER),
      {", ".join(f"CAST(sum(used.{name}) AS BIGINT)" for name in TOKEN_COUNTS)}, CAST(sum({_NANO}) AS BIGINT), count(*)
    FROM counted AS used JOIN numbers AS number ON number.archive = used.archive AND number.run_id = used.run_id
    WHERE NOT number.has_sums GROUP BY ALL
"""
_SINGLE = f"""
    SELECT CAST(used.key AS VARCHAR), number.id, used.source, used.seq, used.scope, {_MS}, used.model, used.message_id,
      {", ".join(f"used.{name}" for name in TOKEN_COUNTS)}, used.speed, used.service_tier, used.cost_usd
    FROM counted AS used JOIN numbers AS number ON number.archive = used.archive AND number.run_id = used.run_id
"""
_OF_RUN = "JOIN numbers AS number ON number.archive = call.archive AND number.run_id = call.run_id"
_CALLS = f"""
    SELECT number.id, coalesce(greatest(0, call.started_ms) // {QUARTER_HOUR}, {NEVER}), call.name, count(*),
      count(call.result_seq), count(call.error), count(call.duration_ms),
      CAST(coalesce(sum(round(1000 * greatest(-1e11, least(1e11, call.duration_ms)))), 0) AS BIGINT)
    FROM pairs AS call {_OF_RUN} WHERE call.call_seq IS NOT NULL AND NOT call.is_copy AND NOT number.has_sums
    GROUP BY ALL
"""
_CALL = f"""
    SELECT number.id, call.source, call.call_id, call.name, call.call_seq, call.result_seq, call.started_ms,
      call.duration_ms, call.error
    FROM pairs AS call {_OF_RUN} WHERE call.call_seq IS NOT NULL AND NOT call.is_copy
"""
_SUMS_SENT = """
    SELECT number.id, run.{} FROM current_runs AS run JOIN numbers AS number
      ON number.archive = run.archive AND number.run_id = run.run_id WHERE number.has_sums
"""
_TERM_COLUMNS = "quarter, model, scope, speed, service_tier, has_cost"
_SUM_COLUMNS = f"{_TOKENS}, nanodollars, calls"
_CALLS_COLUMNS = "quarter, name, calls, answered, failed, timed, duration_us"
_ROW = f"run, at_ms, {_TERM_COLUMNS}, call_input, {_SUM_COLUMNS}"
_LONG_SUMS = f"""
    CREATE TABLE long_sums (run, {_TERM_COLUMNS}, steps, {_SUM_COLUMNS});
    CREATE VIEW counted_told AS SELECT {_ROW} FROM counted_singles UNION ALL
      SELECT {_ROW} FROM (
        SELECT *, quarter * {QUARTER_HOUR} AS at_ms, steps * {INPUT_STEP} AS call_input FROM long_sums);
"""
"""`counted_told` has single calls for prices that depend on a call's input; here it also has the hosts' sums of long
calls, by steps of input."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a scratch index holds in addition to the runs."""

    tokens: bool = True
    calls: bool = False
    """With the tool calls, by name and time."""
    tools: bool = False
    """With the tokens of model calls shared by the tools that they asked for (`fold.model_calls`)."""
    thresholds: tuple[int, ...] = ()
    """The lengths of input at which a price changes."""
    is_cut: bool = True
    """Whether sums are needed for the period only; otherwise for whole runs."""

    @property
    def takes_sums(self) -> bool:
        """Whether the sums of hosts are enough. They have no shares of tools, and long calls by steps of input only."""
        return not self.tools and all(each >= LONG_INPUT and each % INPUT_STEP == 0 for each in self.thresholds)

    @property
    def long_input(self) -> int:
        """Calls with more input than this are added one by one, since their price may depend on it."""
        return min(self.thresholds, default=LONG_INPUT)


class RunOwner(msgspec.Struct, frozen=True):
    """The owner of the archive that keeps a run."""

    id: str
    host: str | None
    user: str | None


class Scratch:
    """A connection of SQLite to the index in memory, and the owners of the runs by their ids."""

    def __init__(self, index: sqlite3.Connection, owners: dict[str, RunOwner]) -> None:
        self.index = index
        self.owners = owners


@contextmanager
def scratch_of(lake: Lake, period: Period, wanted: Wanted) -> Iterator[Scratch]:
    """The runs that were going on in a period, with sums; of runs that several archives keep, the longest."""
    index = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with closing(index):
        _make_tables(index, wanted)
        cut = cut_quarters(period) if wanted.is_cut else []
        index.execute("BEGIN")
        with lake.connected_to_runs() as connection:
            span = span_of(period)
            connection.execute(f"CREATE TEMP TABLE current_runs AS {CURRENT.format(span.of_runs())}")
            owners = _add_runs(index, connection, period, takes_sums=wanted.takes_sums)
            if wanted.takes_sums:
                _add_sums_sent(index, connection, wanted, cut)
            events = _events_needed(connection, cut, wanted)
            if events is not None:
                lake.add_events(connection, events)
                lake.add_views(connection, events, tokens=wanted.tokens, pairs=wanted.calls)
                _add_from_events(index, connection, cut, wanted)
        index.execute("COMMIT")
        yield Scratch(index, owners)


def _make_tables(index: sqlite3.Connection, wanted: Wanted) -> None:
    """Make the tables of an index. Sums are inserted, so its triggers are dropped; for `tools` those of tokens stay."""
    index.executescript(TABLES)
    for (name,) in index.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        if name.startswith("calls") or not wanted.tools:
            index.execute(f"DROP TRIGGER {name}")
    # Queries read `counted_told`: the index's own view gets another name, and becomes a part of ours.
    (view,) = index.execute("SELECT sql FROM sqlite_master WHERE name = 'counted_told'").fetchone()
    index.execute("DROP VIEW counted_told")
    index.executescript(f"{view.replace('counted_told', 'counted_singles', 1)};{_LONG_SUMS}")


def span_of(period: Period) -> Span:
    """The days of a period, in UTC."""
    return Span(first_day=day_of(period.since), last_day=day_of(None if period.until is None else period.until - 1))


def _events_needed(connection: duckdb.DuckDBPyConnection, cut: list[int], wanted: Wanted) -> Span | None:
    """The part of the events from which something has to be added up; None where nothing has to be.

    These are the days of runs whose hosts sent no sums, and those of quarters of an hour that the period cuts.
    """
    if not wanted.tokens and not wanted.calls:
        return None
    query = "SELECT count(*), min(started_ms), max(ended_ms) FROM numbers WHERE NOT has_sums"
    count, first, last = connection.execute(query).fetchall()[0]
    moments = [(quarter * QUARTER_HOUR, (quarter + 1) * QUARTER_HOUR) for quarter in cut]
    if count and (first is None or last is None):
        return WHOLE
    if count:
        moments.append((first, last + 1))
    if not moments:
        return None
    return span_of(Period(min(begin for begin, _ in moments), max(end for _, end in moments)))


def cut_quarters(period: Period) -> list[int]:
    """The quarters of an hour in which a period begins or ends."""
    bounds = (bound for bound in (period.since, period.until) if bound is not None)
    return sorted({bound // QUARTER_HOUR for bound in bounds if bound % QUARTER_HOUR})


def _add_runs(
    index: sqlite3.Connection, connection: duckdb.DuckDBPyConnection, period: Period, *, takes_sums: bool
) -> dict[str, RunOwner]:
    """Add the runs; returns their owners. The temporary table `numbers` has their ids in the index (`runs.id`)."""
    conditions = ["true"]
    if period.since is not None:
        conditions.append(f"coalesce(ended_ms, 0) >= {period.since}")
    if period.until is not None:
        conditions.append(f"coalesce(started_ms, 0) < {period.until}")
    has_sums = "usage_sums IS NOT NULL AND long_sums IS NOT NULL AND calls_sums IS NOT NULL" if takes_sums else "false"
    connection.execute(
        f"""
        CREATE TEMP TABLE numbers AS
        SELECT row_number() OVER (ORDER BY ended_ms, archive, run_id) AS id, archive, run_id, started_ms, ended_ms,
          {has_sums} AS has_sums
        FROM (
          SELECT * FROM current_runs WHERE {" AND ".join(conditions)}
          QUALIFY row_number() OVER (PARTITION BY run_id ORDER BY events DESC, archive) = 1
        )
        """
    )
    columns = ", ".join(f'run."{name}"' for name in _RUN.split(", "))
    rows = connection.execute(
        f"""
        SELECT number.id, {columns}, run.subagents, run.archive, run.host, run."user"
        FROM current_runs AS run JOIN numbers AS number ON number.archive = run.archive AND number.run_id = run.run_id
        """
    ).fetchall()
    names = _RUN.split(", ")
    filled = [(row[0], *(_filled(name, value) for name, value in zip(names, row[1:-4], strict=True))) for row in rows]
    index.executemany(f"INSERT INTO runs (id, {_RUN}) VALUES ({', '.join('?' * (len(names) + 1))})", filled)
    index.executemany(
        "INSERT INTO sources VALUES (?, ?, NULL, NULL, 0, 0, 0)",
        ((row[0], f"subagent:{number}") for row in rows for number in range(row[-4] or 0)),
    )
    # There is no file here. For a path with a `#`, a session in a database, `run_status` uses the last event's time.
    index.executemany(
        "INSERT INTO files (root, path, format, run_id, source, version, kept, about)"
        " VALUES ('', ?, '', ?, '', 0, 0, '')",
        ((f"{row[1]}#", row[1]) for row in rows),
    )
    return {row[1]: RunOwner(row[-3], row[-2], row[-1]) for row in rows}


_NEVER_NULL = {"agent": "", "format": "", "evidence": "{}"}
_NUMBERS = (
    *("events", "turns", "tools", "errors", "has_calls", "has_turns", "revision", "messages"),
    *("failed_calls", "open_calls", "copied_calls"),
)


def _filled(name: str, value: Any) -> Any:
    """The value for the index, or a default if the program that sent the run has no such column."""
    if value is None:
        return 0 if name in _NUMBERS else _NEVER_NULL.get(name)
    return value


def _add_sums_sent(
    index: sqlite3.Connection, connection: duckdb.DuckDBPyConnection, wanted: Wanted, cut: list[int]
) -> None:
    """Add the sums that hosts sent, without those of long calls in `cut` quarters: they are added one by one."""
    if wanted.tokens:
        _insert(index, "usage_sums", f"{_TERM_COLUMNS}, {_SUM_COLUMNS}", _sent(connection, "usage_sums"))
        long = (row for row in _sent(connection, "long_sums") if row[1] not in cut)
        _insert(index, "long_sums", f"{_TERM_COLUMNS}, steps, {_SUM_COLUMNS}", long)
    if wanted.calls:
        _insert(index, "calls_sums", _CALLS_COLUMNS, _sent(connection, "calls_sums"))


def _sent(connection: duckdb.DuckDBPyConnection, name: str) -> Iterator[list[Any]]:
    for run, sums in connection.execute(_SUMS_SENT.format(name)).fetchall():
        for row in msgspec.json.decode(sums):
            yield [run, *row]


def _insert(index: sqlite3.Connection, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
    marks = ", ".join("?" * (len(columns.split(", ")) + 1))
    index.executemany(f"INSERT INTO {table} (run, {columns}) VALUES ({marks})", rows)


def _add_from_events(
    index: sqlite3.Connection, connection: duckdb.DuckDBPyConnection, cut: list[int], wanted: Wanted
) -> None:
    """Add what hosts did not add up, and the single calls of the `cut` quarters."""
    if wanted.tools:
        _add_shared(index, connection)
    elif wanted.tokens:
        _insert(index, "usage_sums", f"{_TERM_COLUMNS}, {_SUM_COLUMNS}", connection.execute(_SUMS).fetchall())
        is_long = f"NOT number.has_sums AND used.scope = 'call' AND used.input_tokens > {wanted.long_input}"
        _add_single(index, connection, f"({is_long}) OR {_is_in(cut, f'greatest(0, {_MS})')}")
    if wanted.calls:
        _insert(index, "calls_sums", _CALLS_COLUMNS, connection.execute(_CALLS).fetchall())
        rows = connection.execute(f"{_CALL} AND {_is_in(cut, 'greatest(0, call.started_ms)')}").fetchall()
        single = "source, call_id, name, call, result, started_ms, duration_ms, error, witnesses"
        _insert(index, "calls", single, ((*row, 0) for row in rows))


def _is_in(quarters: list[int], moment: str) -> str:
    """A condition: the moment is in one of these quarters of an hour."""
    return f"{moment} // {QUARTER_HOUR} IN ({', '.join(map(str, quarters))})" if quarters else "false"


_USAGE = (
    f"key, run, source, event, scope, at_ms, model, message_id, {_TOKENS}, speed, service_tier, cost_usd, model_call,"
    " tools, reporter, reported_ms"
)


def _add_single(
    index: sqlite3.Connection,
    connection: duckdb.DuckDBPyConnection,
    condition: str,
    tools: dict[tuple[int, int], list[str]] | None = None,
) -> None:
    """Add model calls one by one; `tools` are those that share the tokens of a call, by its run and event."""
    rows = connection.execute(f"{_SINGLE} WHERE {condition}").fetchall()
    marks = ", ".join("?" * len(_USAGE.split(", ")))
    shared = tools or {}
    index.executemany(
        f"INSERT OR IGNORE INTO usage ({_USAGE}) VALUES ({marks})",
        ((*row, 0, msgspec.json.encode(shared.get((row[1], row[3]), [])).decode(), "", 0) for row in rows),
    )


def _add_shared(index: sqlite3.Connection, connection: duckdb.DuckDBPyConnection) -> None:
    """Every model call with the tools that share its tokens; triggers keep the sums."""
    types = ", ".join(f"'{each}'" for each in sorted(MODEL_CALL_TYPES))
    rows = connection.execute(
        f"""
        SELECT number.id, event.seq, event.source, event.type, coalesce(event.tool_name, ''), event.message_id
        FROM current_events AS event
        JOIN numbers AS number ON number.archive = event.archive AND number.run_id = event.run_id
        WHERE event.type IN ({types}) ORDER BY 1, 2
        """
    )
    calls: dict[int, ModelCalls] = {}
    found: dict[tuple[int, int], Any] = {}
    while some := rows.fetchmany(10_000):
        for run, seq, source, kind, tool, message_id in some:
            call = calls.setdefault(run, ModelCalls()).add(source, kind, tool, message_id)
            if kind == "token.usage" and call is not None:
                found[run, seq] = call
    _add_single(index, connection, "true", {place: call.shares for place, call in found.items()})
