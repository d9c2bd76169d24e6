"""Archive: all runs of a machine, to list, search, count and open."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from stenograph.archive.reader import IndexReader
from stenograph.archive.store.damage import readable_index
from stenograph.archive.store.home import home_of
from stenograph.closing import Closing
from stenograph.runs.rows import Row, Rows, distinct

if TYPE_CHECKING:
    import sqlite3

    from stenograph.archive.keep.summary import Summary
    from stenograph.archive.store.identity import ArchiveIdentity
    from stenograph.query.runs import RunLine
    from stenograph.query.scope import Scope
    from stenograph.query.search import Hit
    from stenograph.runs.info import RunInfo
    from stenograph.runs.mask import Masker
    from stenograph.runs.reader import RunReader

_PATIENCE = 30.0  # seconds; `steno watch` never holds the lock for long


class Filters(TypedDict, total=False):
    """Selects runs of an archive; by default, all. `scope_of` makes a `Scope` of it, which makes the SQL."""

    agent: str | None
    """The name of an agent or format, or its beginning."""
    project: str | None
    """A part of the project's name; or a folder, when it begins with `/`, `.` or `~`."""
    since: str | None
    """Not before: `2026-11-01`, `7d`, `24h`, `yesterday` …"""
    until: str | None
    """Not after; a day counts whole."""
    status: str | None
    model: str | None
    """The name of the model that was used last, or its beginning."""
    grep: str | None
    """Only runs in which this is found."""
    with_errors: bool
    """Only runs in which something failed."""
    without_children: bool
    """Only runs that no other run started."""
    starred: bool
    """Only runs with a star."""
    tag: str | None
    """Only runs with this tag."""


class Stats(Rows[Row]):
    """Sums of an archive: one row for each day, model, tool …, and `totals` over all of them."""

    totals: Row
    by: str


