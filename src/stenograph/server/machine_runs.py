"""The runs of the archive of this machine, as a site shows them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

from stenograph.archive.reader import IndexReader
from stenograph.archive.store.home import Home
from stenograph.errors import InvalidQuery
from stenograph.query.language import parse_query
from stenograph.query.prices import load_prices
from stenograph.query.runs import run_line
from stenograph.runs.archive import Filters, SearchOptions, Stats, listed, open_archive, searched
from stenograph.runs.info import RunInfo, info_of_line
from stenograph.runs.reader import RunReader
from stenograph.server.served_runs import EVERYBODY, Found, Neighbours, Owners, RunTitle

_FACETS = """
    SELECT runs.agent, runs.project, events.role, substr(events.timestamp, 1, 10)
    FROM words CROSS JOIN main.events AS events ON events.id = words.rowid
    CROSS JOIN main.runs AS runs ON runs.id = events.run WHERE words MATCH ? ORDER BY words.rowid DESC LIMIT ?
"""


class MachineRuns:
    """`ServedRuns` of an archive."""

    is_live = True
    owners: tuple[str, ...] = ()

    def __init__(self, home: Home) -> None:
        self._home = home

    @property
    def place(self) -> str:
        """The folder of the archive."""
        return str(self._home.path)

    @property
    def marks_folder(self) -> Path | None:
        """The folder of the archive, which also keeps the marks."""
        return self._home.path

    def is_there(self) -> bool:
        """Whether a sync has made an index."""
        return self._home.index.is_file()

    def listed(
        self,
        limit: int,
        after: str | None = None,
        sort: str | None = None,
        owners: Owners = EVERYBODY,
        **filters: Unpack[Filters],
    ) -> list[RunInfo]:
        """By the index."""
        _check(owners)
        with open_archive(self._home.path) as archive:
            lines, _ = listed(archive, limit, after, sort=sort, **filters)
            identity = archive.identity
        return [info_of_line(line, identity) for line in lines]

    def search(
        self, words: str, options: SearchOptions, owners: Owners = EVERYBODY, **filters: Unpack[Filters]
    ) -> Found:
        """By the index of words."""
        _check(owners)
        with open_archive(self._home.path) as archive:
            return Found(list(searched(archive, words, options, **filters)[0]))

    def facets(self, words: str, limit: int) -> Iterator[tuple[str | None, ...]]:
        """By the index of words."""
        parsed = parse_query(words)
        with self._reading() as reader:
            yield from reader.index.execute(_FACETS, (parsed.match, limit))

    def stats(self, by: str, owners: Owners = EVERYBODY, **filters: Unpack[Filters]) -> Stats:
        """By the sums of the index."""
        _check(owners)
        with open_archive(self._home.path) as archive:
            return archive.stats(by, **filters)

    def titles(self, run_ids: Collection[str]) -> dict[str, RunTitle]:
        """By the index."""
        columns = "run_id, name, first_prompt, agent, project"
        return {run_id: RunTitle(*row) for run_id, *row in self._rows_of(columns, run_ids)}

    def last_seqs(self, run_ids: Collection[str]) -> dict[str, int]:
        """By the index."""
        return dict(self._rows_of("run_id, last_seq", run_ids))

    @contextmanager
    def index_of(self, run_id: str) -> Iterator[tuple[IndexReader, int, str]]:
        """The index of the archive."""
        with self._reading() as reader:
            yield (reader, *reader.find_run(run_id))

    def info(self, reader: IndexReader, run: int) -> RunInfo:
        """As `steno ls --json` has them."""
        return info_of_line(run_line(reader.index, run, load_prices()), self._home.identity())

    def copied(self, reader: IndexReader, run: int) -> int:
        """By the row of the run."""
        found: int = reader.index.execute("SELECT copied_calls FROM main.runs WHERE id = ?", (run,)).fetchone()[0]
        return found

    def neighbours(self, reader: IndexReader, run: int) -> Neighbours:
        """By the times of their last events."""
        place = "(coalesce(ended_ms, -1), id)"
        of = f"(SELECT {place[1:-1]} FROM main.runs WHERE id = ?)"
        found = {}
        for name, sign, order in (("newer", ">", "ASC"), ("older", "<", "DESC")):
            query = f"""
                SELECT run_id FROM main.runs WHERE {place} {sign} {of}
                ORDER BY coalesce(ended_ms, -1) {order}, id {order} LIMIT 1
            """
            row = reader.index.execute(query, (run,)).fetchone()
            found[name] = None if row is None else row[0]
        return Neighbours(**found)

    def open(self, run_id: str, *, redact: bool = False) -> RunReader:
        """Of the archive."""
        with open_archive(self._home.path) as archive:
            return archive.run(run_id, redact=redact)

    @contextmanager
    def _reading(self) -> Iterator[IndexReader]:
        with open_archive(self._home.path) as archive, archive.reading() as reader:
            yield reader

    def _rows_of(self, columns: str, run_ids: Collection[str]) -> list[tuple[Any, ...]]:
        query = f"SELECT {columns} FROM main.runs WHERE run_id IN (SELECT value FROM json_each(?))"
        with self._reading() as reader:
            return reader.index.execute(query, (json.dumps(sorted(run_ids)),)).fetchall()


def _check(owners: Owners) -> None:
    if owners:
        raise InvalidQuery(f"{' and '.join(owners)} choose among the runs of a store; this is one machine's archive")
