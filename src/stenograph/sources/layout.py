"""The files of agents, by the layouts of their formats: where they are, and which belong together.

Without a layout, every file is a session of its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from stenograph.errors import SourceError, unreadable
from stenograph.formats.base import FormatSpec, Identity
from stenograph.formats.layout import Contents, Database, Layout, ManySessions, Parent, StoredSession, is_name
from stenograph.formats.registry import HEAD_BYTES, head_records, identity_of, score_of
from stenograph.model.codec import REFUSALS
from stenograph.sources.container import opened_container
from stenograph.sources.database import head_of_database, is_database, reading
from stenograph.sources.detection import LONGEST_FIRST_LINE, Detection
from stenograph.sources.document import LARGEST
from stenograph.sources.failures import named_failures
from stenograph.sources.files import Open, open_regular
from stenograph.sources.pattern import glob_of, words_in

Detect = Callable[[Path], Detection]
SideFile = Callable[[str], bytes | None]
"""Reads an output that the agent put into a file of its own, by the name in the transcript; None where it is gone."""
_NO_LAYOUT = Layout()
_LINK_SECONDS = 60.0  # an unfinished sidecar that is older was abandoned: writing one takes far less


class Member(Struct, frozen=True, kw_only=True):
    """A file that belongs to a session beside its main one: one of its subagents."""

    path: Path
    parent_source: str | None = None
    parent_call_id: str | None = None
    """The call that spawned it, where that is known."""


class SessionFiles:
    """Finds the files of one format on the disk, by its layout."""

    def __init__(self, spec: FormatSpec | None) -> None:
        self._spec = spec
        self._layout = (None if spec is None else spec.layout) or _NO_LAYOUT

    # Finding sessions.

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """The folders in which the agent keeps its transcripts, by its environment variables and a home folder."""
        return [Path(each.path(environment, str(home))) for each in self._layout.homes]

    @property
    def deepest(self) -> int | None:
        """How many folders below a root its databases can be; None for any depth, and for formats without databases."""
        if self._layout.database is None or any("**" in each for each in self._layout.sessions):
            return None
        return max((each.count("/") for each in self._layout.sessions), default=None)

    def sessions(self, root: Path) -> Iterator[Path]:
        """The main file of every session below a root."""
        found = [path for pattern in self._layout.sessions for path in root.glob(glob_of(pattern))]
        is_one = self._is_our_database if self._layout.database else lambda path: self.is_session(root, path)
        yield from (path for path in sorted(set(found)) if is_one(path))

    def is_session(self, root: Path, path: Path) -> bool:
        """Whether a file is a session's main file by its path alone; False where only its content shows it."""
        layout = self._layout
        if layout.database is not None or not path.is_relative_to(root):
            return False
        below = path.relative_to(root).as_posix()
        if all(words_in(pattern, below) is None for pattern in layout.sessions):
            return False
        if any(words_in(pattern, path.name) is not None for pattern in layout.nearby):
            return False
        other = layout.replaced_by.get(path.suffix)
        return other is None or not path.with_suffix(other).exists()

    def is_unread(self, root: Path, path: Path) -> bool:
        """Whether a file below a root is one that the agent keeps for itself, and not a transcript."""
        if not self._layout.unread or not path.is_relative_to(root):
            return False
        below = path.relative_to(root).as_posix()
        return any(words_in(pattern, below) is not None for pattern in self._layout.unread)

    def find(self, root: Path, session_id: str) -> Path | None:
        """The main file of one session below a root; None before there is one."""
        database = self._layout.database
        if database is not None:
            return next((path for path in self.sessions(root) if _has(path, database, session_id)), None)
        found = self._named(root, self._layout.sessions, session_id, open_regular)
        mains = [path for path in found if self.is_session(root, path)]
        return next(iter(mains if self._layout.continues_in == "first" else reversed(mains)), None)

    def stored(self, path: Path, open: Open = open_regular) -> AbstractContextManager[list[StoredSession]] | None:
        """The sessions in a file that holds many, those of one run in a row; None where a file is one session."""
        database, runs = self._layout.database, self._layout.runs
        if runs is not None:
            return _contained(self._spec, path, runs, open, self.parts(path) | self._found(path, self._layout.shared))
        if self._layout.many is not None:
            return _in_file(self._spec, path, self._layout.many, open)
        return _stored(self._spec, path, database) if database is not None and is_database(path, open) else None

    def _is_our_database(self, path: Path) -> bool:
        """Whether a database is in this format; False for one that cannot be read."""
        assert self._spec is not None
        try:
            return is_database(path, open_regular) and score_of(self._spec, head_of_database(path), str(path)) > 0
        except SourceError:
            return False

    def _named(self, folder: Path, patterns: Iterable[str], session_id: str, open: Open) -> list[Path]:
        """The files whose names match a session's id, in order; where names have only a part of it, also by content."""
        shorten = self._layout.session_in_name
        name = session_id if shorten is None else shorten(session_id)
        found = sorted({path for each in patterns for path in folder.glob(glob_of(each, session=name))})
        if shorten is None:
            return found
        return [path for path in found if self._identity(path, open).native_id == session_id]

    def _identity(self, path: Path, open: Open) -> Identity:
        assert self._spec is not None
        try:
            with open(path) as file:
                records = head_records(file.read(HEAD_BYTES))
        except OSError:
            records = []
        return identity_of(self._spec, records, str(path)) if records else Identity()

    # Files of one session that are read together.

    @property
    def has_parts(self) -> bool:
        """Whether files of this format are read together."""
        return bool(self._layout.parts or self._layout.shared)

    def parts(self, main: Path) -> dict[str, Path]:
        """The further files of the session with this main file, by their paths below its folder, in order."""
        return self._found(main, self._layout.parts)

    def _found(self, main: Path, patterns: Iterable[str]) -> dict[str, Path]:
        if not any(words_in(each, _end_of(main, each.count("/"))) is not None for each in self._layout.sessions):
            return {}
        found = {path for each in patterns for path in main.parent.glob(glob_of(each)) if path != main}
        inside = {path.relative_to(main.parent).as_posix(): path for path in sorted(found) if not path.is_symlink()}
        return {name: path for name, path in inside.items() if path.is_file()}

    def main_of(self, path: Path) -> Path | None:
        """The main file of the session that a file is a part of; None for a file that is not a part."""
        for pattern in (*self._layout.parts, *self._layout.shared):
            depth = pattern.count("/")
            if depth < len(path.parents) and words_in(pattern, _end_of(path, depth)) is not None:
                main = next((each for each in self._mains_in(path.parents[depth]) if each != path), None)
                if main is not None:
                    return self.main_of(main) or main  # the main file of a subagent is a part of its session
        return None

    def _mains_in(self, folder: Path) -> Iterator[Path]:
        """The main files of sessions in a folder."""
        for pattern in self._layout.sessions:
            around, _, name = pattern.rpartition("/")
            words = words_in(around, _end_of(folder, around.count("/"))) if around else {}
            if words is not None:
                yield from sorted(folder.glob(glob_of(name, **words)))

    # Subagents.

    def members(
        self, session: Detection, detect: Detect, open: Open = open_regular, only: Collection[Path] | None = None
    ) -> list[Member]:
        """The files of the session's subagents in a stable order; none for a file that is not a session's main one.

        With `only`, those that are among these: no other file is read.
        """
        main, session_id = Path(session.path), session.identity.native_id
        if session.identity.source != "main":
            return []
        paths = [*self._below(main, session_id), *self._near(main, session_id, detect, only)]
        if not paths or not self._has_subagents(main, session_id, open):
            return []
        parents = {path: self._in_sidecar(path, open) for path in paths if only is None or path in only}
        links = self._links(main, paths, open) if None in parents.values() else {}
        found = {path: parent or links.get(self._agent_of(path), (None, None)) for path, parent in parents.items()}
        return [Member(path=path, parent_source=found[path][0], parent_call_id=found[path][1]) for path in found]

    def parent_of(self, path: Path, open: Open = open_regular) -> Parent:
        """The source and the call that spawned the file's subagent, as far as they can be found from the file's path.

        They are in its sidecar or, in a format without, in the session's main file at its usual place.
        """
        if self._layout.sidecar is not None:
            return self._in_sidecar(path, open) or (None, None)
        for pattern in self._layout.members if self._layout.links is not None else ():
            folder = path.parents[min(pattern.count("/"), len(path.parents) - 1)]
            words = words_in(pattern, path.relative_to(folder).as_posix()) or {}
            names = [each.rpartition("/")[2] for each in self._layout.sessions]
            for main in self._named(folder, names, words["session"], open) if "session" in words else ():
                if (parent := self._links(main, (), open).get(self._agent_of(path))) is not None:
                    return parent
        return None, None

    def being_linked(self, paths: Iterable[Path]) -> set[Path]:
        """Subagents' files whose sidecar is still being written, so the spawning call is not known yet."""
        sidecar = self._layout.sidecar
        if sidecar is None or not sidecar.unfinished:
            return set()
        wanted = {path.with_suffix(sidecar.suffix + sidecar.unfinished): path for path in paths}
        found = set()
        for folder in {path.parent for path in wanted}:
            for half in folder.glob(f"*{glob_of(sidecar.suffix + sidecar.unfinished)}*"):
                begins = half.name.partition(sidecar.suffix + sidecar.unfinished)[0]
                path = wanted.get(half.with_name(begins + sidecar.suffix + sidecar.unfinished))
                found |= {path} if path is not None and _is_new(half) else set()
        return found

    def separate(self, session: Path) -> Container[str]:
        """The sources with files of their own, of the session with this main file: its parser skips their records."""
        patterns = [each for each in self._layout.members if "{session}" not in each]
        return _OwnFiles(session, [*patterns, *self._layout.nearby]) if patterns else frozenset()

    def sidecar_of(self, path: Path) -> Path | None:
        """The path of a subagent's sidecar, in a format that has them."""
        sidecar = self._layout.sidecar
        return None if sidecar is None else path.with_suffix(sidecar.suffix)

    def _has_subagents(self, main: Path, session_id: str, open: Open) -> bool:
        """Whether subagents belong to this file, of all main files of its session."""
        if self._layout.continues_in == "last" or not is_name(session_id):
            return True
        names = [pattern.rpartition("/")[2] for pattern in self._layout.sessions]
        return next(iter(self._named(main.parent, names, session_id, open)), main) == main

    def _below(self, main: Path, session_id: str) -> list[Path]:
        values = {"stem": main.stem, **({"session": session_id} if is_name(session_id) else {})}
        usable = [each for each in self._layout.members if "session" in values or "{session}" not in each]
        found = {path for pattern in usable for path in _globbed(main.parent, glob_of(pattern, **values))}
        return sorted(found - {main})

    def _near(self, main: Path, session_id: str, detect: Detect, only: Collection[Path] | None) -> Iterator[Path]:
        """Files beside the main one that name its session."""
        assert self._spec is not None or not self._layout.nearby
        for path in sorted({path for each in self._layout.nearby for path in main.parent.glob(glob_of(each))}):
            if only is not None and path not in only:
                continue
            try:
                found = detect(path)
            except SourceError:  # it has just been deleted: agents delete files at any time
                continue
            is_ours = found.spec is not None and self._spec is not None and found.spec.name == self._spec.name
            if is_ours and found.identity.native_id == session_id:
                yield path

    def _agent_of(self, path: Path) -> str:
        """The id of a file's subagent, by the names of the file and of the folders around it."""
        for pattern in (*self._layout.members, *self._layout.nearby):
            inside = pattern[pattern.rfind("../") + 3 :] if "../" in pattern else pattern
            words = words_in(inside, "/".join(path.parts[-inside.count("/") - 1 :]))
            if words and "agent" in words:
                return words["agent"]
        return path.stem

    def _in_sidecar(self, path: Path, open: Open) -> Parent | None:
        """The parent of a subagent by its sidecar; None where there is none."""
        sidecar = self._layout.sidecar
        if sidecar is None:
            return None
        try:
            with open(path.with_suffix(sidecar.suffix)) as file:
                content: Any = msgspec.json.decode(file.read())
        except (OSError, *REFUSALS):
            return None
        with named_failures(self._spec, path):
            return sidecar.parent(content) if isinstance(content, dict) else None

    def _links(self, main: Path, members: Iterable[Path], open: Open) -> dict[str, Parent]:
        """The parents of subagents by the lines of transcripts."""
        links = self._layout.links
        if links is None:
            return {}
        speakers = {main: "main"}
        if links.are_nested:
            speakers |= {path: f"subagent:{self._agent_of(path)}" for path in members}
        found: dict[str, Parent] = {}
        for path, source in speakers.items():
            for record in _marked(path, links.mark, open):
                with named_failures(self._spec, path):
                    for agent_id, call_id in links.of(record):
                        found.setdefault(agent_id, (source, call_id))
        return found

    # Side files.

    def side_path(self, session: Path, session_id: str, name: str) -> Path | None:
        """The path of an output that the agent put into a file of its own, by the name in the transcript."""
        path_of = self._layout.side_file
        path = None if path_of is None else path_of(session.as_posix(), session_id, name)
        return None if path is None else Path(path)

    def side_file(self, session: Path, session_id: str, open: Open = open_regular) -> SideFile:
        """A function that reads a session's outputs which are in files of their own, by the names in the transcript."""

        def read(name: str) -> bytes | None:
            path = self.side_path(session, session_id, name)
            try:
                if path is None:
                    return None
                with open(path) as file:
                    return file.read()
            except (OSError, ValueError):  # ValueError: not a valid name on any system
                return None

        return read


