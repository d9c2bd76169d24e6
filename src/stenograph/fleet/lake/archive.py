"""StoreArchive: everybody's runs in a store, to be listed, searched, counted and opened like an archive's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from msgspec import Struct

from stenograph.errors import InvalidQuery
from stenograph.fleet.lake.reading import Lake, Owners
from stenograph.fleet.lake.scratch import Scratch, Wanted, scratch_of, span_of
from stenograph.fleet.lake.searching import Scanned
from stenograph.runs.archive import Filters, SearchOptions, Stats, added_up, check_key, prepare, rows_of, scope_of
from stenograph.runs.rows import Row, Rows

if TYPE_CHECKING:
    from stenograph.query.runs import RunLine
    from stenograph.query.scope import Scope
    from stenograph.query.search import Hit
    from stenograph.runs.info import RunInfo
    from stenograph.runs.mask import Masker
    from stenograph.runs.reader import RunReader

DEFAULT_SINCE = "7d"
"""What a search looks at where nobody says since when: it reads the texts of all days that are meant."""
_BY_RUN = ("model", "agent", "project", "branch", "run")
"""What can be added up by without the time of each call."""


class Listing(Struct, frozen=True):
    """Runs in figures, and how many there are without the limit."""

    lines: list[RunLine]
    infos: list[RunInfo]
    total: int
    names: dict[str, str]
    """Of each run id the shortest beginning that no other run of the list has."""


class Found(Struct, frozen=True):
    """Hits, and what was looked at."""

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
        """The tables, as they were when they were first asked for."""
        if self._lake is None:
            self._lake = Lake(self.url, self._owners)
        return self._lake

    def runs(self, *, limit: int | None = None, **filters: Unpack[Filters]) -> Rows[RunInfo]:
        """The runs that are meant, those with the newest events first."""
        return Rows(self.listed(limit, **filters).infos)

    def listed(self, limit: int | None = None, prices: str | None = None, **filters: Unpack[Filters]) -> Listing:
        """The runs with everything that `steno ls` shows."""
        from msgspec.structs import replace

        from stenograph.query.prices import load_prices
        from stenograph.query.runs import list_runs
        from stenograph.query.short_ids import short_ids
        from stenograph.runs.info import info_of_line

        scope = _scope(filters)
        with self._asked(scope, Wanted()) as scratch:
            lines, total = list_runs(scratch.index, scope, load_prices(prices), limit)
            infos = []
            for line in lines:
                owner = scratch.owners[line.run_id]
                info = info_of_line(line, None)
                infos.append(replace(info, host=owner.host, user=owner.user, archive_id=owner.id))
            return Listing(lines, infos, total, short_ids(scratch.index))

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
        """What `search` gives, and what was looked at."""
        from stenograph.fleet.lake.searching import scanned, search
        from stenograph.query.language import parse_query
        from stenograph.query.scope import Scope
        from stenograph.query.search import Wanted as WantedEvents

        parsed = parse_query(query)
        since = filters.get("since") or DEFAULT_SINCE
        scope = _scope({**filters, "since": since})
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
        from stenograph.query.period import Period

        check_key(by)
        scope = _scope(filters)
        is_by_run = by in _BY_RUN and scope.period == Period()
        with self._asked(scope, Wanted(calls="run" if is_by_run else "time", tools=by == "tool")) as scratch:
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
        """Let go of the tables; may be called twice, and they are looked at anew when they are needed."""
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

    def _run_ids(self, scope: Scope) -> list[str]:
        condition, parameters = scope.of_runs()
        with self._asked(scope, Wanted(tokens=False)) as scratch:
            query = f"SELECT run_id FROM main.runs AS runs WHERE {condition}"
            return [run_id for (run_id,) in scratch.index.execute(query, parameters)]


def _scope(filters: Filters) -> Scope:
    if filters.get("grep") is not None:
        raise InvalidQuery("--grep does not go with --store, which has no index of words; use steno search --store")
    if filters.get("starred") or filters.get("tag") is not None:
        raise InvalidQuery("stars and tags are a machine's own, and not in a store; leave out --starred and --tag")
    return scope_of(filters)
