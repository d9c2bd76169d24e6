"""Looking through folders for files that may be transcripts, by name and status alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from stenograph.errors import InvalidFormat
from stenograph.journal.place import ENVIRONMENT
from stenograph.sources.conversion import SUFFIXES
from stenograph.sources.layouts import LAYOUTS

JOURNALS = "exchange"
_SIDECAR = ".meta.json"


class Root(Struct, frozen=True):
    """A folder to look through."""

    path: Path
    format: str | None
    """Of the agent whose folder it is; None for a folder that a person named."""


class Seen(Struct, frozen=True):
    """A file as the folder shows it."""

    path: Path
    root: Root
    size: int
    mtime_ns: int
    inode: int


def agent_names() -> dict[str, str]:
    """The agents whose folders we know, each with its format on disk; our own journals are `stenograph`'s."""
    return {name.partition("_")[0]: name for name in LAYOUTS} | {"stenograph": JOURNALS}


def roots_of(environment: Mapping[str, str], home: Path, archive: Path, agents: tuple[str, ...] = ()) -> list[Root]:
    """The folders of the agents (of all without `agents`) by environment and home, and of journals. All exist.

    Raises `InvalidFormat` for the name of an agent that nobody knows.
    """
    names = agent_names()
    for agent in agents:
        if agent not in names and agent not in names.values():
            raise InvalidFormat(agent, tuple(names))
    found: list[Root] = []
    for agent, name in names.items():
        if agents and agent not in agents and name not in agents:
            continue
        folders = _journals(environment, archive) if name == JOURNALS else LAYOUTS[name].roots(environment, home)
        found += [Root(folder.resolve(), name) for folder in folders if folder.is_dir()]
    return list(dict.fromkeys(found))


def _journals(environment: Mapping[str, str], archive: Path) -> list[Path]:
    storage = environment.get(ENVIRONMENT)
    return [archive / "transcripts", *([Path(storage) / "transcripts"] if storage else [])]


def walk(root: Root) -> Iterator[Seen]:
    """Every file below a folder that may be a transcript. Links are not followed; what may not be read is passed."""
    folders = [str(root.path)]
    while folders:
        try:
            entries = sorted(os.scandir(folders.pop()), key=lambda entry: entry.name)
        except OSError:  # gone, or not ours to read
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif _may_be_transcript(entry) and (seen := _seen(entry, root)) is not None:
                yield seen


def _may_be_transcript(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    return name.endswith(SUFFIXES) and not name.endswith(_SIDECAR) and entry.is_file(follow_symlinks=False)


def _seen(entry: os.DirEntry[str], root: Root) -> Seen | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # just deleted
        return None
    size, mtime_ns = status.st_size, status.st_mtime_ns
    if entry.name.endswith(".db"):
        try:  # what is only in the write-ahead log yet has changed the database, too
            log = os.stat(entry.path + "-wal")  # noqa: PTH116  # text, as the entry has it
            size, mtime_ns = size + log.st_size, max(mtime_ns, log.st_mtime_ns)
        except OSError:
            pass
    return Seen(Path(entry.path), root, size, mtime_ns, status.st_ino)


def path_text(path: str | os.PathLike[str]) -> str:
    """A path as the index names it; bytes that are no UTF-8 are made visible."""
    text = os.fspath(path)
    return text if text.isascii() else os.fsencode(text).decode("utf-8", "backslashreplace")
