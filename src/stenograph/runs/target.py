"""Finds what a person names: a run id or the beginning of one, `@`, a file, a folder, a session, a bundle.

A file or folder of that name always wins. Then `@` and `last` are the newest run of the archive, `@2` the one before.
Then it is a run id, or the unique beginning of one, of a journal or of a run of the archive.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stenograph.errors import AmbiguousRun, InvalidRunId, RunNotFound, SourceError, unknown_format
from stenograph.journal.place import (
    DEFAULT_ROOT,
    SUFFIX,
    ambiguous,
    existing_path,
    journal_path,
    journals_of,
    no_run,
    storage_root,
)
from stenograph.model.codec import REFUSALS, decode
from stenograph.runs.journal import JournalRun
from stenograph.runs.kind import Growth, Line, RunKind

if TYPE_CHECKING:
    from stenograph.archive.reader import IndexReader
    from stenograph.runs.archived import ArchivedRun

Target = str | os.PathLike[str]

_ID = re.compile(r"[0-9a-f-]{1,36}")
"""A run id or the beginning of one."""
_NEWEST = re.compile(r"last|@([1-9]\d{0,5})?")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_FIRST_LINE = 1 << 14
"""Bytes within which the first line of a journal usually ends."""
_LOOKED_AT = 1 << 20
"""Bytes of a file within which there must be an event for it to be a journal."""
_BEGINNING = b'{"seq":'
"""How the first line that a recorder writes begins: all that is left of it after a crash."""
_SHOWN = 3


def find_run(
    target: Target, root: Target | None = None, archive: Target | None = None, *, archive_first: bool = False
) -> RunKind:
    """The run that `target` names. Raises `RunNotFound`, `AmbiguousRun`, or `SourceError` for what cannot be read.

    A journal holds what one recorder saw, the archive what all recorders of the run saw. So of a run that both have,
    the journal is used only where it holds more than the archive, and with `archive_first` not even then. A given root
    excludes the archive, unless that is given, too.
    """
    text = os.fspath(target)
    path = existing_path(text)
    if path is not None:
        return in_folder(path) if path.is_dir() else in_file(path)
    if (session := _session(text)) is not None:
        return session
    home = None if archive is None else Path(archive)
    if _NEWEST.fullmatch(text):
        return find_archived(text, home)
    return _by_id(text, DEFAULT_ROOT if root is None else root, home, archive_first)


def find_growing(target: Target, root: Target | None = None, archive: Target | None = None) -> RunKind:
    """The run that `target` names, to be followed: a file that does not exist yet is fine when its name is complete."""
    text = os.fspath(target)
    path = existing_path(text)
    if path is not None and path.is_file() and not path.stat().st_size:
        return _ExpectedRun(path)
    try:
        return find_run(target, root, archive)
    except RunNotFound:
        if text.endswith(SUFFIX):
            return _ExpectedRun(Path(text))
        try:
            return _ExpectedRun(journal_path(storage_root(DEFAULT_ROOT if root is None else root), text))
        except InvalidRunId:
            pass
        raise


class _ExpectedRun(JournalRun):
    """A file that is not written yet: a journal, unless its first line says otherwise."""

    def growth(self, from_seq: int) -> Growth:
        """Its kind is decided as soon as there is something in it."""
        return _ExpectedGrowth(Path(self.place), from_seq)


class _ExpectedGrowth:
    is_over = False

    def __init__(self, path: Path, from_seq: int) -> None:
        self._path = path
        self._from_seq = from_seq
        self._growth: Growth | None = None

    @property
    def folders(self) -> frozenset[Path]:
        return frozenset([self._path.parent]) if self._growth is None else self._growth.folders

    def new(self) -> Iterator[Line]:
        if (
            self._growth is None
            and existing_path(str(self._path)) is not None
            and b"\n" in _head(self._path, _LOOKED_AT)
        ):
            self._growth = in_file(self._path).growth(self._from_seq)
        return iter(()) if self._growth is None else self._growth.new()

    def close(self) -> None:
        if self._growth is not None:
            self._growth.close()


# Files.


def in_file(path: Path) -> RunKind:
    """The one run in a file. Raises `AmbiguousRun` for a file that holds several."""
    head = _head(path, _FIRST_LINE)
    if head.startswith(_BEGINNING) and _is_event(head.partition(b"\n")[0]):
        return JournalRun(path)  # without loading the other formats
    from stenograph.sources.detection import detect_file
    from stenograph.sources.stored import check_single

    if is_bundle(path):
        from stenograph.runs.bundled import BundledRun

        return BundledRun(path)
    found = detect_file(path)
    if found.spec is None:
        if is_journal(path):
            return JournalRun(path)
        raise unknown_format(str(path))
    if found.spec.name == "exchange":
        return JournalRun(path)
    from stenograph.runs.agent_file import AgentFileRun

    check_single(found)
    return AgentFileRun(path, found)


def is_bundle(path: Path) -> bool:
    """Whether a file is a zip that is not of a known format; one that is not a bundle is refused when it is opened."""
    if not _head(path, len(_ZIP[0])).startswith(_ZIP):
        return False
    from stenograph.sources.detection import detect_file

    try:
        return detect_file(path).spec is None
    except SourceError:  # a damaged zip: opening it reports how
        return True


def is_journal(path: Path) -> bool:
    """Whether a file is a journal by its lines, whatever its name; an empty file is an empty journal."""
    head = _head(path, _LOOKED_AT)
    *lines, last = head.split(b"\n")
    return not head or last.startswith(_BEGINNING) or any(map(_is_event, (*lines, last)))


def _is_event(line: bytes) -> bool:
    try:
        event = decode(line)
    except REFUSALS:
        return False
    return event.seq > 0 and bool(event.run_id)


def _head(path: Path, size: int) -> bytes:
    from stenograph.journal.reader import open_source

    fd = open_source(path)
    try:
        return os.pread(fd, size, 0)
    finally:
        os.close(fd)


def in_folder(folder: Path) -> RunKind:
    """The one run below a folder. Raises `AmbiguousRun` for several, and `SourceError` where there is none."""
    from stenograph.sources.conversion import sessions_in

    found = sessions_in(folder)
    mains = [each for each in found if each.identity.source == "main"] or found
    if not mains:
        raise SourceError(f"no file below {folder} is in a format we know; steno formats lists them", str(folder))
    if len(mains) > 1:
        paths = sorted(each.path for each in mains)
        shown = ", ".join(paths[:_SHOWN]) + (" …" if len(paths) > _SHOWN else "")
        raise AmbiguousRun(f"{folder} holds {len(paths)} sessions ({shown}); name one of them", tuple(paths))
    return in_file(Path(mains[0].path))


def _session(text: str) -> RunKind | None:
    """One session of a file that holds many, as in `opencode.db#ses_…`."""
    if "#" not in text:
        return None
    from stenograph.runs.agent_file import AgentFileRun
    from stenograph.sources.detection import detect_file
    from stenograph.sources.stored import address_of, find_session

    file, session = address_of(Path(text))
    if session is None:
        return None
    found = detect_file(file)
    if found.spec is None:
        raise unknown_format(str(file))
    find_session(found, session)
    return AgentFileRun(Path(text), found)


# Runs.


def _by_id(text: str, root: Target, home: Path | None, archive_first: bool) -> RunKind:
    prefix = text.lower()
    if not _ID.fullmatch(prefix):
        raise no_run(text, root, home)
    journals = {file.stem: file for file in reversed(journals_of(prefix, root, home))}
    may_be_archived = home is not None or os.fspath(root) == DEFAULT_ROOT
    index = _index(home, is_needed=archive_first or not journals) if may_be_archived else None
    archived = {} if index is None else index.runs_starting_with(prefix)
    known = [prefix] if prefix in journals or prefix in archived else sorted({*journals, *archived})
    run_id = known[0] if len(known) == 1 else ""
    if index is not None and run_id in archived:
        journal = journals.get(run_id)
        # A journal holds what one recorder saw, the archive what all recorders of the run saw.
        if archive_first or journal is None or index.has_whole(journal):
            return _archived(index, archived[run_id], run_id)
    if index is not None:
        index.close()
    if not known:
        from stenograph.archive.store.forgotten import check_not_forgotten
        from stenograph.archive.store.home import home_of

        check_not_forgotten(home_of(home).forgotten, prefix)
        raise no_run(text, root, home)
    if not run_id:
        raise ambiguous(text, known)
    return JournalRun(journals[run_id])


def find_archived(text: str, home: Path | None = None) -> RunKind:
    """A run of the archive alone: by its id or the unique beginning of it, or by its place from the newest."""
    from stenograph.archive.reader import IndexReader
    from stenograph.archive.store.damage import readable_index

    with readable_index():
        index = IndexReader(home)
        try:
            newest = _NEWEST.fullmatch(text)
            found = index.find_run(text) if newest is None else index.newest_run(int(newest[1] or 1))
            if found is None:
                where = index.home.path
                raise RunNotFound(f"the archive {where} has no run {text}, it has fewer; steno ls lists them", text)
        except BaseException:
            index.close()
            raise
    return _archived(index, *found)


def _index(home: Path | None, *, is_needed: bool) -> IndexReader | None:
    """The index; None where there is none, or where it cannot be read and a journal was found anyway."""
    from stenograph.archive.reader import IndexReader
    from stenograph.archive.store.damage import readable_index

    try:
        with readable_index():
            return IndexReader(home)
    except RunNotFound:
        return None
    except SourceError:
        if is_needed:
            raise
        return None


def _archived(index: IndexReader, run: int, run_id: str) -> ArchivedRun:
    from stenograph.runs.archived import ArchivedRun

    return ArchivedRun(index, run, run_id)
