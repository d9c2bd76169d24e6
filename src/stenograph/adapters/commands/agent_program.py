"""Which agent a command is, and which of its sessions is the command's own."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from stenograph.adapters.following.collection import session_in
from stenograph.errors import SourceError
from stenograph.formats.base import FormatSpec, Identity
from stenograph.formats.layout import State, StoredSession
from stenograph.formats.registry import formats
from stenograph.model.moment import moment_of
from stenograph.sources.conversion import convert
from stenograph.sources.detection import Detection
from stenograph.sources.layouts import layout_of, placed_formats

LAUNCHERS = frozenset(
    {
        *("bash", "bun", "bunx", "deno", "env", "node", "nohup", "npx", "pnpm", "python", "python3", "sh", "sudo"),
        *("uv", "uvx", "yarn"),
    }
)
"""Programs that run another one, which is named somewhere after them."""

_PEEK = 1 << 18
_SLACK = 0.02  # the clock of a file system lags behind
_PAUSE = 20.0  # the pause after a search, as a multiple of its duration


def formats_of(command: Sequence[str]) -> list[FormatSpec]:
    """The formats in which the command keeps its sessions, when it is an agent that formats name as their program."""
    words = [command[0]]
    if _name(command[0]) in LAUNCHERS:
        words = [part for word in command[1:] for part in _split(word)]
    kept = [spec for spec in formats().values() if spec.is_placed or _is_in_work_folder(spec)]
    found = ([spec for spec in kept if _name(word) in spec.programs] for word in words)
    return next((specs for specs in found if specs), [])


def _is_in_work_folder(spec: FormatSpec) -> bool:
    return spec.layout is not None and spec.layout.in_work_folder


def kept_as(printed: FormatSpec) -> list[FormatSpec]:
    """The formats in which an agent keeps the sessions that it prints in this one."""
    if printed.kind != "stream":
        return []
    return [spec for spec in placed_formats() if spec.agent == printed.agent and spec.programs]


def is_printed(spec: FormatSpec) -> bool:
    """Whether a program that is an agent prints this format."""
    return spec.kind == "stream" and bool(spec.programs or kept_as(spec))


def _name(word: str) -> str:
    return os.path.basename(word).removesuffix(".js")  # noqa: PTH119  # any text, and not a path of ours


def _split(word: str) -> list[str]:
    try:
        return shlex.split(word)
    except ValueError:
        return [word]


class SessionSearch:
    """Looks for the sessions that a command writes: by the id that it printed, or by the folder it works in."""

    def __init__(self, environment: Mapping[str, str], folder: Path, began: datetime) -> None:
        """`began` is when the command was started: a session that was not written since is not its."""
        self.found: dict[str, Detection] = {}
        """The sessions by their main files, the first one first."""
        self._environment = environment
        self._home = Path(environment.get("HOME") or "/")
        self._folders = tuple(dict.fromkeys([str(folder), os.path.realpath(folder)]))
        self._began = began.timestamp() - _SLACK
        self._searched = 0.0
        self._next = 0.0
        self._before: dict[tuple[str, str], State | None] = {}
        """How far the sessions of databases had come before the command."""
        self._noted_late: set[str] = set()
        """Databases that were written between the command's start and the look at them."""
        self._is_last = False

    def note_databases(self, specs: Sequence[FormatSpec]) -> None:
        """As soon as the command has begun: note how far the sessions of its databases have come.

        When a database is written, nothing but that says which of its sessions is the command's. A quick command may
        have written it by now: then the times in its sessions say it, at the last look.
        """
        for spec, root in self._roots(specs):
            if spec.layout is None or (spec.layout.database is None and spec.layout.many is None):
                continue
            for path in layout_of(spec.name).sessions(root):
                if self._is_new(path):
                    self._noted_late.add(str(path))
                self._before |= {(str(path), each.identity.native_id): each.state for each in _mains(path, spec)}

    def by_id(self, specs: Sequence[FormatSpec], printed: Identity) -> None:
        """Look for the session that was printed, and for those that it started."""
        if not self.found:
            for spec, root in self._roots(specs):
                path = layout_of(spec.name).find(root, printed.session_id or printed.native_id)
                if path is not None and self._is_new(path):
                    self._add(path, spec, printed)
        if self.found and self._is_due():
            self._add_children(specs)

    def by_folder(self, specs: Sequence[FormatSpec]) -> None:
        """Look for sessions that were written since the command began and name its folder."""
        if self._is_due():
            for spec, path in self._new_files(specs):
                if layout_of(spec.name).stored(path) is not None:
                    self._add_stored(path, spec)
                elif str(path) not in self.found and self._names_folder(path, spec):
                    self._add(path, spec)
            if self._is_last and not self.found:
                self._add_noted_late(specs)
            self._pause()

    def hurry(self) -> None:
        """Look at once the next time: it is the last."""
        self._next = 0.0
        self._is_last = True

    def _add(self, path: Path, spec: FormatSpec, printed: Identity | None = None) -> None:
        found = session_in(path, spec)
        if found is None:
            return
        if printed is not None and layout_of(spec.name).stored(path) is not None:  # it may hold many
            found = replace(found, identity=printed)
        self.found[str(path)] = found

    def _add_noted_late(self, specs: Sequence[FormatSpec]) -> None:
        """Add sessions of databases that were written before they were noted, by the times in them."""
        for spec, path in self._new_files(specs):
            for session in _mains(path, spec) if str(path) in self._noted_late else ():
                if self._is_its(session, spec) and self._has_events_since(path, session, spec):
                    self._before.pop((str(path), session.identity.native_id), None)
            if str(path) in self._noted_late:
                self._add_stored(path, spec)

    def _has_events_since(self, path: Path, session: StoredSession, spec: FormatSpec) -> bool:
        """Whether a session has an event since the command began; times may be whole seconds."""
        events = convert(Path(f"{path}#{session.identity.native_id}"), spec, keep_raw=False)
        times = (moment_of(event.timestamp) for event in events if event.origin is None or event.origin.time is None)
        return any(each is not None and each.timestamp() >= self._began - 1 for each in times)

    def _is_its(self, session: StoredSession, spec: FormatSpec) -> bool:
        """Whether a session is of the command's folder, or of an agent that works anywhere."""
        is_anywhere = spec.layout is not None and (spec.layout.works_elsewhere or spec.layout.in_work_folder)
        return is_anywhere or session.identity.cwd in self._folders

    def _add_stored(self, path: Path, spec: FormatSpec) -> None:
        """Add the sessions in a file that may hold many: those that name the folder, and are not as they were."""
        found = session_in(path, spec)
        for session in _mains(path, spec) if found is not None else ():
            assert found is not None
            native_id = session.identity.native_id
            key, name = (str(path), native_id), f"{path}#{native_id}"
            is_as_before = key in self._before and self._before[key] == session.state
            if name not in self.found and self._is_its(session, spec) and not is_as_before:
                self.found[name] = replace(found, identity=session.identity)

    def _add_children(self, specs: Sequence[FormatSpec]) -> None:
        parents = {found.identity.native_id for found in self.found.values()}
        for spec, path in self._new_files(specs):
            if str(path) in self.found:
                continue
            found = session_in(path, spec)
            if found is not None and found.identity.parent_native_id in parents:
                self.found[str(path)] = found
                parents.add(found.identity.native_id)
        self._pause()

    def _new_files(self, specs: Sequence[FormatSpec]) -> Iterator[tuple[FormatSpec, Path]]:
        self._searched = time.monotonic()
        for spec, root in self._roots(specs):
            yield from ((spec, path) for path in layout_of(spec.name).sessions(root) if self._is_new(path))

    def _roots(self, specs: Sequence[FormatSpec]) -> Iterator[tuple[FormatSpec, Path]]:
        for spec in specs:
            yield from ((spec, root) for root in layout_of(spec.name).roots(self._environment, self._home))
            if _is_in_work_folder(spec):
                yield from ((spec, root) for root in _work_folders(self._folders[-1]))

    def _is_new(self, path: Path) -> bool:
        for each in (path, path.with_name(f"{path.name}-wal")):  # a database is written beside itself first
            with suppress(OSError):
                if each.stat().st_mtime >= self._began:
                    return True
        return False

    def _names_folder(self, path: Path, spec: FormatSpec) -> bool:
        """Whether the beginning or the end of a session names the folder; a resumed one may have begun elsewhere."""
        if spec.layout is not None and (is_of_folder := spec.layout.is_of_folder) is not None:
            return any(is_of_folder(path.as_posix(), folder) for folder in self._folders)
        sign = None if spec.layout is None else spec.layout.names_folder
        if sign is None:
            found = session_in(path, spec)
            return found is not None and found.identity.cwd in self._folders
        text = _ends_of(path)
        return any(sign(folder) in text for folder in self._folders)

    def _is_due(self) -> bool:
        return time.monotonic() >= self._next

    def _pause(self) -> None:
        """Limits searches: a home may have ten thousand sessions."""
        now = time.monotonic()
        self._next = now + (now - self._searched) * _PAUSE


def _mains(path: Path, spec: FormatSpec) -> list[StoredSession]:
    """The sessions in a file that may hold many, without those of subagents; none of a file that cannot be read."""
    stored = layout_of(spec.name).stored(path)
    try:
        with stored or nullcontext([]) as sessions:
            return [each for each in sessions if each.identity.source == "main"]
    except SourceError:  # it is being written now
        return []


def _work_folders(folder: str) -> list[Path]:
    """A folder, and the root of the repository that it is in."""
    path = Path(folder)
    roots = [each for each in (path, *path.parents) if (each / ".git").exists()][:1]
    return list(dict.fromkeys([path, *roots]))


def _ends_of(path: Path) -> bytes:
    """The beginning and the end of a file; nothing of one that cannot be read."""
    try:
        with path.open("rb") as file:
            text = file.read(_PEEK)
            end = file.seek(0, os.SEEK_END)
            if end > _PEEK:
                file.seek(max(_PEEK, end - _PEEK))
                text += file.read()
    except OSError:
        return b""
    return text