class Archive(Closing):
    """The archive in a folder. It need not exist before the first `sync`. For one thread at a time.

    Everything that reads raises `RunNotFound` where there is no archive yet, and `SourceError` where it cannot be read.
    """

    def __init__(self, home: str | os.PathLike[str] | None = None) -> None:
        """`open_archive` makes one."""
        self._home = home_of(home)
        self._reader: IndexReader | None = None

    @property
    def path(self) -> Path:
        """Its folder."""
        return self._home.path

    @property
    def identity(self) -> ArchiveIdentity | None:
        """Its id, and where it was made; None before the first sync."""
        return self._home.identity()

    def runs(self, *, limit: int | None = None, after: str | None = None, **filters: Unpack[Filters]) -> Rows[RunInfo]:
        """The selected runs, those with the newest events first; `after` a run's id: only those after it."""
        from stenograph.runs.info import info_of_line

        lines, _ = listed(self, limit, after, **filters)
        identity = self.identity
        return Rows(info_of_line(line, identity) for line in lines)

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
        """The events in which a query is found, newest first; with `rank`, the most relevant first.

        `role` is `user`, `assistant`, `tool` or `system`; `tool` the name of one; `errors`: only errors and failed
        tools; `mask`, such as `default_masker()`, masks the shown text.
        Raises `InvalidQuery` for a mistake in the query.
        """
        options = SearchOptions(role=role, tool=tool, errors=errors, rank=rank, limit=limit, mask=mask)
        return searched(self, query, options, **filters)[0]

    def stats(self, by: str = "day", *, prices: str | None = None, **filters: Unpack[Filters]) -> Stats:
        """Tokens, cost and tool calls by one of `query.stats.KEYS`, such as `day`, `block`, `model` or `run`."""
        check_key(by)
        scope = scope_of(filters, self.path)
        with self._prepared(scope) as reader:
            return added_up(reader.index, scope, by, prices)

    def sql(
        self, statement: str, *, max_rows: int = 100_000, seconds: float = 30.0, prices: str | None = None
    ) -> Rows[Row]:
        """The rows of one SELECT over the views. Raises `InvalidQuery` for anything else, or beyond a limit."""
        from stenograph.query.sql import Limits, run_sql

        with views(self, prices) as connection:
            result = run_sql(connection, statement, Limits(rows=max_rows, seconds=seconds), only_views=True)
            return rows_of(result.columns, result)

    def run(self, run_id: str, *, redact: bool | Masker | None = None) -> RunReader:
        """A reader of the run of that id, or of its unique beginning; `@` is the newest, `@2` the one before.

        Raises `RunNotFound` or `AmbiguousRun`.
        """
        from stenograph.runs.opening import reader_of
        from stenograph.runs.target import find_archived

        return reader_of(find_archived(run_id, self.path), redact)

    def restore(self, run_id: str, folder: str | os.PathLike[str], *, version: int | None = None) -> list[Path]:
        """Write the agent's own files of a run below a folder, byte for byte; returns the written paths.

        Without `version`, the newest of each. Raises `RunNotFound`, and `StoreError` rather than overwrite a file.
        """
        from stenograph.archive.store.restore import restore_files

        with self.reading() as reader:
            return restore_files(reader, reader.find_run(run_id)[1], Path(folder), version)

    def sync(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        home: str | None = None,
        agents: Sequence[str] = (),
        paths: Sequence[str] = (),
        rebuild: bool = False,
        retention: bool = True,
        indexing: Callable[[int], None] | None = None,
    ) -> Summary:
        """Keep and index what agents wrote on this machine since the last time; returns what was done, in numbers.

        `progress` is called with the number of sessions done and their total, `indexing` with bytes of packs indexed
        again. `home` is the home folder in which agents keep their files, `agents` selects some by name, and `paths`
        are folders to read instead. `rebuild` makes a new index; without `retention` no run expires, whatever
        `[[keep]]` rules say. Raises `StoreError` when the archive cannot be written.
        """
        from stenograph.archive.keep.sync import sync
        from stenograph.archive.writer import Store
        from stenograph.evidence.after_sync import checkpoint_after
        from stenograph.runs.retention import remove_expired
        from stenograph.runs.syncing import wanted_roots

        roots = wanted_roots(self._home, home, agents, paths)
        self.close()
        with (
            readable_index(),
            Store(self._home, rebuild=rebuild, patience=_PATIENCE, progress=indexing) as store,
        ):
            summary = sync(store, roots, progress)
        if retention:
            remove_expired(self._home, summary)
        if not (home or agents or paths):
            self._home.note_sync()
        checkpoint_after(self._home, summary)
        return summary

    @contextmanager
    def reading(self) -> Iterator[IndexReader]:
        """The index itself, for what the methods here do not do; opened on first use."""
        with readable_index():
            if self._reader is None:
                self._reader = IndexReader(self._home.path)
            yield self._reader

    @contextmanager
    def _prepared(self, scope: Scope) -> Iterator[IndexReader]:
        """The index, prepared for the scope."""
        with self.reading() as reader:
            prepare(reader.index, scope)
            yield reader

    def close(self) -> None:
        """Close the index; may be called twice, and it opens again when it is needed."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def prepare(index: sqlite3.Connection, scope: Scope) -> None:
    """Prepare an index for queries with a scope. Raises `InvalidAgent` for an agent that it does not know."""
    if scope.agent is not None:
        from stenograph.query.agents import check_agent

        check_agent(index, scope.agent)
    if scope.status is not None:
        from stenograph.query.run_status import RunStatuses, add_status_functions

        add_status_functions(index, RunStatuses(index))


def check_key(by: str) -> None:
    """Raises `InvalidQuery` for something that sums cannot be grouped by."""
    from stenograph.errors import InvalidQuery
    from stenograph.query.stats import KEYS

    if by not in KEYS:
        raise InvalidQuery(f"cannot add up by {by!r}; use one of {', '.join(KEYS)}")


def added_up(index: sqlite3.Connection, scope: Scope, by: str, prices: str | None) -> Stats:
    """The result of `Archive.stats`, from an index that is prepared for the scope."""
    from stenograph.query.prices import load_prices
    from stenograph.query.stats import stats

    sums = stats(index, scope, load_prices(prices), by).as_dict()
    found = Stats(map(Row, sums["rows"]))
    found.totals, found.by = Row(sums["totals"]), by
    return found


def rows_of(columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> Rows[Row]:
    """The rows of a statement, each by the names of its columns."""
    names = distinct(columns)
    return Rows(Row(dict(zip(names, row, strict=True))) for row in rows)


def listed(
    archive: Archive,
    limit: int | None = None,
    after: str | None = None,
    prices: str | None = None,
    sort: str | None = None,
    **filters: Unpack[Filters],
) -> tuple[list[RunLine], int]:
    """The runs with everything that `steno ls` shows, and how many there are without the limit.

    `sort` is one of `query.runs.SORTS`.
    """
    from stenograph.query.prices import load_prices
    from stenograph.query.runs import NEWEST, list_runs

    scope = scope_of(filters, archive.path)
    with archive._prepared(scope) as reader:  # of the same module
        return list_runs(reader.index, scope, load_prices(prices), limit, after, sort or NEWEST)


class SearchOptions(TypedDict):
    """The options of `Archive.search` beside the query and the filters."""

    role: str | None
    tool: str | None
    errors: bool
    rank: bool
    limit: int | None
    mask: Masker | None


def searched(
    archive: Archive, query: str, options: SearchOptions, *, count: bool = False, **filters: Unpack[Filters]
) -> tuple[Rows[Hit], int]:
    """The result of `Archive.search`; with `count`, also how many there are without the limit."""
    from stenograph.query.language import parse_query
    from stenograph.query.search import Wanted, count_hits, search

    parsed, scope = parse_query(query), scope_of(filters, archive.path)
    wanted = Wanted(role=options["role"], tool=options["tool"], is_error=options["errors"])
    limit = options["limit"]
    with archive._prepared(scope) as reader:  # of the same module
        most = -1 if limit is None else limit
        found = Rows(search(reader, parsed, scope, wanted, limit=most, by_rank=options["rank"], mask=options["mask"]))
        is_cut = count and limit is not None and len(found) == limit
        return found, count_hits(reader, parsed, scope, wanted) if is_cut else len(found)


@contextmanager
def views(archive: Archive, prices: str | None = None) -> Iterator[sqlite3.Connection]:
    """An SQLite connection with the views of the archive."""
    from stenograph.query.archive_database import views_of
    from stenograph.query.prices import load_prices

    with archive.reading() as reader, views_of(reader, load_prices(prices)) as connection:
        yield connection


def scope_of(filters: Filters, folder: Path | None = None) -> Scope:
    """The scope of filters; stars and tags are those of the archive in a folder. Raises `InvalidQuery`."""
    from stenograph.errors import InvalidQuery
    from stenograph.query.language import parse_query
    from stenograph.query.period import period_of
    from stenograph.query.scope import STATUSES, Scope

    grep, status = filters.get("grep"), filters.get("status")
    if status is not None and status not in STATUSES:
        raise InvalidQuery(f"{status!r} is not a status; use one of {', '.join(STATUSES)}")
    found = None if grep is None else parse_query(grep)
    if found is not None and found.long:
        raise InvalidQuery("a phrase to find runs by is too long; give fewer words, or search for it")
    return Scope(
        agent=filters.get("agent"),
        project=filters.get("project"),
        status=status,
        model=filters.get("model"),
        period=period_of(filters.get("since"), filters.get("until")),
        grep=found,
        with_errors=filters.get("with_errors", False),
        without_children=filters.get("without_children", False),
        among=_marked(folder, filters.get("starred", False), filters.get("tag")),
    )


def _marked(folder: Path | None, starred: bool, tag: str | None) -> tuple[str, ...] | None:
    if folder is None or (not starred and tag is None):
        return None
    from stenograph.archive.marks import marked_runs

    return tuple(marked_runs(folder, starred=starred, tag=tag))
