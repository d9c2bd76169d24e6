"""The runs of an archive as a list, newest first."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from stenograph.errors import InvalidQuery, RunNotFound
from stenograph.fold.prices import Prices
from stenograph.fold.status import Verdict
from stenograph.query.run_status import RunStatuses
from stenograph.query.scope import Scope
from stenograph.query.spending import Spending, spent

_MOST_NAMED = 500
"""A query names up to this many runs by number; for more, it asks for all."""


class RunLine(Struct, frozen=True, kw_only=True):
    """One run in the list."""

    run_id: str
    parent_run_id: str | None
    """The run that spawned it: a workflow's, or a thread's."""
    forked_from: str | None
    """The run whose history it continues."""
    agent: str
    format: str
    project: str | None
    cwd: str | None
    agent_version: str | None
    branch: str | None
    """The git branch of that folder when it began."""
    name: str | None
    """Its own name, for runs of our own."""
    status: str
    """One of `fold.status.STATUSES`."""
    status_reason: str
    """Why."""
    started_at: str | None
    ended_at: str | None
    """When its last event was."""
    duration_s: float | None
    duration_ms: int | None
    turns: int
    messages: int
    """Of users and agents, those of subagents included."""
    tools: int
    """`tool_calls` under its older name."""
    tool_calls: int
    failed_calls: int
    open_calls: int
    """Without a result."""
    errors: int
    """Error events and failed calls."""
    subagents: int
    events: int
    model: str | None
    """The one it used last."""
    input_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    cache_creation_1h_input_tokens: int
    """Part of the fields above."""
    output_tokens: int
    reasoning_output_tokens: int
    model_calls: int
    """Usage reports that count; tokens that another run reported first count there."""
    cost_usd: float | None
    """The cost of the models that have a price; null when none has."""
    cost_is_partial: bool
    """Whether a part of it has no price: then the cost is a lower bound."""
    unpriced_models: list[str]
    first_prompt: str | None
    title: str | None
    """Its name, else the first line of its first prompt."""


_COLUMNS = (
    "run_id, parent_run_id, forked_from, agent, format, project, cwd, agent_version, branch, name, started_at,"
    " ended_at, started_ms, ended_ms, turns, messages, tools, failed_calls, open_calls, errors, events, model,"
    " first_prompt"
)
_SUBAGENTS = "(SELECT count(*) FROM main.sources WHERE run = runs.id AND source <> 'main')"


_LONGEST_TITLE = 200
NEWEST = "ended"
_KEYS = {
    "ended": "ended_ms",
    "started": "started_ms",
    "took": "ended_ms - started_ms",
    "turns": "turns",
    "tools": "tools",
    "errors": "errors",
}
SORTS = (*_KEYS, "tokens", "cost")
"""What runs can be sorted by."""


def list_runs(
    index: sqlite3.Connection,
    scope: Scope,
    prices: Prices,
    limit: int | None = None,
    after: str | None = None,
    sort: str = NEWEST,
) -> tuple[list[RunLine], int]:
    """The runs in scope, those with the newest events first, and how many there are without the limit.

    With `after`, those that come after the run of that id. `sort` is one of `SORTS`, descending; with `-` before
    it, ascending. Raises `RunNotFound` where there is no such run, and `InvalidQuery` for an unknown order.
    """
    if sort != NEWEST:
        return _sorted(index, scope, prices, limit, after, sort)
    condition, parameters = scope.of_runs()
    if after is not None:
        place = index.execute("SELECT coalesce(ended_ms, -1), id FROM main.runs WHERE run_id = ?", (after,)).fetchone()
        if place is None:
            raise _no_such_run(after)
        condition += " AND (coalesce(runs.ended_ms, -1), runs.id) < (?, ?)"
        parameters += place
    query = f"""
        SELECT id, {_SUBAGENTS}, {_COLUMNS} FROM main.runs AS runs WHERE {condition}
        ORDER BY ended_ms DESC, id DESC LIMIT ?
    """
    rows = index.execute(query, [*parameters, -1 if limit is None else limit]).fetchall()
    total = len(rows)
    if limit is not None and total >= limit:
        total = index.execute(f"SELECT count(*) FROM main.runs AS runs WHERE {condition}", parameters).fetchone()[0]
    return _lines(index, rows, prices), total


def _sorted(
    index: sqlite3.Connection, scope: Scope, prices: Prices, limit: int | None, after: str | None, sort: str
) -> tuple[list[RunLine], int]:
    """The runs in another order, by a value and then by their number, so that the order is stable."""
    name = sort.removeprefix("-")
    if name not in SORTS:
        raise InvalidQuery(
            f"cannot sort by {sort!r}; use one of {', '.join(SORTS)}, with - before it for the least first"
        )
    condition, parameters = scope.of_runs()
    query = f"SELECT id, run_id, {_KEYS.get(name, 'NULL')} FROM main.runs AS runs WHERE {condition}"
    found = index.execute(query, parameters).fetchall()
    spending = {} if name in _KEYS else _spending(index, [row[0] for row in found], prices)
    sign = 1 if sort.startswith("-") else -1
    keyed = sorted(
        (sign * _value(value if name in _KEYS else spending.get(run, Spending()).fields(), name), -run, run, run_id)
        for run, run_id, value in found
    )
    if after is not None:
        place = next((number for number, each in enumerate(keyed) if each[3] == after), None)
        if place is None:
            raise _no_such_run(after)
        keyed = keyed[place + 1 :]
    wanted = [each[2] for each in (keyed if limit is None else keyed[:limit])]
    named = ", ".join(map(str, wanted))
    rows = index.execute(f"SELECT id, {_SUBAGENTS}, {_COLUMNS} FROM main.runs AS runs WHERE id IN ({named})").fetchall()
    places = {run: number for number, run in enumerate(wanted)}
    return _lines(index, sorted(rows, key=lambda row: places[row[0]]), prices), len(keyed)


def _value(found: Any, name: str) -> float:
    """The value that a run is sorted by; runs without one come last."""
    if name == "cost":
        found = found["cost_usd"]
    elif name == "tokens":
        found = found["input_tokens"] + found["output_tokens"]
    return -1.0 if found is None else float(found)


def _no_such_run(after: str) -> RunNotFound:
    return RunNotFound(f"no run {after!r} to continue after; give the whole id of a run that was listed", after)


def run_line(index: sqlite3.Connection, run: int, prices: Prices) -> RunLine:
    """The line of one run (`runs.id`)."""
    query = f"SELECT id, {_SUBAGENTS}, {_COLUMNS} FROM main.runs AS runs WHERE id = ?"
    return _lines(index, index.execute(query, (run,)).fetchall(), prices)[0]


def title_of(name: str | None, first_prompt: str | None) -> str | None:
    """The title of a run: its name, else the first line of its first prompt."""
    lines = (line.strip() for line in (name or first_prompt or "").splitlines())
    return next((line for line in lines if line), "")[:_LONGEST_TITLE] or None


def _lines(index: sqlite3.Connection, rows: list[tuple[Any, ...]], prices: Prices) -> list[RunLine]:
    spending = _spending(index, [row[0] for row in rows], prices)
    statuses = RunStatuses(index)
    return [_line(row, spending.get(row[0], Spending()), statuses.verdict(row[0])) for row in rows]


def _spending(index: sqlite3.Connection, runs: list[int], prices: Prices) -> dict[int, Spending]:
    condition = f"counted.run IN ({', '.join(map(str, runs))})" if len(runs) <= _MOST_NAMED else "1"
    found: dict[int, Spending] = {}
    for run, model, usage, cost in spent(index, "counted.run", condition, [], prices):
        found.setdefault(run, Spending()).add(model, usage, cost)
    return found


def _line(row: tuple[Any, ...], spending: Spending, verdict: Verdict) -> RunLine:
    values = dict(zip(_COLUMNS.split(", "), row[2:], strict=True))
    begun, ended = values.pop("started_ms"), values.pop("ended_ms")
    duration = None if begun is None or ended is None else max(0, ended - begun)
    return RunLine(
        **values,
        **spending.fields(),
        duration_s=None if duration is None else duration / 1000,
        duration_ms=duration,
        status=verdict.status,
        status_reason=verdict.reason,
        tool_calls=values["tools"],
        subagents=row[1],
        title=title_of(values["name"], values["first_prompt"]),
    )


def with_called_runs(index: sqlite3.Connection, run: int) -> Iterator[int]:
    """A run (`runs.id`), then the runs that it called, then the runs that these called; each once."""
    waiting, seen = [run], {run}
    query = """
        SELECT child.id FROM main.runs AS child JOIN main.runs AS parent ON child.parent_run_id = parent.run_id
        WHERE parent.id = ? ORDER BY child.id
    """
    while waiting:
        each = waiting.pop(0)
        yield each
        for (child,) in index.execute(query, (each,)).fetchall():
            if child not in seen:  # a damaged run may be its own ancestor
                seen.add(child)
                waiting.append(child)
