"""Finds files that may be transcripts in folders, by name and status alone: no file is opened."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from stenograph.errors import InvalidAgent
from stenograph.journal.place import ENVIRONMENT
from stenograph.sources.layouts import (
    layout_of,
    main_of,
    parts_of,
    placed_formats,
    sidecar_suffixes,
    transcript_suffixes,
)

JOURNALS = "exchange"
"""The format of our own journals."""
RECEIVED = "otlp"
"""The format of what `steno receive` keeps."""
_WAL = "-wal"
"""The ending of a database's write-ahead log."""
NOT_REGULAR = "not a regular file (a link, a pipe …)"
_HALF = 1 << 63


class Root(Struct, frozen=True):
    """A folder to look through."""

    path: Path
    format: str | None
    """The format of the agent whose folder it is; None for a folder that a person named."""


class Status(Struct, frozen=True):
    """What shows whether a file has changed, under the names of `os.stat_result`."""

    st_size: int
    st_mtime_ns: int
    st_ino: int


def status_of(status: os.stat_result) -> Status:
    """The status with its numbers as signed 64-bit integers, as the index stores them."""
    return Status(status.st_size, _signed(status.st_mtime_ns), _signed(status.st_ino))


def _signed(number: int) -> int:
    return (number + _HALF) % (2 * _HALF) - _HALF


class Seen(Struct, frozen=True):
    """A file found in a folder, with its status."""

    path: Path
    root: Root
    size: int
    mtime_ns: int
    inode: int


def agent_names() -> dict[str, str]:
    """The formats that have folders of their own, each with its agent; our own journals are `stenograph`'s."""
    return {spec.name: spec.agent.id for spec in placed_formats()} | {JOURNALS: "stenograph"}


def roots_of(
    environment: Mapping[str, str],
    home: Path,
    archive: Path,
    agents: tuple[str, ...] = (),
    *,
    existing_only: bool = True,
) -> list[Root]:
    """The folders of these agents (by default of all) and of journals, as the environment and `home` place them.

    With `existing_only` false also those that do not exist yet. Raises `InvalidAgent` for an unknown agent.
    """
    names = agent_names()
    for agent in agents:
        if agent not in names and agent not in names.values():
            raise InvalidAgent(agent, tuple(dict.fromkeys(names.values())))
    found: list[Root] = []
    for name, agent in names.items():
        if agents and agent not in agents and name not in agents:
            continue
        folders = _folders(name, environment, home, archive)
        wanted = (folder for folder in folders if folder.is_dir() or not existing_only)
        found += [Root(folder.resolve(), name) for folder in wanted]
    return list(dict.fromkeys(found))


def _folders(name: str, environment: Mapping[str, str], home: Path, archive: Path) -> list[Path]:
    if name == JOURNALS:
        return _journals(environment, archive)
    return [received_in(archive)] if name == RECEIVED else layout_of(name).roots(environment, home)


def received_in(archive: Path) -> Path:
    """The folder of the conversations that an archive received."""
    return archive / "received" / "runs"


def _journals(environment: Mapping[str, str], archive: Path) -> list[Path]:
    storage = environment.get(ENVIRONMENT)
    return [archive / "transcripts", *([Path(storage) / "transcripts"] if storage else [])]


Refused = dict[str, OSError]
"""Files and folders that cannot be read, and why."""


def walk(root: Root, refused: Refused, left_out: Counter[str] | None = None) -> Iterator[Seen]:
    """Every file below a folder that may be a transcript.

    Links are not followed: a linked folder that is inside the root is found at its own path. `left_out` counts, by
    reason, links to folders outside the root, files that are not regular, and, in a folder that a person named, files
    with other names.
    """
    deepest = None if root.format is None else layout_of(root.format).deepest
    folders = [(str(root.path), 0)]
    left_out = Counter() if left_out is None else left_out
    while folders:
        folder, depth = folders.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except FileNotFoundError:  # just deleted
            continue
        except OSError as error:
            refused[folder] = error
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders += [(entry.path, depth + 1)] if deepest is None or depth < deepest else []
            elif entry.is_symlink() and (elsewhere := _folder_elsewhere(entry.path, root)) is not None:
                left_out[f"link {path_text(entry.path)} to {elsewhere}: steno sync --path keeps that"] += 1
            elif _may_be_transcript(entry.name, root):
                if _is_beside(entry.path, root):
                    continue
                if (seen := _seen(entry.path, root, refused)) is not None:
                    yield seen
                elif os.path.lexists(entry.path) and entry.path not in refused:
                    left_out[NOT_REGULAR] += 1
            elif root.format is None and not entry.name.endswith((*sidecar_suffixes(), _WAL)):
                left_out[other_name_reason()] += 1