class _OwnFiles:
    """The subagents of a session that have a file of their own, checked at each query."""

    def __init__(self, session: Path, patterns: list[str]) -> None:
        self._session = session
        self._patterns = patterns
        self._found: set[str] = set()

    def __contains__(self, source: object) -> bool:
        if source in self._found:
            return True
        agent_id = str(source).removeprefix("subagent:")
        if not is_name(agent_id):
            return False
        values = {"stem": self._session.stem, "agent": agent_id}
        is_there = any(any(self._session.parent.glob(glob_of(each, **values))) for each in self._patterns)
        if is_there:
            self._found.add(str(source))
        return is_there


def _globbed(folder: Path, pattern: str) -> Iterator[Path]:
    """The files of a pattern below a folder; a pattern that begins with `../` starts in the folder above it."""
    while pattern.startswith("../"):
        folder, pattern = Path(os.path.normpath(folder / "..")), pattern.removeprefix("../")
    return iter(folder.glob(pattern))


@contextmanager
def _stored(spec: FormatSpec | None, path: Path, database: Database) -> Iterator[list[StoredSession]]:
    with reading(path) as connection:
        with named_failures(spec, path):
            sessions = database.sessions(connection)
        yield sessions


@contextmanager
def _contained(
    spec: FormatSpec | None,
    path: Path,
    runs: Callable[[Contents], list[StoredSession]],
    open: Open,
    parts: Mapping[str, Path],
) -> Iterator[list[StoredSession]]:
    with opened_container(path, open, parts) as contents:
        with named_failures(spec, path):
            sessions = runs(contents)
        yield sessions


