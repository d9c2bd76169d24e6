"""Builds the tables of a lake from all transcripts of a bucket or folder: planned, run by an engine, committed once.

Theory of operation. The plan divides the listed keys into chunks; `chunk.chunk_job` makes one part of each. Parts of an
earlier build, even one that was killed, are reused: they are named by their input. At the end, one commit per table
makes the table consist of just these parts; until then readers see the old content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import NamedTuple

import msgspec
from msgspec import Struct

from stenograph.errors import SourceError
from stenograph.fleet.lake.chunk import Part, WrittenFile, part_key, part_name
from stenograph.fleet.lake.engines import Chunk, mapped
from stenograph.fleet.lake.place import lake_library, make_table, open_table, writing
from stenograph.fleet.lake.tables import schema_of
from stenograph.fleet.store.objects import Entry, Objects, open_store
from stenograph.sources.layouts import sidecar_suffixes, transcript_suffixes

CHUNK_BYTES = 64 << 20
CHUNK_KEYS = 1000
_STRETCH = 4
"""A folder is divided if it is this many times as large as a chunk."""
_PROBE = "lake/probe"
Progress = Callable[[int, int], None]
"""Called with the number of chunks that are done, and of all."""


class Built(Struct, kw_only=True):
    """What a build did."""

    job: str
    """The id of the job, from its input: the same transcripts give the same job."""
    keys: int = 0
    bytes: int = 0
    chunks: int = 0
    reused: int = 0
    """Chunks whose parts an earlier build had made."""
    runs: int = 0
    events: int = 0
    unread: int = 0
    """Files that could not be read, or are in an unknown format."""
    problems: list[str] = msgspec.field(default_factory=list)
    is_committed: bool = False
    """False if the same build was committed before, so that nothing was left to do."""


def build(
    source: str,
    target: str,
    *,
    on: str = "processes",
    workers: int | None = None,
    address: str | None = None,
    redact: bool = False,
    chunk_bytes: int = CHUNK_BYTES,
    progress: Progress | None = None,
) -> Built:
    """Build the tables below `target` from all transcripts below `source`, both URLs, on one of `ENGINES`.

    It may be killed at any moment and called again. Raises `SourceError` if there are no transcripts, `StoreError` if
    the lake cannot be written, and `InvalidTarget` for an engine that is not installed.
    """
    lake_library()
    place = open_store(target)
    place.require_conditional_create(_PROBE, b"create-only\n")
    gathered = chunks_of(open_store(source).entries(""), chunk_bytes)
    chunks = [_chunk(each, source, target, redact) for each in gathered]
    if not chunks:
        raise SourceError(f"there are no transcripts below {source}; give the folder that agents write to", source)
    names = sorted(chunk.name for chunk in chunks)
    built = Built(job=blake2b("\n".join(names).encode(), digest_size=16).hexdigest(), chunks=len(chunks))
    parts = []
    todo = []
    for chunk in chunks:
        part = _left(place, chunk)
        todo += [chunk] if part is None else []
        parts += [] if part is None else [part]
    built.reused = len(parts)
    report = progress or (lambda done, of: None)
    report(len(parts), len(chunks))
    for part in mapped(on, todo, workers=workers, address=address) if todo else ():
        parts.append(part)
        report(len(parts), len(chunks))
    _sum(built, parts)
    if todo or not _is_committed(target, parts):
        commit_parts(target, parts)
        built.is_committed = True
    return built


class Gathered(NamedTuple):
    """The transcripts of one chunk."""

    entries: list[Entry]
    is_whole: bool
    """Whether it holds all files that may belong together; false for a part of a folder with very many files."""


def chunks_of(entries: Iterable[Entry], chunk_bytes: int = CHUNK_BYTES) -> list[Gathered]:
    """Transcripts in chunks; the files of one session stay together.

    A folder with what is below it is one unit, as agents put the files of subagents beside or below those of their
    session. A folder that is far too large for a chunk is cut between sessions, where it has no folders below but those
    that are named like a session: a file goes with the folder of its name.
    """
    found = sorted(entry for entry in entries if _is_transcript(entry.key))
    stems = {_stem(entry.key) for entry in found}
    folders = {str(PurePosixPath(entry.key).parent) for entry in found}
    units: dict[str, list[Entry]] = {}
    for entry in found:
        units.setdefault(_unit(entry.key, stems, folders), []).append(entry)
    whole: list[list[Entry]] = []
    cut: list[list[Entry]] = []
    for folder, unit in units.items():
        if _fits(unit, _STRETCH * chunk_bytes, _STRETCH * CHUNK_KEYS) or not _may_be_cut(folder, unit, stems):
            whole.append(unit)
            continue
        sessions: dict[str, list[Entry]] = {}
        for entry in unit:
            sessions.setdefault(_session(entry.key, stems), []).append(entry)
        cut += sessions.values()
    return [
        *(Gathered(chunk, True) for chunk in _joined(whole, chunk_bytes)),
        *(Gathered(chunk, False) for chunk in _joined(cut, chunk_bytes)),
    ]


def _joined(pieces: Iterable[list[Entry]], chunk_bytes: int) -> list[list[Entry]]:
    chunks: list[list[Entry]] = []
    for piece in pieces:
        if chunks and _fits([*chunks[-1], *piece], chunk_bytes, CHUNK_KEYS):
            chunks[-1] += piece
        else:
            chunks.append(list(piece))
    return chunks


def _fits(entries: Sequence[Entry], most_bytes: int, most_keys: int) -> bool:
    return len(entries) <= most_keys and sum(entry.size for entry in entries) <= most_bytes


def _may_be_cut(folder: str, unit: Iterable[Entry], stems: set[str]) -> bool:
    return all(str(PurePosixPath(_session(entry.key, stems)).parent) == folder for entry in unit)


def _is_transcript(key: str) -> bool:
    return key.endswith(transcript_suffixes()) and not key.endswith(sidecar_suffixes())


def _stem(key: str) -> str:
    return str(PurePosixPath(key).with_suffix(""))


def _unit(key: str, stems: set[str], folders: set[str]) -> str:
    """The highest folder above a file, up to one that has no transcripts itself; of subagents, their session's."""
    folder = PurePosixPath(_session(key, stems)).parent
    while folder != folder.parent and str(folder.parent) in folders:
        folder = folder.parent
    return str(folder)


