"""StoreArchive: all machines' runs in a store, to list, search, count and open like an archive's."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from msgspec import Struct

from stenograph.errors import InvalidQuery
from stenograph.fleet.lake.reading import Lake, Owners, quoted
from stenograph.fleet.lake.scratch import Scratch, Wanted, scratch_of, span_of
from stenograph.fleet.lake.searching import Scanned
from stenograph.fleet.lake.views import CURRENT
from stenograph.runs.archive import Filters, SearchOptions, Stats, added_up, check_key, prepare, rows_of, scope_of
from stenograph.runs.rows import Row, Rows

if TYPE_CHECKING:
    from stenograph.fleet.lake.stored_run import RunRow
    from stenograph.query.runs import RunLine
    from stenograph.query.scope import Scope
    from stenograph.query.search import Hit
    from stenograph.runs.info import RunInfo
    from stenograph.runs.mask import Masker
    from stenograph.runs.reader import RunReader

DEFAULT_SINCE = "7d"
"""The default period of a search, which reads the texts of all its days."""


class Listing(Struct, frozen=True):
    """Runs in figures, and how many there are without the limit."""

    lines: list[RunLine]
    infos: list[RunInfo]
    total: int
    names: dict[str, str]
    """For each run id the shortest prefix that is unique in the list."""


class Found(Struct, frozen=True):
    """Hits, and what was searched."""

    hits: Rows[Hit]
    is_cut: bool
    """Whether there may be more."""
    scanned: Scanned
    since: str


class StoreArchive:
    """The runs of all archives of a store, by its lake. For one thread at a time.

    What `steno lake load` has loaded is there. Everything that reads raises `RunNotFound` where there is no lake yet,
    and `SourceError` where it cannot be read.
    """

    def __init__(
        self, url: str, *, machine: str | None = None, user: str | None = None, team: str | None = None
    ) -> None:
        """`open_archive(store=…)` makes one."""
        self.url = url
        self._owners = Owners(machine=machine, user=user, team=team)
        self._lake: Lake | None = None

    @property
    def lake(self) -> Lake:
        """The tables as of their first use."""
        if self._lake is None:
            self._lake = Lake(self.url, self._owners)
        return self._lake

    def runs(self, *, limit: int | None = None, **filters: Unpack[Filters]) -> Rows[RunInfo]:
        """The selected runs, those with the newest events first."""
        return Rows(self.listed(limit, **filters).infos)

    def listed(
        self,
        limit: int | None = None,
        prices: str | None = None,
        after: str | None = None,
        sort: str | None = None,
        **filters: Unpack[Filters],
    ) -> Listing:
        """The runs with everything that `steno ls` shows; `after` and `sort` are those of `query.runs.list_runs`."""
        from stenograph.query.prices import load_prices
        from stenograph.query.runs import NEWEST, list_runs
        from stenograph.query.short_ids import short_ids

        scope = self._scope(filters)
        known = load_prices(prices)
        with self._asked(scope, Wanted(thresholds=known.thresholds, is_cut=False)) as scratch:
            lines, total = list_runs(scratch.index, scope, known, limit, after, sort or NEWEST)
            infos = [_info(line, scratch) for line in lines]
            return Listing(lines, infos, total, short_ids(scratch.index))

    def figures(self, row: RunRow) -> tuple[RunInfo, int]:
        """One run as in the list, and how many of its calls were copied from another run, and count there."""
        from stenograph.query.period import Period
        from stenograph.query.prices import load_prices
        from stenograph.query.runs import list_runs
        from stenograph.query.scope import Scope

        known = load_prices()
        ended = None if row.ended_ms is None else row.ended_ms + 1
        scope = Scope(period=Period(row.started_ms, ended), among=(row.run_id,))
        with self._asked(scope, Wanted(thresholds=known.thresholds, is_cut=False)) as scratch:
            lines, _ = list_runs(scratch.index, scope, known)
            query = "SELECT copied_calls FROM main.runs WHERE run_id = ?"
            return _info(lines[0], scratch), scratch.index.execute(query, (row.run_id,)).fetchone()[0]

    def titles(self, run_ids: Collection[str]) -> dict[str, tuple[Any, ...]]:
        """The names, first prompts, agents and projects of runs, by their ids."""
        if not run_ids:
            return {}
        named = ", ".join(quoted(run_id) for run_id in sorted(run_ids))
        current = CURRENT.format(f"run_id IN ({named})")
        with self.lake.connected_to_runs() as connection:
            rows = connection.execute(f"SELECT run_id, name, first_prompt, agent, project FROM ({current})").fetchall()
        return {row[0]: row[1:] for row in rows}

    def search(
        self,
        query: str,
        *,
        role: str | None = None,
        tool: str | None = None,
        errors: bool = False,
        rank: bool = False,
        limit: int | None = 20,
        mask: Masker | None = None,
        **filters: Unpack[Filters],
    ) -> Rows[Hit]:
        """The events in which a query is found, newest first; without `since`, of the last seven days.

        The options are those of `Archive.search`. Raises `InvalidQuery` for a mistake in the query.
        """
        options = SearchOptions(role=role, tool=tool, errors=errors, rank=rank, limit=limit, mask=mask)
        return self.searched(query, options, **filters).hits

    def searched(self, query: str, options: SearchOptions, **filters: Unpack[Filters]) -> Found:
        """The result of `search`, and what was searched."""
        from stenograph.fleet.lake.searching import scanned, search
        from stenograph.query.language import parse_query
        from stenograph.query.scope import Scope
        from stenograph.query.search import Wanted as WantedEvents

        parsed = parse_query(query)
        since = filters.get("since") or DEFAULT_SINCE
        scope = self._scope({**filters, "since": since})
        wanted = WantedEvents(role=options["role"], tool=options["tool"], is_error=options["errors"])
        runs = None if scope == Scope(period=scope.period) else self._run_ids(scope)
        limit = options["limit"]
        with self.lake.connected(span_of(scope.period)) as connection:
            found = search(connection, parsed, runs, scope.period, wanted, options["mask"], by_rank=options["rank"])
            hits = list(islice(found, None if limit is None else limit + 1))
            looked = scanned(connection, scope.period)
        return Found(Rows(hits[:limit]), limit is not None and len(hits) > limit, looked, since)

    def stats(self, by: str = "day", *, prices: str | None = None, **filters: Unpack[Filters]) -> Stats:
        """Tokens, cost and tool calls, as `Archive.stats` gives them."""
        from stenograph.query.prices import load_prices

        check_key(by)
        scope = self._scope(filters)
        wanted = Wanted(calls=True, tools=by == "tool", thresholds=load_prices(prices).thresholds)
        with self._asked(scope, wanted) as scratch:
            return added_up(scratch.index, scope, by, prices)

    def sql(
        self, statement: str, *, max_rows: int = 100_000, seconds: float = 30.0, prices: str | None = None
    ) -> Rows[Row]:
        """The rows that one SELECT in the SQL of DuckDB gives over the views, which are those of an archive."""
        from stenograph.fleet.lake.asking import ask
        from stenograph.query.prices import load_prices
        from stenograph.query.sql import Limits

        answer = ask(self.lake, statement, load_prices(prices), Limits(rows=max_rows, seconds=seconds))
        return rows_of(answer.columns, answer)

    def run(self, run_id: str, *, redact: bool | Masker | None = None) -> RunReader:
        """A reader of the run of that id, or of its unique beginning; `@` is the newest, `@2` the one before."""
        from stenograph.fleet.lake.stored_run import find_stored
        from stenograph.runs.opening import reader_of

        return reader_of(find_stored(self.lake, run_id), redact)

    def close(self) -> None:
        """Close the tables; may be called twice, and they are opened again when needed."""
        self._lake = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _asked(self, scope: Scope, wanted: Wanted) -> Iterator[Scratch]:
        with scratch_of(self.lake, scope.period, wanted) as scratch:
            prepare(scratch.index, scope)
            yield scratch

    def _scope(self, filters: Filters) -> Scope:
        """The selected runs; those that contain given words are found by a search first."""
        if filters.get("starred") or filters.get("tag") is not None:
            raise InvalidQuery("stars and tags are a machine's own, and not in a store; leave out --starred and --tag")
        words = filters.get("grep")
        if words is None:
            return scope_of(filters)
        from msgspec.structs import replace

        from stenograph.fleet.lake.searching import runs_found

        scope = scope_of({**filters, "since": filters.get("since") or DEFAULT_SINCE})
        assert scope.grep is not None
        with self.lake.connected(span_of(scope.period)) as connection:
            found = runs_found(connection, scope.grep, scope.period)
        return replace(scope, grep=None, among=tuple(sorted(found)))

    def _run_ids(self, scope: Scope) -> list[str]:
        condition, parameters = scope.of_runs()
        with self._asked(scope, Wanted(tokens=False)) as scratch:
            query = f"SELECT run_id FROM main.runs AS runs WHERE {condition}"
            return [run_id for (run_id,) in scratch.index.execute(query, parameters)]


def _info(line: RunLine, scratch: Scratch) -> RunInfo:
    from msgspec.structs import replace

    from stenograph.runs.info import info_of_line

    owner = scratch.owners[line.run_id]
    return replace(info_of_line(line, None), host=owner.host, user=owner.user, archive_id=owner.id)
