"""What a sync has to do: which files are new, changed, moved or gone, and which belong to one session.

Unchanged files are recognized by their status alone. Only new files are opened, to find their format and session.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import asdict, replace

from stenograph.archive.keep.comparison import has_tail
from stenograph.archive.keep.input_files import InputFiles
from stenograph.archive.keep.walk import JOURNALS, Refused, Root, Seen, look_at, path_text, walk
from stenograph.archive.store.forgotten import REMOVED
from stenograph.archive.store.kept_file import KeptFile
from stenograph.archive.store.pack import About
from stenograph.archive.writer import Store
from stenograph.errors import FormatFailed, SourceError, unreadable
from stenograph.formats.base import Identity
from stenograph.formats.registry import HEAD_BYTES, digest_of_formats, formats
from stenograph.formats.source_file import SourceFile
from stenograph.sources.detection import Detection
from stenograph.sources.layout import Member
from stenograph.sources.layouts import layout_of
from stenograph.sources.session import source_file

DATABASE = "a database, kept session by session"
_NOT_YET = "no whole line yet"
UNKNOWN = "no format knows it"
_FORMATS = "formats"
"""The fact that says which formats did not know the files that no format knew; absent without such a file."""


class NewFile:
    """A file that was not kept before."""

    def __init__(self, seen: Seen, found: Detection, records: list[Any]) -> None:
        """`records` are its first ones; those of thousands of files would fill the memory, so they are not kept."""
        self.seen = seen
        self.found = found
        self.is_empty = not (records or found.is_document)
        self.member: Member | None = None
        self.main: Path | None = None
        """The main file of its session; None for a main file."""

    @property
    def family(self) -> tuple[str, str]:
        """What it has in common with the other files of its session: the run and the format."""
        assert self.found.spec is not None
        return self.found.run_id, self.found.spec.name

    @property
    def file(self) -> SourceFile:
        """The file and the source that speaks in it."""
        return source_file(self.found, self.main, self.member)


@dataclass(slots=True)
class Work:
    """One session with something to do: files that changed, and files that are new."""

    changed: list[tuple[KeptFile, Seen]] = field(default_factory=list)
    new: list[NewFile] = field(default_factory=list)

    @property
    def format(self) -> str:
        """The format of its files."""
        if self.changed:
            return self.changed[0][0].about.format
        spec = self.new[0].found.spec
        return "" if spec is None else spec.name

    @property
    def at(self) -> int:
        """When the last of its files changed."""
        return max(seen.mtime_ns for seen in (*(seen for _, seen in self.changed), *(each.seen for each in self.new)))


class Discovery:
    """One search through folders."""

    def __init__(self, store: Store, inputs: InputFiles) -> None:
        self._store = store
        self._inputs = inputs
        self.unchanged = 0
        self.problems: list[SourceError] = []
        self.databases: list[NewFile] = []
        """Changed files that hold many sessions."""
        self.moved: set[int] = set()
        """Files that have another path now."""
        self.gone: list[KeptFile] = []
        self.left_out: Counter[str] = Counter()
        """The number of files that are not kept, by reason."""
        _look_again_with_other_formats(store)
        query = "SELECT path, size, mtime_ns, inode, reason FROM skipped"
        self._skipped = {path: (status, reason) for path, *status, reason in store.connection.execute(query)}
        self._stored = Counter(path.rpartition("#")[0] for path in store.files if "#" in path)
        """The number of sessions that are kept of each database."""
        self._new_files: dict[Path, NewFile] = {}
        for path in [path for path, (_, reason) in self._skipped.items() if reason == REMOVED]:
            if path not in store.forgotten.paths:  # it may come back
                del self._skipped[path]

    def look(self, roots: Iterable[Root], only: Collection[str] | None = None) -> list[Work]:
        """The sessions with something to do, the longest unchanged first; with `only`, those of these files."""
        changed: list[tuple[KeptFile, Seen]] = []
        new: list[Seen] = []
        met: set[str] = set()
        refused: Refused = {}
        roots = list(roots)
        everything = (seen for root in roots for seen in walk(root, refused, self.left_out))
        for seen in everything if only is None else look_at(only, roots, refused):
            key = path_text(seen.path)
            if key not in met:
                met.add(key)
                self._sort(key, seen, changed, new)
        places = {path_text(root.path) for root in roots}
        expected = self._store.files.keys() if only is None else {path_text(path) for path in only}
        missing = [file for file in self._missing(expected, met, places) if not _is_below(file.about.path, refused)]
        changed += self._find_moved(new, missing)
        self.problems += [unreadable(path, error) for path, error in refused.items()]
        self._detect_new(new)
        changed += self._separate_nameless()
        return sorted(self._sessions(changed), key=lambda work: work.at)

    def _sort(self, key: str, seen: Seen, changed: list[tuple[KeptFile, Seen]], new: list[Seen]) -> None:
        file = self._store.files.get(key)
        if file is not None:
            if file.is_as(seen.size, seen.mtime_ns, seen.inode) and file.is_present and not file.unchecked:
                self.unchanged += 1
            else:
                changed.append((file, seen))
            return
        status, reason = self._skipped.get(key, ([], ""))
        if status != [seen.size, seen.mtime_ns, seen.inode]:
            new.append(seen)
        elif reason == DATABASE:
            self.unchanged += self._stored[key]
        else:
            self._leave_out(reason)

    def _leave_out(self, reason: str) -> None:
        self.left_out[reason] += 1

    # Moved and gone.

    def _missing(self, expected: Iterable[str], met: set[str], roots: set[str]) -> list[KeptFile]:
        """The expected files that were kept below the roots, and were not met."""
        return [
            file
            for key in expected
            if (file := self._store.files.get(key)) is not None
            and file.is_present
            and file.about.root in roots
            and not {key, key.rpartition("#")[0]} & met
        ]

    def _find_moved(self, new: list[Seen], missing: list[KeptFile]) -> list[tuple[KeptFile, Seen]]:
        """Files that have another name now; the other missing ones are gone, and what is kept of them stays."""
        by_inode = {file.inode: file for file in missing if file.inode is not None}
        moved = []
        for seen in list(new) if by_inode else ():
            file = by_inode.get(seen.inode)
            if file is not None and self._is_same(file, seen):
                del by_inode[seen.inode]
                new.remove(seen)
                moved.append((file, seen))
        self.moved = {file.id for file, _ in moved}
        self.gone = [file for file in missing if file.id not in self.moved]
        return moved

    def _is_same(self, file: KeptFile, seen: Seen) -> bool:
        """Whether a file with another name begins with all that was kept, judged by its last bytes."""
        if seen.size < file.kept or file.kept == 0:
            return False
        try:
            with self._inputs.opened(seen.path) as source:
                return has_tail(file, source)
        except SourceError:
            return False

    # New files.

    def _detect_new(self, new: list[Seen]) -> None:
        for seen in new:
            name = seen.root.format
            is_known = name is not None and (name == JOURNALS or layout_of(name).is_session(seen.root.path, seen.path))
            try:
                found, (head, records) = self._inputs.detect(seen.path, formats()[name] if name and is_known else None)
                holds_many = found.spec is not None and self._holds_many(found.spec.name, seen.path)
            except SourceError as error:
                self.problems.append(error)
                continue
            new_file = NewFile(seen, found, records)
            if holds_many:
                self.databases.append(new_file)
            elif found.spec is None or new_file.is_empty:
                reason = _NOT_YET if b"\n" not in head else UNKNOWN
                note_skipped(self._store, seen, reason)
                self._leave_out(reason)
            elif self._is_forgotten(new_file):
                note_skipped(self._store, seen, REMOVED)
                self._leave_out(REMOVED)
            else:
                self._new_files[seen.path] = new_file

    def _holds_many(self, format_name: str, path: Path) -> bool:
        return layout_of(format_name).stored(path, self._inputs.open) is not None

    def _is_forgotten(self, new_file: NewFile) -> bool:
        """Whether a file was removed on purpose: by its run, or by its path where it does not name its run."""
        path, state = path_text(new_file.seen.path), (new_file.seen.size, new_file.seen.mtime_ns)
        if new_file.found.is_nameless:
            return self._store.forgotten.holds_back_place(path, state)
        return self._store.forgotten.holds_back(new_file.found.run_id, path, state)

    # Files that name no run.

    def _separate_nameless(self) -> list[tuple[KeptFile, Seen]]:
        """Identify files that name no run by their beginning, and by their path where others have the same beginning.

        Returns the kept files among them whose old path is gone: they have moved, and keep their run.
        """
        nameless = [each for each in self._new_files.values() if each.found.is_nameless]
        moved: list[tuple[KeptFile, Seen]] = []
        if not nameless:
            return moved
        known: dict[tuple[str, str], list[KeptFile]] = {}
        for file in self._store.by_id.values():
            if file.about.beginning:
                known.setdefault((file.about.format, file.about.beginning), []).append(file)
        met = set(known)
        for each in nameless:
            assert each.found.spec is not None
            key = (each.found.spec.name, each.found.beginning)
            old = next((file for file in known.get(key, ()) if self._has_moved(file, each)), None)
            if old is not None:
                known[key].remove(old)
                self.moved.add(old.id)
                self.gone = [file for file in self.gone if file is not old]
                del self._new_files[each.seen.path]
                moved.append((old, each.seen))
                continue
            if key in met:
                each.found = replace(each.found, place=path_text(each.seen.path))
            met.add(key)
        return moved

    def _has_moved(self, file: KeptFile, new_file: NewFile) -> bool:
        """Whether a new file is this kept one, which is not at its old path any more, with all that it had."""
        if os.path.lexists(file.about.path) or new_file.seen.size < file.kept:
            return False
        return file.about.is_document or self._is_same(file, new_file.seen)

    # Sessions.

    def _sessions(self, changed: list[tuple[KeptFile, Seen]]) -> Iterator[Work]:
        works: dict[object, Work] = {}
        for file, seen in changed:
            works.setdefault(file.about.main or file.id, Work()).changed.append((file, seen))
        self._join_families()
        for path, new_file in self._new_files.items():
            main = new_file.main or path
            known = self._store.files.get(path_text(main))
            works.setdefault(known.id if known is not None else main, Work()).new.append(new_file)
        for work in works.values():
            work.new.sort(key=lambda each: (each.main is not None, each.seen.path))
            yield work

    def _join_families(self) -> None:
        """Find the main file of every new file that is a subagent's, and the call that spawned it."""
        families: dict[tuple[str, str], list[NewFile]] = {}
        mains: dict[tuple[str, str], Detection] = {}
        for each in self._new_files.values():
            if each.found.identity.source != "main":
                families.setdefault(each.family, []).append(each)
            else:
                mains[each.family] = each.found
        for family, members in families.items():
            main = mains.get(family) or self._kept_main(*family)
            if main is None or main.spec is None:
                for each in members:
                    each.member = self._orphan(each)
                continue
            layout = layout_of(main.spec.name)
            paths = {each.seen.path for each in members}
            found: dict[Path, Member] = {}
            try:
                found = {each.path: each for each in layout.members(main, self._detect, self._inputs.open, paths)}
            except FormatFailed as error:  # the files are kept without the calls that spawned them
                self.problems.append(error)
            for each in members:
                each.main = Path(main.path)
                each.member = found.get(each.seen.path) or Member(path=each.seen.path)
            unlinked = [each.seen.path for each in members if each.member and each.member.parent_call_id is None]
            for path in layout.being_linked(unlinked):
                del self._new_files[path]  # the next look finds it with its parent

    def _orphan(self, new_file: NewFile) -> Member:
        """A subagent whose main file is missing."""
        assert new_file.found.spec is not None
        path = new_file.seen.path
        try:
            source, call_id = layout_of(new_file.found.spec.name).parent_of(path, self._inputs.open)
        except FormatFailed as error:
            self.problems.append(error)
            return Member(path=path)
        return Member(path=path, parent_source=source, parent_call_id=call_id)

    def _kept_main(self, run_id: str, format: str) -> Detection | None:
        query = "SELECT id FROM files WHERE run_id = ? AND format = ? AND source = 'main' AND main IS NULL ORDER BY id"
        row = self._store.connection.execute(query, (run_id, format)).fetchone()
        return None if row is None else detection_of(self._store.by_id[row[0]])

    def _detect(self, path: Path) -> Detection:
        if path in self._new_files:
            return self._new_files[path].found
        file = self._store.files.get(path_text(path))
        if file is None:
            raise SourceError(f"{path} is not a transcript", str(path))
        return detection_of(file)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these folders, or below one."""
    return any(path == path_text(folder) or path.startswith(f"{path_text(folder)}/") for folder in folders)


def _look_again_with_other_formats(store: Store) -> None:
    """Forget which files no format knew, if other formats are installed now than when they were looked at."""
    known = store.connection.execute("SELECT value FROM facts WHERE name = ?", (_FORMATS,)).fetchone()
    if known != (digest_of_formats(),):
        store.connection.execute("DELETE FROM skipped WHERE reason = ?", (UNKNOWN,))
        store.connection.execute("DELETE FROM facts WHERE name = ?", (_FORMATS,))


def note_skipped(store: Store, seen: Seen, reason: str) -> None:
    """Note that a file is not kept: it is not looked at again until it changes."""
    row = (path_text(seen.path), seen.size, seen.mtime_ns, seen.inode, reason)
    store.connection.execute("INSERT OR REPLACE INTO skipped VALUES (?, ?, ?, ?, ?)", row)
    if reason == UNKNOWN:
        store.connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (_FORMATS, digest_of_formats()))


def detection_of(file: KeptFile) -> Detection:
    """What a kept file is, without reading it."""
    about = file.about
    identity = Identity(native_id=about.native_id, session_id=about.session_id, source=about.source)
    return Detection(path=about.path, spec=formats().get(about.format), identity=identity, at=about.at)


def about_of(file: SourceFile, root: Root, main: KeptFile | None) -> About:
    """What is kept of a new file beside its bytes, without lone surrogates, which JSON cannot hold."""
    facts = {name: writable(getattr(file, name)) for name in _FACTS}
    place = {"path": path_text(file.path), "file": None if file.file is None else path_text(file.file)}
    fields = asdict(file) | facts | place
    return About(**fields, root=path_text(root.path), main=None if main is None else main.id)


_FACTS = ("cwd", "agent_version", "branch", "model", "agent")


def writable(fact: str | None) -> str | None:
    """A fact without lone surrogates, which JSON cannot hold."""
    return None if fact is None else fact.encode("utf-8", "replace").decode()


def moved_about(file: KeptFile, seen: Seen) -> About:
    """What is kept of a file that has another path now."""
    return replace(file.about, root=path_text(seen.root.path), path=path_text(seen.path))


def lacks_facts(file: KeptFile) -> bool:
    """Whether a main file was kept before its beginning named the folder, version, branch and model."""
    about = file.about
    is_known = about.cwd and about.agent_version and about.branch and about.model
    return about.main is None and not is_known and file.kept < HEAD_BYTES


def updated_about(file: KeptFile, found: Detection) -> About:
    """What is kept of a file whose beginning is longer now: facts that were missing are added."""
    about, identity = file.about, found.identity
    return replace(
        about,
        cwd=about.cwd or writable(identity.cwd),
        agent_version=about.agent_version or writable(identity.agent_version),
        branch=about.branch or writable(identity.branch),
        model=about.model or writable(identity.model),
        agent=about.agent or writable(identity.agent),
    )