def _session(key: str, stems: set[str]) -> str:
    """The file, or the one whose name the folder has that it is below."""
    above = [str(folder) for folder in PurePosixPath(key).parents if str(folder) in stems]
    return above[-1] if above else _stem(key)


def _chunk(gathered: Gathered, source: str, target: str, redact: bool) -> Chunk:
    keys = tuple(entry.key for entry in gathered.entries)
    name = part_name(keys, [str(entry.size) for entry in gathered.entries], source, redact)
    return Chunk(name=name, keys=keys, source=source, target=target, redact=redact, is_whole=gathered.is_whole)


def _left(place: Objects, chunk: Chunk) -> Part | None:
    """The part of a chunk, if an earlier build completed it."""
    said = place.find(part_key(chunk.name))
    return None if said is None else msgspec.json.decode(said, type=Part)


def _sum(built: Built, parts: Iterable[Part]) -> None:
    for part in parts:
        built.keys += part.keys
        built.bytes += part.bytes
        built.unread += part.unread
        built.problems += part.problems
        built.events += 0 if part.events is None else part.events.rows
        built.runs += 0 if part.runs is None else part.runs.rows


def _is_committed(target: str, parts: Sequence[Part]) -> bool:
    """Whether the table consists of just these parts."""
    table = open_table(target, "events")
    if table is None:
        return False
    files = {uri.rpartition("/")[2] for uri in table.file_uris()}
    return files == {part.events.path for part in parts if part.events is not None}


def commit_parts(target: str, parts: Sequence[Part]) -> None:
    """Make the tables of a lake consist of just these parts, by one commit per table.

    `runs` is first, because readers look there first. The same parts may be committed again. Raises `StoreError`.
    """
    runs = [part.runs for part in parts if part.runs is not None]
    events = [part.events for part in parts if part.events is not None]
    _replace(target, "runs", runs)
    _replace(target, "events", events)


def _replace(target: str, name: str, files: Iterable[WrittenFile]) -> None:
    from deltalake.transaction import AddAction, RemoveAction

    table = make_table(target, name, by_day=False)
    actions: list[AddAction | RemoveAction] = [
        AddAction(
            path=file.path, size=file.size, partition_values={}, modification_time=0, data_change=True, stats=file.stats
        )
        for file in files
    ]
    with writing(target):
        table.create_write_transaction(actions, mode="overwrite", schema=schema_of(name))
