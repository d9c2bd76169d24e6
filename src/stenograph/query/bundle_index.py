"""A bundle's events in an index of their own, made by the archive's indexer and queried through the archive's views.

Theory of operation. Queries for runs, messages, commands and changes of files work on a bundle as on an archive: the
same program makes the same rows. The index is temporary and made only for a query that needs it. The bundle's own
tables are in an attached database; they replace the archive's views of the same names.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from msgspec.structs import replace

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.indexing import Indexer
from stenograph.archive.index.schema import open_index
from stenograph.archive.reader import IndexReader
from stenograph.archive.store.kept_file import KeptFile
from stenograph.archive.store.pack import About
from stenograph.bundle.container import Container
from stenograph.bundle.manifest import NAME, read_manifest
from stenograph.bundle.records import EVENTS
from stenograph.model import Event, decode
from stenograph.query.archive_database import views_of
from stenograph.query.bundle_tables import OWN, STATEMENTS
from stenograph.query.prices import load_prices

_BATCH = 5000


@contextmanager
def indexed(bundle: Path, database: Path) -> Iterator[sqlite3.Connection]:
    """A connection with the archive's views over a bundle, and with the bundle's own tables from its database."""
    with tempfile.TemporaryDirectory(prefix="stenograph-") as folder:
        index_bundle(bundle, Path(folder), searchable=False)
        with _views(Path(folder), database) as views:
            yield views


def index_bundle(bundle: Path, folder: Path, *, searchable: bool = True) -> None:
    """Make the archive's index of a bundle's runs in a folder; `searchable`: with full text."""
    with Container(bundle) as container, _writing(folder, searchable=searchable) as indexer:
        _index(indexer, container)


def index_run(events: Iterable[Event], run_id: str, folder: Path, *, path: str = "", searchable: bool = False) -> None:
    """Make the archive's index of the events of one run in a folder; `searchable`: with full text.

    A `path` with `#` in it means a session in a database: the run's status depends on the time of its last event.
    """
    about = About(root="", path=path, format="exchange", run_id=run_id, at="")
    with _writing(folder, searchable=searchable) as indexer:
        left = iter(events)
        while batch := list(islice(left, _BATCH)):
            indexer.index(batch, [KeptFile(1, about)])


@contextmanager
def empty() -> Iterator[sqlite3.Connection]:
    """A connection as `indexed` gives it, without a bundle: shows which tables a query reads."""
    with tempfile.TemporaryDirectory(prefix="stenograph-") as folder:
        own = Path(folder) / "own.sqlite"
        with closing(sqlite3.connect(own)) as connection:
            connection.executescript(STATEMENTS)
        with _writing(Path(folder)):
            pass
        with _views(Path(folder), own) as views:
            yield views


@contextmanager
def _writing(folder: Path, *, searchable: bool = False) -> Iterator[Indexer]:
    writer = IndexWriter(open_index(folder, readonly=False), searchable=searchable)
    try:
        yield Indexer(writer)
        writer.commit()
        writer.settle()
    finally:
        writer.close()


@contextmanager
def _views(folder: Path, own: Path) -> Iterator[sqlite3.Connection]:
    with IndexReader(folder) as reader, views_of(reader, load_prices(None)) as connection:
        connection.execute("ATTACH ? AS bundle", (f"file:{quote(os.fsencode(own.absolute()))}?mode=ro&immutable=1",))
        for name in OWN:
            connection.execute(f"DROP VIEW IF EXISTS temp.{name}")
            connection.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM bundle.{name}")
        yield connection


def _index(indexer: Indexer, container: Container) -> None:
    manifest = read_manifest(container.read(NAME), str(container.path))
    files = [(EVENTS, manifest.run_id), *((f"runs/{run_id}.jsonl", run_id) for run_id in manifest.child_run_ids)]
    for number, (name, run_id) in enumerate(files, 1):
        about = About(root="", path=name, format="exchange", run_id=run_id, at="")
        events = _events(container, name, run_id)
        while batch := list(islice(events, _BATCH)):
            indexer.index(batch, [KeptFile(number, about)])


def _events(container: Container, name: str, run_id: str) -> Iterator[Event]:
    """The events of a file; a line that names no run belongs to the given one."""
    for line in container.lines(name):
        if line.strip():
            event = decode(line)
            yield event if event.run_id else replace(event, run_id=run_id)
