"""A small index in memory, filled with the sums that a question needs: so the code that asks an archive asks a lake.

`steno ls` and `steno stats` add up what an index has added up already, by run and quarter of an hour. DuckDB makes the
same sums of the table's columns; they are put where the index keeps its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from stenograph.archive.index.tables import LONG_INPUT, NANODOLLARS, NEVER, QUARTER_HOUR, TABLES
from stenograph.fleet.lake.reading import Lake, Span
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
    GROUP BY ALL
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
    FROM pairs AS call {_OF_RUN} WHERE call.call_seq IS NOT NULL AND NOT call.is_copy GROUP BY ALL
"""

_CALL = f"""
    SELECT number.id, call.source, call.call_id, call.name, call.call_seq, call.result_seq, call.started_ms,
      call.duration_ms, call.error
    FROM pairs AS call {_OF_RUN} WHERE call.call_seq IS NOT NULL AND NOT call.is_copy
"""
_CALLS_SAID = f"""
    SELECT number.id, 0, '', call.tools, call.tools - call.open_calls, call.failed_calls, call.timed_calls, call.tool_us
    FROM current_runs AS call {_OF_RUN} WHERE call.tools > 0
"""
_NOT_SAID = "SELECT 1 FROM current_runs WHERE tools > 0 AND timed_calls IS NULL LIMIT 1"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a scratch index is to hold beside the runs."""

    tokens: bool = True
    calls: str = ""
    """How exactly: not at all, by `run`, or each by its `time` and name."""
    tools: bool = False
    """With the tools that share the tokens of a model call."""


class RunOwner(msgspec.Struct, frozen=True):
    """Whose archive keeps a run."""

    id: str
    host: str | None
    user: str | None


class Scratch:
    """A connection of SQLite to the index in memory, and who keeps each run."""

    def __init__(self, index: sqlite3.Connection, owners: dict[str, RunOwner]) -> None:
        self.index = index
        self.owners = owners


@contextmanager
def scratch_of(lake: Lake, period: Period, wanted: Wanted) -> Iterator[Scratch]:
    """The runs that were going on in a period, with sums; of runs that several archives keep, the longest."""
    index = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with closing(index):
        index.executescript(TABLES)
        for (name,) in index.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            if name.startswith("calls") or not wanted.tools:  # sums come as they are
                index.execute(f"DROP TRIGGER {name}")
        index.execute("BEGIN")
        with lake.connected(span_of(period), tokens=wanted.tokens, pairs=bool(wanted.calls)) as connection:
            owners = _add_runs(index, connection, period)
            if wanted.tools:
                _add_shared(index, connection)
            elif wanted.tokens:
                _add_sums(index, connection, period)
            if wanted.calls:
                _add_calls(index, connection, period, by_time=wanted.calls == "time")
        index.execute("COMMIT")
        yield Scratch(index, owners)


def span_of(period: Period) -> Span:
    """The days of a period, in UTC."""
    from datetime import UTC, datetime

    def day(ms: int | None) -> str | None:
        return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC).date().isoformat()

    return Span(first_day=day(period.since), last_day=day(None if period.until is None else period.until - 1))


def _add_runs(index: sqlite3.Connection, connection: duckdb.DuckDBPyConnection, period: Period) -> dict[str, RunOwner]:
    conditions = ["true"]
    if period.since is not None:
        conditions.append(f"coalesce(ended_ms, 0) >= {period.since}")
    if period.until is not None:
        conditions.append(f"coalesce(started_ms, 0) < {period.until}")
    connection.execute(
        f"""
        CREATE TEMP TABLE numbers AS
        SELECT row_number() OVER (ORDER BY ended_ms, archive, run_id) AS id, archive, run_id FROM (
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
    # An address inside a file is what tells `run_status` to go by the time of the last event: there is no file here.
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
    """A value that the index takes where another program left none."""
    if value is None:
        return 0 if name in _NUMBERS else _NEVER_NULL.get(name)
    return value


def _add_sums(index: sqlite3.Connection, connection: duckdb.DuckDBPyConnection, period: Period) -> None:
    """Tokens by run and quarter; and single calls whose price may depend on their length, or whose quarter is cut."""
    columns = f"run, quarter, model, scope, speed, service_tier, has_cost, {_TOKENS}, nanodollars, calls"
    marks = ", ".join("?" * len(columns.split(", ")))
    index.executemany(f"INSERT INTO usage_sums ({columns}) VALUES ({marks})", connection.execute(_SUMS).fetchall())
    is_cut = _is_cut(f"greatest(0, {_MS})", period)
    _add_single(index, connection, f"(used.scope = 'call' AND used.input_tokens > {LONG_INPUT}) OR {is_cut}")


def _is_cut(moment: str, period: Period) -> str:
    """A condition: the moment is in a quarter in which a period begins or ends."""
    quarters = sorted({bound // QUARTER_HOUR for bound in (period.since, period.until) if bound is not None})
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
        FROM told AS event JOIN numbers AS number ON number.archive = event.archive AND number.run_id = event.run_id
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


def _add_calls(
    index: sqlite3.Connection, connection: duckdb.DuckDBPyConnection, period: Period, *, by_time: bool
) -> None:
    """Tool calls by run, quarter and name, where the time matters or the hosts did not say; else by run alone."""
    if not by_time:
        by_time = bool(connection.execute(_NOT_SAID).fetchall())
    columns = "run, quarter, name, calls, answered, failed, timed, duration_us"
    rows = connection.execute(_CALLS if by_time else _CALLS_SAID).fetchall()
    index.executemany(f"INSERT INTO calls_sums ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    cut = connection.execute(f"{_CALL} AND {_is_cut('greatest(0, call.started_ms)', period)}").fetchall()
    single = "run, source, call_id, name, call, result, started_ms, duration_ms, error, witnesses"
    index.executemany(f"INSERT INTO calls ({single}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)", cut)
