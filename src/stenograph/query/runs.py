"""The runs of an archive as a list, newest first."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from stenograph.errors import RunNotFound
from stenograph.query.prices import Prices
from stenograph.query.scope import Scope
from stenograph.query.spending import Spending, spent

_MOST_NAMED = 500
"""Runs that one question names by their numbers; beyond, it asks for all."""


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
    name: str | None
    """What it was called, for runs of our own."""
    status: str
    """`running`, `finished` or `failed`, from what the run itself says."""
    started_at: str | None
    ended_at: str | None
    """When its last event was."""
    duration_s: float | None
    duration_ms: int | None
    turns: int
    messages: int
    tools: int
    """Tool calls; `tool_calls` is the same."""
    tool_calls: int
    failed_calls: int
    open_calls: int
    errors: int
    subagents: int
    events: int
    model: str | None
    """The one it used last."""
    input_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    output_tokens: int
    reasoning_output_tokens: int
    model_calls: int
    """Reports of usage that count; tokens that another run reported first count there."""
    cost_usd: float | None
    """For the models that have a price; null when none has."""
    cost_is_partial: bool
    unpriced_models: list[str]
    first_prompt: str | None
    title: str | None
    """Its name, else the first line of its first prompt."""


_COLUMNS = (
    "run_id, parent_run_id, forked_from, agent, format, project, cwd, agent_version, name, status, started_at,"
    " ended_at, started_ms, ended_ms, turns, tools, errors, events, model, first_prompt"
)


_LONGEST_TITLE = 200
_ORDER = "ORDER BY ended_ms DESC, id DESC"


def list_runs(
    index: sqlite3.Connection, scope: Scope, prices: Prices, limit: int | None = None, after: str | None = None
) -> tuple[list[RunLine], int]:
    """The runs that are meant, those with the newest events first, and how many there are without the limit.

    With `after`, those that come after the run of that id. Raises `RunNotFound` where there is no such run.
    """
    condition, parameters = scope.of_runs()
    if after is not None:
        place = index.execute("SELECT coalesce(ended_ms, -1), id FROM main.runs WHERE run_id = ?", (after,)).fetchone()
        if place is None:
            raise RunNotFound(f"no run {after!r} to go on after; give the whole id of a run that was listed", after)
        condition += " AND (coalesce(runs.ended_ms, -1), runs.id) < (?, ?)"
        parameters += place
    query = f"SELECT id, {_COLUMNS} FROM main.runs AS runs WHERE {condition} {_ORDER} LIMIT ?"
    rows = index.execute(query, [*parameters, -1 if limit is None else limit]).fetchall()
    total = len(rows)
    if limit is not None and total >= limit:
        total = index.execute(f"SELECT count(*) FROM main.runs AS runs WHERE {condition}", parameters).fetchone()[0]
    return _lines(index, rows, prices), total


def run_line(index: sqlite3.Connection, run: int, prices: Prices) -> RunLine:
    """The line of one run (`runs.id`)."""
    rows = index.execute(f"SELECT id, {_COLUMNS} FROM main.runs WHERE id = ?", (run,)).fetchall()
    return _lines(index, rows, prices)[0]


def title_of(name: str | None, first_prompt: str | None) -> str | None:
    """What to call a run: its name, else the first line of what was asked."""
    lines = (line.strip() for line in (name or first_prompt or "").splitlines())
    return next((line for line in lines if line), "")[:_LONGEST_TITLE] or None


def _lines(index: sqlite3.Connection, rows: list[tuple[Any, ...]], prices: Prices) -> list[RunLine]:
    runs = [row[0] for row in rows]
    spending, counts = _spending(index, runs, prices), _counts(index, runs)
    return [_line(row, spending.get(row[0], Spending()), counts) for row in rows]


def _spending(index: sqlite3.Connection, runs: list[int], prices: Prices) -> dict[int, Spending]:
    found: dict[int, Spending] = {}
    for run, model, usage, dollars in spent(index, "counted.run", _among("counted.run", runs), [], prices):
        found.setdefault(run, Spending()).add(model, usage, dollars)
    return found


def _counts(index: sqlite3.Connection, runs: list[int]) -> dict[str, dict[int, Any]]:
    """Messages, calls and subagents, by run."""
    messages = f"""
        SELECT run, sum(number) FROM (
          SELECT run, count(DISTINCT coalesce(message_id, id)) AS number FROM main.events
          WHERE type IN ('message.user', 'message.assistant') AND {_among("run", runs)} GROUP BY run, source, type
        ) GROUP BY run
    """
    calls = f"SELECT run, {{}} FROM main.calls WHERE {_among('run', runs)} GROUP BY run"
    subagents = f"SELECT run, count(*) FROM main.sources WHERE source != 'main' AND {_among('run', runs)} GROUP BY run"
    return {
        "messages": dict(index.execute(messages)),
        "failed_calls": dict(index.execute(calls.format("sum(error IS NOT NULL)"))),
        "open_calls": dict(index.execute(calls.format("sum(result IS NULL)"))),
        "subagents": dict(index.execute(subagents)),
    }


def _among(column: str, runs: list[int]) -> str:
    return f"{column} IN ({', '.join(map(str, runs))})" if len(runs) <= _MOST_NAMED else "1"


def _line(row: tuple[Any, ...], spending: Spending, counts: dict[str, dict[int, Any]]) -> RunLine:
    told = dict(zip(_COLUMNS.split(", "), row[1:], strict=True))
    begun, ended = told.pop("started_ms"), told.pop("ended_ms")
    duration = None if begun is None or ended is None else max(0, ended - begun)
    return RunLine(
        **told,
        **spending.fields(),
        **{name: by_run.get(row[0], 0) for name, by_run in counts.items()},
        tool_calls=told["tools"],
        cost_is_partial=bool(spending.unpriced),
        duration_s=None if duration is None else duration / 1000,
        duration_ms=duration,
        title=title_of(told["name"], told["first_prompt"]),
    )


def with_called_runs(index: sqlite3.Connection, run: int) -> Iterator[int]:
    """A run (`runs.id`), then those that it called, then those that these called; each once."""
    waiting, seen = [run], {run}
    query = """
        SELECT child.id FROM main.runs AS child JOIN main.runs AS parent ON child.parent_run_id = parent.run_id
        WHERE parent.id = ? ORDER BY child.id
    """
    while waiting:
        each = waiting.pop(0)
        yield each
        for (child,) in index.execute(query, (each,)).fetchall():
            if child not in seen:  # a run that somebody made its own ancestor would never end
                seen.add(child)
                waiting.append(child)
