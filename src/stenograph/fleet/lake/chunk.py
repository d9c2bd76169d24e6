"""One chunk of a build: some transcripts of a bucket as one part of a table.

The engine passes only keys in and gets only counts back; the worker itself reads from and writes to the stores. A part
is named by its input, so a worker that died half way and its successor write the same objects.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from uuid import NAMESPACE_URL, uuid5

import msgspec
from msgspec import Struct

from stenograph.archive.index.chunk import line_of
from stenograph.errors import InvalidTarget
from stenograph.fleet.lake.place import FOLDER, lake_library
from stenograph.fleet.lake.rows import EventRows, RunFacts
from stenograph.fleet.lake.run_rows import RunRows
from stenograph.fleet.lake.run_tables import run_row, runs_table
from stenograph.fleet.store.objects import Objects, open_store
from stenograph.model.event import Event
from stenograph.sources.conversion import Conversion, convert, sessions_in
from stenograph.version import __version__

if TYPE_CHECKING:
    import pyarrow

GENERATION = "000001-build"
_MOST_PROBLEMS = 20


class WrittenFile(Struct, frozen=True, kw_only=True):
    """One Parquet file of a part."""

    path: str
    """In its table."""
    size: int
    rows: int
    stats: str
    """Delta Lake's statistics of it, as JSON."""


class Part(Struct, frozen=True, kw_only=True):
    """The result of one chunk."""

    name: str
    keys: int
    bytes: int
    """Of the transcripts."""
    events: WrittenFile | None = None
    """None if the transcripts have no event."""
    runs: WrittenFile | None = None
    problems: tuple[str, ...] = ()
    """The first few problems with files."""
    unread: int = 0
    """Files that could not be read, or are in an unknown format."""


def part_name(keys: Sequence[str], versions: Sequence[str], source: str, redact: bool) -> str:
    """The name of the part of some keys: the same for the same objects, read by the same program."""
    facts = [
        __version__,
        source,
        str(redact),
        *(f"{key}\n{version}" for key, version in zip(keys, versions, strict=True)),
    ]
    return blake2b("\0".join(facts).encode("utf-8", "replace"), digest_size=16).hexdigest()


def archive_of(source: str) -> str:
    """The archive id of runs that were built from a place without an archive."""
    return str(uuid5(NAMESPACE_URL, source.rstrip("/")))


def chunk_job(
    keys: Sequence[str],
    source: str,
    target: str,
    *,
    redact: bool = False,
    name: str | None = None,
    is_whole: bool = True,
) -> Part:
    """Parse some transcripts of a bucket or folder into one part of the lake at `target`; not committed yet.

    `keys` are names below the URL `source`; files that belong to one session must be in one chunk. Where that is not
    sure, pass `is_whole=False`: files of subagents without their session are then left out and named. `redact` masks
    every known secret. The part is named `name`, else by its keys. Calling it again, on any machine, writes the same
    objects. `steno lake build` calls it for all of a bucket and commits the parts; your own scheduler can, too.
    """
    lake_library()
    place = open_store(target)
    part = name or part_name(keys, [""] * len(keys), source, redact)
    with tempfile.TemporaryDirectory(prefix="stenograph-") as folder:
        size = _fetch(keys, source, Path(folder))
        made = _Made(archive_of(source), Path(folder), redact)
        made.read(is_whole)
    written = Part(
        name=part,
        keys=len(keys),
        bytes=size,
        events=_write(place, "events", part, made.events()),
        runs=_write(place, "runs", part, made.runs()),
        problems=tuple(made.problems[:_MOST_PROBLEMS]),
        unread=len(made.problems),
    )
    place.replace(part_key(part), msgspec.json.encode(written))
    return written


def part_key(name: str) -> str:
    """The object that marks a part as complete, and says what is in it."""
    return f"{FOLDER}/parts/{name}.json"


