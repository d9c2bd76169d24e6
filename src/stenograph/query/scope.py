"""Which runs a query is about: by agent, project, time, and full text."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import Struct

from stenograph.query.language import Query
from stenograph.query.period import Period

Parameters = list[object]
STATUSES = ("running", "waiting", "finished", "failed", "interrupted", "unknown")
"""Those of `fold.status`, repeated here because that module takes longer to load than a search."""


class Scope(Struct, frozen=True, kw_only=True):
    """The runs that a query is about; by default, all."""

    agent: str | None = None
    """The name of an agent or format, or its beginning."""
    project: str | None = None
    """A part of the project's name; or a folder, when it begins with `/`, `.` or `~`."""
    status: str | None = None
    """One of `STATUSES`; computed by `steno_status`, which the connection must have."""
    model: str | None = None
    """The name of the model it used last, or its beginning."""
    period: Period = Period()
    grep: Query | None = None
    """Only runs in which this is found."""
    with_errors: bool = False
    """Only runs in which something failed."""
    without_children: bool = False
    """Only runs that no other run started."""
    among: tuple[str, ...] | None = None
    """Only these runs, by their ids."""
    without: tuple[str, ...] = ()
    """The ids of runs that are left out."""

    def of_runs(self) -> tuple[str, Parameters]:
        """A condition on `runs` and its parameters; a period selects runs that were active in it."""
        conditions, parameters = self._conditions()
        if self.period.since is not None:
            conditions.append("coalesce(runs.ended_ms, 0) >= ?")
            parameters.append(self.period.since)
        if self.period.until is not None:
            conditions.append("coalesce(runs.started_ms, 0) < ?")
            parameters.append(self.period.until)
        return _all(conditions), parameters

    def at_any_time(self) -> tuple[str, Parameters]:
        """`of_runs` without the period."""
        conditions, parameters = self._conditions()
        return _all(conditions), parameters

    def of_moments(self, column: str, unit: int = 1) -> tuple[str, Parameters]:
        """A condition for rows with a moment in a run; the column counts it in so many milliseconds."""
        conditions, parameters = self._conditions()
        for bound, sign in ((self.period.since, ">="), (self.period.until, "<")):
            if bound is not None:
                conditions.append(f"{column} {sign} ?")
                parameters.append(bound // unit)
        return _all(conditions), parameters

    def _conditions(self) -> tuple[list[str], Parameters]:
        conditions: list[str] = []
        parameters: Parameters = []
        if self.agent is not None:
            name = self.agent.lower().replace("-", "_")
            conditions.append("(runs.agent GLOB ? OR runs.format GLOB ?)")
            parameters += [_literally(name) + "*"] * 2
        if self.project is not None:
            condition, values = _in_project(self.project)
            conditions.append(condition)
            parameters += values
        if self.status is not None:
            conditions.append("steno_status(runs.id) = ?")
            parameters.append(self.status)
        if self.model is not None:
            conditions.append("runs.model GLOB ?")
            parameters.append(_literally(self.model) + "*")
        if self.grep is not None:
            conditions.append(
                "runs.id IN (SELECT found.run FROM words JOIN main.events AS found ON found.id = words.rowid"
                " WHERE words MATCH ?)"
            )
            parameters.append(self.grep.match)
        if self.with_errors:
            conditions.append("runs.errors > 0")
        if self.without_children:
            conditions.append("runs.parent_run_id IS NULL")
        if self.among is not None:
            conditions.append("runs.run_id IN (SELECT value FROM json_each(?))")
            parameters.append(json.dumps(self.among))
        if self.without:
            conditions.append(f"runs.run_id NOT IN ({', '.join('?' * len(self.without))})")
            parameters += self.without
        return conditions, parameters


def _in_project(project: str) -> tuple[str, Parameters]:
    if not project.startswith(("/", ".", "~")):
        name = project.lower()
        return "(instr(lower(coalesce(runs.project, '')), ?) OR instr(lower(coalesce(runs.cwd, '')), ?))", [name, name]
    folder = str(Path(project).expanduser().absolute().resolve())
    return "(runs.cwd = ? OR runs.cwd GLOB ?)", [folder, _literally(folder.rstrip("/")) + "/*"]


def _literally(text: str) -> str:
    """A GLOB pattern that matches exactly the text."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)


def _all(conditions: list[str]) -> str:
    return " AND ".join(conditions) or "1"