def _in_file(
    spec: FormatSpec | None, path: Path, many: ManySessions, open: Open
) -> AbstractContextManager[list[StoredSession]] | None:
    try:
        with open(path) as file, named_failures(spec, path):
            first = file.readline(LONGEST_FIRST_LINE)
            if not many.is_one(first):
                return None
            data = first + file.read(LARGEST)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(data) > LARGEST:
        raise SourceError(f"{path} is larger than {LARGEST >> 20} MB; split it into several files", str(path))
    with named_failures(spec, path):
        return nullcontext(many.sessions(data, path.as_posix()))


def _end_of(path: Path, depth: int) -> str:
    """The last names of a path: that of the file and those of `depth` folders around it."""
    return "/".join(path.parts[-depth - 1 :])


def _has(path: Path, database: Database, session_id: str) -> bool:
    with reading(path) as connection:
        return database.has_session(connection, session_id)


def _marked(path: Path, mark: bytes, open: Open) -> Iterator[Any]:
    """The records of a file whose lines hold these bytes."""
    try:
        with open(path) as file:
            for line in file:
                if mark in line:
                    try:
                        yield msgspec.json.decode(line)
                    except REFUSALS:
                        continue
    except OSError:  # the file has just been deleted; reading it will report that
        return


def _is_new(path: Path) -> bool:
    try:
        return abs(time.time() - os.stat(path).st_mtime) < _LINK_SECONDS  # noqa: PTH116  # a name from a folder
    except OSError:  # it has its final name now
        return False
