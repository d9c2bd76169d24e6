"""What there is to do: which files are new, changed, moved or gone, and which belong to one session.

Unchanged files are told by their status alone. Only new ones are looked into, to know whose they are.
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
from stenograph.archive.keep.source_bytes import SourceBytes
from stenograph.archive.keep.walk import JOURNALS, Refused, Root, Seen, look_at, path_text, walk
from stenograph.archive.store.forgotten import REMOVED
from stenograph.archive.store.kept_file import KeptFile
from stenograph.archive.store.pack import About
from stenograph.archive.writer import Store
from stenograph.errors import SourceError, unreadable
from stenograph.formats.base import Identity
from stenograph.formats.registry import HEAD_BYTES, formats
from stenograph.formats.source_file import SourceFile
from stenograph.sources.detection import Detection
from stenograph.sources.layout import Member
from stenograph.sources.layouts import layout_of
from stenograph.sources.session import source_file

DATABASE = "a database, kept session by session"
_NOT_YET = "no whole line yet"
UNKNOWN = "no format knows it"


class Newcomer:
    """A file that was not kept before."""

    def __init__(self, seen: Seen, found: Detection, records: list[Any]) -> None:
        """`records` are its first ones; of thousands of files they would fill the memory, so they are not kept."""
        self.seen = seen
        self.found = found
        self.is_empty = not (records or found.is_document)
        self.member: Member | None = None
        self.main: Path | None = None
        """The main file of its session, where it is not itself that."""

    @property
    def family(self) -> tuple[str, str]:
        """What it has in common with the other files of its session: the run and the format."""
        assert self.found.spec is not None
        return self.found.run_id, self.found.spec.name

    @property
    def file(self) -> SourceFile:
        """The file and who speaks in it."""
        return source_file(self.found, self.main, self.member)


@dataclass(slots=True)
class Work:
    """One session with something to do: files that changed, and files that are new."""

    changed: list[tuple[KeptFile, Seen]] = field(default_factory=list)
    new: list[Newcomer] = field(default_factory=list)

    @property
    def format(self) -> str:
        """What its files are written in."""
        if self.changed:
            return self.changed[0][0].about.format
        spec = self.new[0].found.spec
        return "" if spec is None else spec.name

    @property
    def at(self) -> int:
        """When the last of them changed."""
        return max(seen.mtime_ns for seen in (*(seen for _, seen in self.changed), *(each.seen for each in self.new)))


class Discovery:
    """One look through some folders."""

    def __init__(self, store: Store, source: SourceBytes) -> None:
        self._store = store
        self._source = source
        self.unchanged = 0
        self.problems: list[SourceError] = []
        self.databases: list[Newcomer] = []
        """Files that hold many sessions, and changed."""
        self.moved: set[int] = set()
        """Files that have another path now."""
        self.gone: list[KeptFile] = []
        self.left_out: Counter[str] = Counter()
        """Files that are not kept, by the reason."""
        query = "SELECT path, size, mtime_ns, inode, reason FROM skipped"
        self._strangers = {path: (status, reason) for path, *status, reason in store.connection.execute(query)}
        self._stored = Counter(path.rpartition("#")[0] for path in store.files if "#" in path)
        """Sessions that are kept of each database."""
        self._newcomers: dict[Path, Newcomer] = {}
        for path in [path for path, (_, reason) in self._strangers.items() if reason == REMOVED]:
            if path not in store.forgotten.paths:  # it may come back
                del self._strangers[path]

    def look(self, roots: Iterable[Root], only: Collection[str] | None = None) -> list[Work]:
        """The sessions with something to do, the longest unchanged first; with `only`, as far as these files tell."""
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
        self._meet(new)
        changed += self._tell_apart()
        return sorted(self._sessions(changed), key=lambda work: work.at)

    def _sort(self, key: str, seen: Seen, changed: list[tuple[KeptFile, Seen]], new: list[Seen]) -> None:
        file = self._store.files.get(key)
        if file is not None:
            if file.is_as(seen.size, seen.mtime_ns, seen.inode) and file.is_present and not file.unchecked:
                self.unchanged += 1
            else:
                changed.append((file, seen))
            return
        status, reason = self._strangers.get(key, ([], ""))
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
        """Those of some files that were kept below the roots, and were not met."""
        return [
            file
            for key in expected
            if (file := self._store.files.get(key)) is not None
            and file.is_present
            and file.about.root in roots
            and not {key, key.rpartition("#")[0]} & met
        ]

    def _find_moved(self, new: list[Seen], missing: list[KeptFile]) -> list[tuple[KeptFile, Seen]]:
        """Files that have another name now; those that are nowhere are gone, which costs us nothing."""
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
        """Whether a file by another name begins with all that was kept, as its last bytes tell."""
        if seen.size < file.kept or file.kept == 0:
            return False
        try:
            with self._source.opened(seen.path) as source:
                return has_tail(file, source)
        except SourceError:
            return False

    # New files.

    def _meet(self, new: list[Seen]) -> None:
        for seen in new:
            name = seen.root.format
            is_told = name is not None and (name == JOURNALS or layout_of(name).is_session(seen.root.path, seen.path))
            try:
                found, (head, records) = self._source.detect(seen.path, formats()[name] if name and is_told else None)
            except SourceError as error:
                self.problems.append(error)
                continue
            newcomer = Newcomer(seen, found, records)
            if found.spec is not None and layout_of(found.spec.name).stored(seen.path, self._source.open) is not None:
                self.databases.append(newcomer)
            elif found.spec is None or newcomer.is_empty:
                reason = _NOT_YET if b"\n" not in head else UNKNOWN
                note_stranger(self._store, seen, reason)
                self._leave_out(reason)
            elif self._is_forgotten(newcomer):
                note_stranger(self._store, seen, REMOVED)
                self._leave_out(REMOVED)
            else:
                self._newcomers[seen.path] = newcomer

    def _is_forgotten(self, newcomer: Newcomer) -> bool:
        """Whether a file was removed on purpose: by its run, or by its place where it does not name its run."""
        path, state = path_text(newcomer.seen.path), (newcomer.seen.size, newcomer.seen.mtime_ns)
        if newcomer.found.is_nameless:
            return self._store.forgotten.holds_back_place(path, state)
        return self._store.forgotten.holds_back(newcomer.found.run_id, path, state)

    # Files that name no run.

    def _tell_apart(self) -> list[tuple[KeptFile, Seen]]:
        """Files that name no run are known by their beginning, and by their place where others begin alike.

        One of these whose old place is gone has moved, and keeps its run: that is given back.
        """
        nameless = [each for each in self._newcomers.values() if each.found.is_nameless]
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
                del self._newcomers[each.seen.path]
                moved.append((old, each.seen))
                continue
            if key in met:
                each.found = replace(each.found, place=path_text(each.seen.path))
            met.add(key)
        return moved

    def _has_moved(self, file: KeptFile, newcomer: Newcomer) -> bool:
        """Whether a new file is one that is not at its old place any more, and has all that it had."""
        if os.path.lexists(file.about.path) or newcomer.seen.size < file.kept:
            return False
        return file.about.is_document or self._is_same(file, newcomer.seen)

    # Sessions.

    def _sessions(self, changed: list[tuple[KeptFile, Seen]]) -> Iterator[Work]:
        works: dict[object, Work] = {}
        for file, seen in changed:
            works.setdefault(file.about.main or file.id, Work()).changed.append((file, seen))
        self._join_families()
        for path, newcomer in self._newcomers.items():
            main = newcomer.main or path
            known = self._store.files.get(path_text(main))
            works.setdefault(known.id if known is not None else main, Work()).new.append(newcomer)
        for work in works.values():
            work.new.sort(key=lambda each: (each.main is not None, each.seen.path))
            yield work

    def _join_families(self) -> None:
        """Find the main file of every new file that is a subagent's, and the call that spawned it."""
        families: dict[tuple[str, str], list[Newcomer]] = {}
        mains: dict[tuple[str, str], Detection] = {}
        for each in self._newcomers.values():
            if each.found.identity.source != "main":
                families.setdefault(each.family, []).append(each)
            else:
                mains[each.family] = each.found
        for family, members in families.items():
            main = mains.get(family) or self._kept_main(*family)
            if main is None or main.spec is None:
                for each in members:
                    each.member = self._alone(each)
                continue
            layout = layout_of(main.spec.name)
            paths = {each.seen.path for each in members}
            told = {each.path: each for each in layout.members(main, self._detect, self._source.open, paths)}
            for each in members:
                each.main = Path(main.path)
                each.member = told.get(each.seen.path) or Member(path=each.seen.path)
            unlinked = [each.seen.path for each in members if each.member and each.member.parent_call_id is None]
            for path in layout.being_linked(unlinked):
                del self._newcomers[path]  # the next look finds it with its parent

    def _alone(self, newcomer: Newcomer) -> Member:
        """A subagent whose session is not there."""
        assert newcomer.found.spec is not None
        path = newcomer.seen.path
        source, call_id = layout_of(newcomer.found.spec.name).parent_of(path, self._source.open)
        return Member(path=path, parent_source=source, parent_call_id=call_id)

    def _kept_main(self, run_id: str, format: str) -> Detection | None:
        query = "SELECT id FROM files WHERE run_id = ? AND format = ? AND source = 'main' AND main IS NULL ORDER BY id"
        row = self._store.connection.execute(query, (run_id, format)).fetchone()
        return None if row is None else detection_of(self._store.by_id[row[0]])

    def _detect(self, path: Path) -> Detection:
        if path in self._newcomers:
            return self._newcomers[path].found
        file = self._store.files.get(path_text(path))
        if file is None:
            raise SourceError(f"{path} is no transcript", str(path))
        return detection_of(file)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a file is one of these, or below one."""
    return any(path == path_text(folder) or path.startswith(f"{path_text(folder)}/") for folder in folders)


def note_stranger(store: Store, seen: Seen, reason: str) -> None:
    """A file that is not kept as it stands: while it stays as it is, it is not looked at again."""
    row = (path_text(seen.path), seen.size, seen.mtime_ns, seen.inode, reason)
    store.connection.execute("INSERT OR REPLACE INTO skipped VALUES (?, ?, ?, ?, ?)", row)


def detection_of(file: KeptFile) -> Detection:
    """What a kept file is, without looking at it."""
    about = file.about
    identity = Identity(native_id=about.native_id, session_id=about.session_id, source=about.source)
    return Detection(path=about.path, spec=formats().get(about.format), identity=identity, at=about.at)


def about_of(file: SourceFile, root: Root, main: KeptFile | None) -> About:
    """What is kept of a new file beside its bytes: names and facts as JSON can hold them, without lone surrogates."""
    facts = {name: writable(getattr(file, name)) for name in _FACTS}
    place = {"path": path_text(file.path), "file": None if file.file is None else path_text(file.file)}
    told = asdict(file) | facts | place
    return About(**told, root=path_text(root.path), main=None if main is None else main.id)


_FACTS = ("cwd", "agent_version", "branch", "model", "agent")


def writable(fact: str | None) -> str | None:
    """What a file says about its run, as JSON can hold it: without lone surrogates."""
    return None if fact is None else fact.encode("utf-8", "replace").decode()


def moved_about(file: KeptFile, seen: Seen) -> About:
    """The same for a file that has another path now."""
    return replace(file.about, root=path_text(seen.root.path), path=path_text(seen.path))


def has_more_to_say(file: KeptFile) -> bool:
    """Whether a session's main file was kept when its beginning did not say yet where and by what it was written."""
    about = file.about
    is_known = about.cwd and about.agent_version and about.branch and about.model
    return about.main is None and not is_known and file.kept < HEAD_BYTES


def grown_about(file: KeptFile, found: Detection) -> About:
    """What is known of a file whose beginning is longer now: what was not known before is what it says by now."""
    about, identity = file.about, found.identity
    return replace(
        about,
        cwd=about.cwd or writable(identity.cwd),
        agent_version=about.agent_version or writable(identity.agent_version),
        branch=about.branch or writable(identity.branch),
        model=about.model or writable(identity.model),
        agent=about.agent or writable(identity.agent),
    )