def folders_below(root: Root) -> Iterator[Path]:
    """The folders in which `walk` looks."""
    deepest = None if root.format is None else layout_of(root.format).deepest
    for place, folders, _ in os.walk(root.path):
        yield Path(place)
        if deepest is not None and len(Path(place).relative_to(root.path).parts) >= deepest:
            folders.clear()


def _folder_elsewhere(link: str, root: Root) -> str | None:
    """The folder outside the root to which a link points; None for any other link."""
    try:
        target = Path(link).resolve()
        return path_text(target) if target.is_dir() and not target.is_relative_to(root.path) else None
    except (OSError, RuntimeError):  # a circle, or not readable
        return None


def look_at(paths: Iterable[str], roots: Iterable[Root], refused: Refused) -> Iterator[Seen]:
    """The files among `paths` that are below the roots and may be transcripts, as `walk` would find them."""
    for path in paths:
        root = next((root for root in roots if Path(path).is_relative_to(root.path)), None)
        if root is None or not _may_be_transcript(path, root) or _is_beside(path, root):
            continue
        if (seen := _seen(path, root, refused)) is not None:
            yield seen


def transcript_of(path: str) -> str | None:
    """The transcript to read again when this file has changed; None when none is concerned."""
    for suffix in sidecar_suffixes():
        if path.endswith(suffix):
            return path.removesuffix(suffix) + ".jsonl"
    path = path.removesuffix(_WAL)
    if not path.endswith(_named_suffixes()):
        return None
    main = main_of(Path(path))
    return path if main is None else str(main)


def _named_suffixes() -> tuple[str, ...]:
    """The endings of files that are read in a folder that a person named: programs also print into log files."""
    return (*transcript_suffixes(), ".log")


def other_name_reason() -> str:
    """Why a file in a folder that a person named is not read."""
    return f"not named {', '.join(_named_suffixes())}"


def _may_be_transcript(name: str, root: Root) -> bool:
    suffixes = _named_suffixes() if root.format is None else transcript_suffixes()
    return name.endswith(suffixes) and not name.endswith(sidecar_suffixes())


def _is_beside(path: str, root: Root) -> bool:
    """Whether a file is not read on its own: as a part of another file's session, or because its layout excludes it."""
    if root.format is not None and layout_of(root.format).is_unread(root.path, Path(path)):
        return True
    return main_of(Path(path), root.format) is not None


def _seen(path: str, root: Root, refused: Refused) -> Seen | None:
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):  # just deleted
        return None
    except OSError as error:
        refused[path] = error
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    found = status_of(status)
    size, mtime_ns = found.st_size, found.st_mtime_ns
    if path.endswith(".db"):
        try:  # what is only in the write-ahead log yet has changed the database, too
            log = os.stat(path + _WAL)  # noqa: PTH116  # text, as the folder has it
            size, mtime_ns = size + log.st_size, max(mtime_ns, status_of(log).st_mtime_ns)
        except OSError:
            pass
    for part in parts_of(Path(path), root.format):  # what is new in one of its parts is new in the session
        try:
            status = os.lstat(part)
        except OSError:
            continue
        size, mtime_ns = size + status.st_size, max(mtime_ns, status_of(status).st_mtime_ns)
    return Seen(Path(path), root, size, mtime_ns, found.st_ino)


def path_text(path: str | os.PathLike[str]) -> str:
    """A path as the index names it; bytes that are not UTF-8 are escaped."""
    text = os.fspath(path)
    return text if text.isascii() else os.fsencode(text).decode("utf-8", "backslashreplace")