def folder_of(url: str) -> Path | None:
    """The folder that a URL names; None for a bucket."""
    parts = urlsplit(url)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def _fetch(keys: Iterable[str], source: str, folder: Path) -> int:
    """Copy the transcripts below a folder, with their paths; files of a folder are linked."""
    origin = folder_of(source)
    store = open_store(source) if origin is None else None
    size = 0
    for key in keys:
        if PurePosixPath(key).is_absolute() or ".." in PurePosixPath(key).parts:
            raise InvalidTarget(f"{key!r} is not a key below {source}; give it as the store lists it")
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        if origin is not None:
            path.symlink_to(origin / key)
            size += path.stat().st_size
        else:
            assert store is not None
            data = store.get(key)
            path.write_bytes(data)
            size += len(data)
    return size


class _Made:
    """The rows of the sessions in a folder."""

    def __init__(self, archive: str, folder: Path, redact: bool) -> None:
        self._archive = archive
        self._folder = folder
        self._redact = redact
        self._facts: dict[str, RunFacts] = {}
        self._events = EventRows(archive, GENERATION, self._facts)
        self._runs = RunRows()
        self.problems: list[str] = []

    def read(self, is_whole: bool) -> None:
        """Read all of them."""
        for found in sessions_in(self._folder):
            if found.identity.source == "main":
                self._runs.begin(found)
            elif not is_whole:
                path = Path(found.path)
                self.problems.append(f"{path.relative_to(self._folder)}: its session is not in this chunk, skipped")
                path.unlink()  # it is our copy
        conversion = convert(self._folder, keep_raw=False)
        for event in self._masked(conversion) if self._redact else conversion:
            written = (event.origin.adapter if event.origin is not None else None) or "exchange"
            self._runs.add(event, written)
            if event.run_id not in self._facts:
                run = self._runs.facts(event.run_id, written)
                self._facts[event.run_id] = RunFacts(
                    agent=run.agent, format=run.format, cwd=run.cwd, project=run.project
                )
            self._events.add(line_of(event))
        for file in conversion.files:
            if file.problem is not None:
                self.problems.append(f"{Path(file.path).relative_to(self._folder)}: {file.problem}")

    def _masked(self, events: Conversion) -> Iterator[Event]:
        """The events without secrets; a secret in one is masked in all."""
        from stenograph.runs.mask import RunMask

        kept = list(events)
        mask = RunMask()
        mask.learn(lambda: kept)
        return mask.events(kept)

    def events(self) -> pyarrow.Table:
        """Of `events`, in the order of their runs."""
        rows = self._events.take()
        return rows.sort_by([("run_id", "ascending"), ("seq", "ascending")])

    def runs(self) -> pyarrow.Table:
        """Of `runs`."""
        return runs_table(run_row(row, self._archive, GENERATION, 0, 0, "", None) for row in self._runs.rows())


def _write(place: Objects, table: str, part: str, rows: pyarrow.Table) -> WrittenFile | None:
    """Write rows as one Parquet file, replacing that of a worker that died."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not rows.num_rows:
        return None
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, compression="zstd", compression_level=3, row_group_size=131_072)
    data = sink.getvalue().to_pybytes()
    path = f"part-{part}.parquet"
    place.replace(f"{FOLDER}/{table}/{path}", data)
    return WrittenFile(path=path, size=len(data), rows=rows.num_rows, stats=_stats(rows))


_BOUNDED = ("archive", "run_id", "day", "seq", "started_ms", "ended_ms")


def _stats(rows: pyarrow.Table) -> str:
    """The bounds by which readers skip files."""
    import pyarrow.compute as pc

    bounds: dict[str, dict[str, Any]] = {"minValues": {}, "maxValues": {}}
    for name in _BOUNDED:
        if name in rows.column_names:
            both = pc.min_max(rows[name]).as_py()
            if both["min"] is not None:
                bounds["minValues"][name], bounds["maxValues"][name] = both["min"], both["max"]
    return msgspec.json.encode({"numRecords": rows.num_rows, **bounds, "nullCount": {}}).decode()
