"""The events of a growing session: of its main file, and of the files of subagents as they appear."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from stenograph.errors import SourceError
from stenograph.formats.base import Format, FormatSpec
from stenograph.model.event import Event
from stenograph.sources.cursor import opened_by
from stenograph.sources.detection import Detection, detect_file
from stenograph.sources.known import Known
from stenograph.sources.layout import Member
from stenograph.sources.layouts import layout_of
from stenograph.sources.session import context_of
from stenograph.sources.tail import MAX_READ_BYTES, FileTail, TailState

OPEN_FILES = 64
"""Files that are kept open at once; a process has few file descriptors, and a session may have hundreds of files."""
_FRESH_NS = 100_000_000  # a folder that changed this recently may change again with the same modification time
_LINK_WAIT = 0.5  # seconds that a subagent's file waits for its sidecar, which names the spawning call


class SessionTail:
    """Follows all files of one session. For one thread at a time.

    Per file the events are those that `convert` gives afterwards, except for what the agent writes only later: the time
    of lines before the first that has one, and in old layouts the call that spawned a subagent.
    """

    def __init__(
        self,
        main: Path,
        spec: FormatSpec,
        *,
        run_id: str | None = None,
        adapter: str | None = None,
        prompt_name: str | None = None,
        keep_raw: bool = True,
        base: Path | None = None,
        known: Mapping[str | None, Known] | None = None,
        max_read_bytes: int = MAX_READ_BYTES,
        opened: Callable[[FileTail], None] | None = None,
    ) -> None:
        """`main` need not exist yet. `base` is the run's main file when this session is not the run's first.

        `known` is what was emitted before, by file name; `opened` is called when a file has its first line.
        """
        self.main = Path(os.path.abspath(main))  # noqa: PTH100  # not resolved: the watch reports names as given
        self.problems: list[SourceError] = []
        """Files that could not be read; the caller that reports them empties the list."""
        self._base = self.main if base is None else Path(os.path.abspath(base))  # noqa: PTH100  # the same
        self._spec = spec
        self._layout = layout_of(spec.name)
        self._fields = {"adapter": adapter, "prompt_name": prompt_name} | ({} if run_id is None else {"run_id": run_id})
        self._keep_raw = keep_raw
        self._known = known or {}
        self._max_read_bytes = max_read_bytes
        self._opened = opened
        self._announced: set[str | None] = set()
        self._session: Detection | None = None
        self._found: dict[Path, Detection] = {}
        self._other_files: set[str] = set()  # files nearby that belong to other sessions
        self._seen: dict[Path, int] | None = None  # the folders at the last search for members; None: search again
        self._is_unsettled = True  # search for members whatever changed
        self._is_pending = False  # a file nearby could not be identified yet
        self._tails: dict[str, FileTail] = {}
        self._in_use: dict[str, FileTail] = {}  # with an open file, the longest unused first
        self._unlinked: dict[Path, float] = {}  # subagents without a known parent, and since when
        self._is_last_look = False
        self._included: dict[str, str] = {}  # files of subagents in other folders, with their sources
        self._add(self.main, None)
        self._folders = self._folders_now()

    @property
    def folders(self) -> frozenset[Path]:
        """The folders to watch now; each of them exists."""
        return frozenset(self._folders)

    @property
    def tails(self) -> tuple[FileTail, ...]:
        """Every file that is followed, the main one first."""
        return tuple(self._tails.values())

    def state(self) -> tuple[TailState, ...]:
        """The state of each file; `{each.file: each.known …}` lets another tail go on."""
        return tuple(tail.state() for tail in self._tails.values())

    def read(self, changed: Collection[str] | None = None, *, discover: bool = True) -> Iterator[list[Event]]:
        """Everything that is complete now, in order per file; of the changed paths only, when they are given.

        With `discover` false it does not search for new files. A file that cannot be read is added to `problems`.
        """
        wanted = self._tails if changed is None else [path for path in changed if path in self._tails]
        for path in sorted(wanted, key=lambda path: path != str(self.main)):
            yield from self._events_of(path, FileTail.read)
        if discover and self._is_due(changed):
            for path in self._discovered(changed or ()):
                yield from self._events_of(path, FileTail.read)

    def finish(self) -> Iterator[list[Event]]:
        """Everything that is complete now, and last lines that lack only their newlines. Reading may go on after."""
        self._is_last_look = self._is_unsettled = True
        try:
            yield from self.read()
            for path in list(self._tails):
                yield from self._events_of(path, FileTail.finish)
        finally:
            self._is_last_look = False

    def include(self, path: Path, source: str) -> None:
        """Follow one more file, in any folder, with this source; it need not exist yet. No effect if it is followed."""
        path = Path(os.path.abspath(path))  # noqa: PTH100  # not resolved, as the main file is not
        real = os.path.realpath(path)
        if any(os.path.realpath(tail.path) == real for tail in self._tails.values()):
            return
        self._included[str(path)] = source
        self._add(path, Member(path=path))
        self._folders = self._folders_now()

    def close(self) -> None:
        """Close all files; the next read opens them again."""
        for tail in self._in_use.values():
            tail.close()
        self._in_use.clear()

    def _events_of(self, path: str, events: Callable[[FileTail], Iterator[list[Event]]]) -> Iterator[list[Event]]:
        tail = self._in_use.pop(path, None) or self._tails[path]
        self._in_use[path] = tail
        if len(self._in_use) > OPEN_FILES:
            self._in_use.pop(next(iter(self._in_use))).close()
        try:
            yield from events(tail)
        except SourceError as error:
            self.problems.append(error)

    # Opening.

    def _add(self, path: Path, member: Member | None) -> None:
        file = None if path == self._base else os.path.relpath(path, self._base.parent)
        tail = FileTail(
            path,
            lambda: self._parser(tail, member),
            file=file,
            known=self._known.get(file),
            max_read_bytes=self._max_read_bytes,
        )
        self._tails[str(path)] = tail

    def _parser(self, tail: FileTail, member: Member | None) -> Format:
        found = detect_file(tail.path, self._spec)
        if member is None:
            self._session, self._is_unsettled = found, True  # only now can members be searched
        main = None if member is None else self.main
        context = context_of(found, main, member, keep_raw=self._keep_raw)
        context = replace(context, source=self._included.get(str(tail.path), context.source))
        tail.source = context.source
        if tail.file not in self._announced and self._opened is not None:
            self._opened(tail)
        self._announced.add(tail.file)
        return opened_by(self._spec, replace(context, file=tail.file, **self._fields), str(tail.path))

    # Discovery.

    def _is_due(self, changed: Collection[str] | None) -> bool:
        if self._is_unsettled:
            return True
        if changed is None:
            return self._seen != _times(self._folders)
        return any(self._may_belong(path) for path in changed)

    def _may_belong(self, path: str) -> bool:
        """Whether a path that changed may be a new file of this session, or a folder with one."""
        if path in self._tails or path in self._other_files:
            return False
        return path.endswith(self.main.suffix) or os.path.isdir(path)  # noqa: PTH112  # text, and often

    def _discovered(self, changed: Collection[str]) -> list[str]:
        """Search for the session's files; returns the paths of new ones."""
        self._is_unsettled = self._session is None
        seen = _times(self._folders_now())
        self._is_pending = False
        is_old = all(time.time_ns() - at > _FRESH_NS for at in seen.values())
        known = set(self._tails)
        if self._session is not None:
            for member in self._layout.members(self._session, self._detect):
                if str(member.path) not in known and (linked := self._linked(member)) is not None:
                    self._add(member.path, linked)
        for path in changed:
            if self._may_belong(path) and self._is_other_file(Path(path)):
                self._other_files.add(path)
        self._folders = set(seen)
        self._seen = seen if is_old and not self._is_pending else None
        return [path for path in self._tails if path not in known]

    def _linked(self, member: Member) -> Member | None:
        """The subagent with the call that spawned it; None while the agent is still writing which it was."""
        if member.parent_call_id is not None or self._is_last_look:
            return member
        is_being_linked = bool(self._layout.being_linked([member.path]))
        source, call_id = self._layout.parent_of(member.path)  # read last: by now the sidecar may be there
        since = self._unlinked.setdefault(member.path, time.monotonic())
        if call_id is not None:
            return replace(member, parent_source=source, parent_call_id=call_id)
        if not is_being_linked or time.monotonic() - since > _LINK_WAIT:
            return member
        self._is_unsettled = True
        return None

    def _is_other_file(self, path: Path) -> bool:
        """Whether a file nearby belongs to another session; not known before it has a whole line."""
        try:
            return path.is_file() and self._detect(path).spec is not None
        except SourceError:
            return False

    def _detect(self, path: Path) -> Detection:
        found = self._found.get(path)
        if found is None:
            found = detect_file(path)
            if found.spec is None:  # not written yet, perhaps
                self._is_pending = True
            else:
                self._found[path] = found
        return found

    def _folders_now(self) -> set[Path]:
        """The folders of the main file and of included ones (or the nearest existing ones), and the session's own."""
        near = {_nearest(path.parent) for path in (self.main, *map(Path, self._included))}
        return {*near, *(Path(folder) for folder, _, _ in os.walk(self.main.with_suffix("")))}


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest existing one above it."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


def _times(folders: Collection[Path]) -> dict[Path, int]:
    times = {}
    for folder in folders:
        try:
            times[folder] = folder.stat().st_mtime_ns
        except OSError:  # removed since: not to be watched
            continue
    return times
