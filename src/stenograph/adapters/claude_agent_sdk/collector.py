"""TranscriptCollector: records Claude's own session files while the agent writes them.

Theory of operation. Hooks only name the session's file: when a hook is called, its message is usually not in the file
yet. One thread of our own waits for changes of the files, reads them and records; the event loop never touches a file.
When the agent is done, the thread goes on until the files are quiet, since the last message reaches them a while after
the last hook.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from stenograph.adapters.capture import Capture
from stenograph.adapters.claude_agent_sdk.collector_config import TranscriptCollectorConfig
from stenograph.adapters.claude_agent_sdk.sdk_hooks import sdk_hooks
from stenograph.adapters.claude_agent_sdk.unparsed import Unparsed
from stenograph.adapters.following.following import Following
from stenograph.adapters.outputs import Outputs, Target
from stenograph.clock import utc_now
from stenograph.errors import InvalidEvent
from stenograph.fold.open_ends import OpenEnds
from stenograph.formats.base import FormatSpec
from stenograph.guard import Guard
from stenograph.journal.reader import read_events
from stenograph.journal.recorder import Mask, Recorder
from stenograph.model.event import Event, Origin
from stenograph.model.payload import ErrorPayload, UnknownPayload
from stenograph.session import Session
from stenograph.sources.detection import format_named
from stenograph.sources.known import Known, known_lines
from stenograph.sources.session_tail import SessionTail
from stenograph.sources.tail import FileTail, TailState
from stenograph.text_transcripts import ThreadTranscripts
from stenograph.watch import SAFETY_NET, Changes

_CALLS = ("tool.call", "tool.result")
_GLANCE = 0.05  # seconds between looks at the files at the end, if no change is reported
_PATIENCE = 5.0  # seconds without progress after which a read counts as hanging, once the time to drain is over


class TranscriptCollector:
    """Follows a Claude session from the first hook that names its file: `async with collector.run(): …`.

    A later hook that names another file (`/clear` begins a new session) makes it follow that one, too. It never breaks
    its host: what cannot be read is logged as `transcript.error`, and collecting goes on.
    """

    def __init__(
        self,
        *,
        prompt_name: str,
        config: TranscriptCollectorConfig | None = None,
        recorder: Target | None = None,
        session: Session | None = None,
        logger: logging.Logger | None = None,
        log: bool = True,
        adapter: str = "claude_agent_sdk",
        mask: Mask | None = None,
        known: Mapping[str | None, Known] | None = None,
        text_transcripts: ThreadTranscripts | None = None,
    ) -> None:
        """`known`, from `known_lines`, is what a journal that is continued already has."""
        self.config = config or TranscriptCollectorConfig()
        outputs = Outputs(
            recorder=recorder,
            session=session,
            logger=logger,
            log=log,
            emit_raw=self.config.emit_raw_json,
            mask=mask,
            text_transcripts=text_transcripts,
        )
        self._capture = Capture(
            prompt_name=prompt_name, adapter=adapter, outputs=outputs, parses_raw=self.config.parse_entries
        )
        spec = format_named("claude_code")
        self._spec: FormatSpec = spec if self.config.parse_entries else replace(spec, open=Unparsed)
        self._known = known
        self._recorder = recorder if isinstance(recorder, Recorder) or recorder is None else recorder.run.recorder
        self._guard = Guard(f"collector of {prompt_name!r}")
        self._paths: dict[str, None] = {}  # in the order of discovery
        self._named: set[str] = set()  # main files as hooks named them; several names may mean one file
        self._followed: set[str] = set()  # main files without links in their paths
        self._asked: deque[str] = deque()  # paths that hooks named; filled by the loop, followed by the thread
        self._agents_asked: deque[tuple[str, str]] = deque()  # subagents' files that hooks named, with their sources
        self._failure: ErrorPayload | None = None
        self._wants_snapshot = False
        self._snapshot: tuple[TailState, ...] = ()
        self._sessions: list[SessionTail] = []
        self._ends = OpenEnds()
        self._wake = threading.Event()
        self._following = Following(
            self._read_sessions,
            lambda: frozenset[Path]().union(*(session.folders for session in self._sessions)),
            self._wake,
            safety_net=max(SAFETY_NET, self.config.poll_interval),
            blind_poll=self.config.poll_interval,
            discovery_interval=self.config.subagent_discovery_interval,
        )
        self._ending = threading.Event()
        self._is_given_up = threading.Event()  # no caller waits for the thread: it must record nothing more
        self._is_running = False
        self._stopping = threading.Lock()  # protects `_is_stopped`
        self._is_stopped = True

    @property
    def prompt_name(self) -> str:
        """The name of the prompt of this session."""
        return self._capture.prompt_name

    @property
    def main_entry_count(self) -> int:
        """Entries of the main agent."""
        return self._capture.summary.entries_by_source.get("main", 0)

    @property
    def subagent_count(self) -> int:
        """Subagents with entries."""
        return sum(source != "main" for source in self._capture.summary.sources)

    @property
    def total_entries(self) -> int:
        """Entries of the main agent and all subagents."""
        return self._capture.summary.total_entries

    @property
    def transcript_paths(self) -> tuple[Path, ...]:
        """Every file that was discovered, in that order."""
        return tuple(Path(path) for path in list(self._paths))

    @property
    def lost(self) -> int:
        """What could not be recorded, logged or dispatched, all together."""
        return self._capture.lost + self._guard.lost

    @property
    def snapshot(self) -> tuple[TailState, ...]:
        """Where each file was when the agent last began to compact; empty before."""
        return self._snapshot

    # Hooks.

    async def hook_callback(self, input: Any, tool_use_id: str | None = None, context: Any = None) -> dict[str, Any]:
        """The SDK's hook. Notes where the session's file is, and changes nothing: the answer is always `{}`."""
        self._guard.attempt("a hook", self._note_hook, input)
        return {}

    def hooks_config(self, existing: Mapping[str, Iterable[Any]] | None = None) -> dict[Any, list[Any]]:
        """The hooks for `ClaudeAgentOptions(hooks=…)`: yours, when you give them, and ours after them."""
        names, matcher = sdk_hooks()
        merged = {name: list(matchers) for name, matchers in (existing or {}).items()}
        for name in names:
            merged.setdefault(name, []).append(matcher(hooks=[self.hook_callback]))
        return merged

    def _note_hook(self, input: Any) -> None:
        if not isinstance(input, Mapping):
            return
        path = input.get("transcript_path")
        if isinstance(path, str) and _may_be_a_file(path) and path not in self._named:
            self._named.add(path)
            self._asked.append(path)
        agent_path, agent_id = input.get("agent_transcript_path"), input.get("agent_id")
        if isinstance(agent_path, str) and isinstance(agent_id, str) and _may_be_a_file(agent_path):
            self._agents_asked.append((agent_path, f"subagent:{agent_id}"))
        if input.get("hook_event_name") == "PreCompact":
            self._wants_snapshot = True
        self._wake.set()

    # Running.

    @asynccontextmanager
    async def run(self) -> AsyncIterator[TranscriptCollector]:
        """Collect while the body runs, and after it until the files are quiet."""
        import asyncio

        if self._is_running:
            raise InvalidEvent("this collector is running already; make another one for another session")
        self._is_running, self._is_stopped, self._failure = True, False, None
        for event in (self._ending, self._is_given_up):
            event.clear()
        done: Future[None] = Future()
        threading.Thread(target=self._work, args=(done,), name="stenograph-collector", daemon=True).start()
        try:
            yield self
        finally:
            self._ending.set()
            self._wake.set()
            try:
                ended = asyncio.wrap_future(done)
                await asyncio.wait({ended}, timeout=self.config.drain_timeout)
                seen = -1
                while not ended.done() and seen != (seen := self._progress()):  # a backlog is read to its end
                    await asyncio.wait({ended}, timeout=_PATIENCE)
                if ended.done():
                    ended.result()
                else:
                    self._capture.error("reading a transcript file hangs; the rest of it is not recorded")
            finally:
                self._is_given_up.set()
                self._stop(is_complete=False)
                self._is_running = False

    def _work(self, done: Future[None]) -> None:
        """Run the thread; `done` gets its exception, or None."""
        done.set_running_or_notify_cancel()  # from here on it cannot be cancelled
        try:
            self._capture.start()
            changed: Changes = None
            while not self._ending.is_set():
                self._guard.attempt("a look at the files", self._look, changed)
                changed = self._following.wait()
            self._guard.attempt("the end of the files", self._drain)
            self._stop(**self._still_open())
        except BaseException as error:  # noqa: BLE001  # it is raised in the caller that waits for the thread
            self._close_files()
            done.set_exception(error)
        else:
            self._close_files()
            done.set_result(None)

    def _look(self, changed: Changes) -> int:
        """Read what is new; returns the number of events."""
        self._wake.clear()
        if self._follow_asked():
            changed = None
        count = self._following.look(changed)
        if self._follow_agents():
            count += self._following.look()
        if self._wants_snapshot:
            self._take_snapshot()
        return count

    def _follow_asked(self) -> bool:
        """Follow the sessions that hooks named; returns whether any is new."""
        count = len(self._sessions)
        while self._asked:
            path = self._asked.popleft()
            main = os.path.expanduser(path)  # noqa: PTH111  # an unknown user's folder is not an error here
            real = os.path.realpath(main)
            if real in self._followed:
                continue
            self._followed.add(real)
            self._paths[path] = None
            base = self._sessions[0].main if self._sessions else self._continued(Path(main))
            tail = SessionTail(
                Path(main),
                self._spec,
                run_id=self._capture.run_id,
                adapter=self._capture.adapter,
                prompt_name=self._capture.prompt_name,
                base=base,
                known=self._known,
                max_read_bytes=self.config.max_read_bytes,
                opened=self._note_file,
            )
            self._sessions.append(tail)
            self._capture.note("transcript.collector.path_discovered", "transcript discovered", path=path)
        return len(self._sessions) > count

    def _continued(self, main: Path) -> Path | None:
        """Continue a journal that has sessions of this agent; returns the main file of the first, if it is not `main`.

        The names of later sessions' files are relative to that one. What the journal already has of a session is not
        recorded again.
        """
        recorder = self._recorder
        if recorder is None or recorder.stats().seq == 0:
            return None
        first = next((event.origin for event in read_events(recorder.path) if _is_of_main_file(event)), None)
        if first is None:
            return None
        if self._known is None:
            self._known = known_lines(read_events(recorder.path), verbatim=recorder.mask is None)
        self._capture.continues(read_events(recorder.path))
        begun = main if first.session_id is None else main.with_name(f"{first.session_id}{main.suffix}")
        return None if begun == main else begun

    def _follow_agents(self) -> bool:
        """Follow files of subagents that hooks named and the search does not find; returns whether any is new."""
        count = len(self._agents_asked)
        is_new = count > 0 and self._follow_asked()  # a hook names its session before the subagent
        if not self._sessions:
            return False
        session = self._sessions[-1]
        for _ in range(count):  # others may come meanwhile, with sessions of their own
            path, source = self._agents_asked.popleft()
            file = Path(os.path.expanduser(path))  # noqa: PTH111  # an unknown user's folder is not an error here
            known = len(session.tails)
            # Below that folder the search finds the file, together with the call that spawned the subagent.
            if not file.is_relative_to(session.main.with_suffix("")):
                session.include(file, source)
            is_new = is_new or len(session.tails) > known
        return is_new

    def _note_file(self, tail: FileTail) -> None:
        if tail.source != "main":
            path = str(tail.path)
            self._paths[path] = None
            note = "transcript.collector.subagent_discovered"
            self._capture.note(note, "subagent transcript discovered", path=path, source=tail.source)

    def _read_sessions(self, changed: Changes, discover: bool) -> int:
        return sum(
            self._guard.attempt("a session", self._record, session, session.read(changed, discover=discover)) or 0
            for session in self._sessions
        )

    def _record(self, session: SessionTail, batches: Iterable[list[Event]]) -> int:
        count = 0
        for events in batches:
            if self._is_given_up.is_set():
                return count
            count += len(events)
            for event in events:
                if event.type in _CALLS:
                    self._ends.add(event)
                elif event.type == "unknown":
                    self._warn_of_malformed(session, event)
            self._capture.events(events)
        problems, session.problems = session.problems, []
        for problem in problems:
            self._capture.error(str(problem), path=problem.path)
        return count

    def _warn_of_malformed(self, session: SessionTail, event: Event) -> None:
        """Log a warning for a line that is not JSON; the line itself is recorded as an entry."""
        if not isinstance(event.payload, UnknownPayload) or event.payload.text is None or event.origin is None:
            return
        file = event.origin.file
        path = next((str(tail.path) for tail in session.tails if tail.file == file), str(session.main))
        message = f"line {event.origin.line} of {path} is not JSON; it is kept as it is, as an entry of type unknown"
        self._capture.error(message, path=path, line=event.origin.line)

    def _take_snapshot(self) -> None:
        """Note how far every file was read: the agent is about to compact, and may rewrite its file."""
        self._wants_snapshot = False
        self._snapshot = tuple(state for session in self._sessions for state in session.state())
        files = [
            {"path": state.path, "source": state.source, "position": state.position, "events": state.known.events}
            for state in self._snapshot
        ]
        self._capture.note("transcript.collector.snapshot", "transcript state before compaction", files=files)

    # The end.

    def _stop(self, **context: Any) -> None:
        """Report the end, once: from the thread, or from the caller that gave up waiting for it."""
        with self._stopping:
            is_first, self._is_stopped = not self._is_stopped, True
        if is_first:
            if self._failure is not None:
                self._capture.events([self._failed(self._failure)])
            self._capture.stop(**context)

    def fail(self, message: str, code: str | None = None) -> None:
        """The agent failed: add an `error` event after everything from its files."""
        self._failure = ErrorPayload(message=message, code=code)

    def _failed(self, payload: ErrorPayload) -> Event:
        capture = self._capture
        return Event(
            seq=0,
            run_id=capture.run_id,
            type="error",
            path="",
            iteration=0,
            timestamp=utc_now(),
            origin=Origin(adapter=capture.adapter, prompt_name=capture.prompt_name),
            payload=payload,
        )

    def _drain(self) -> None:
        """Read until nothing new has come for a while, then last lines without a newline."""
        now = time.monotonic()
        end, quiet = now + self.config.drain_timeout, now + self.config.quiet_period
        self._look(None)
        following = self._following
        while following.is_watching and (now := time.monotonic()) < min(end, quiet) and not self._is_given_up.is_set():
            changed = following.wait(min(_GLANCE, max(0.001, min(end, quiet) - now)))
            if self._look(changed):
                quiet = time.monotonic() + self.config.quiet_period
        self._look(None)
        for session in self._sessions:
            self._record(session, session.finish())

    def _still_open(self) -> dict[str, Any]:
        """The fields of the stop record about lines, calls and subagents that have not ended; empty if all have."""
        tails = [tail for session in self._sessions for tail in session.tails]
        found = {
            "open_lines": {str(tail.path): tail.open_bytes for tail in tails if tail.open_bytes},
            "open_calls": [end.what for end in self._ends.remaining() if end.kind == "open_call"],
            "open_subagents": [tail.source for tail in tails if _is_unfinished(tail.path)],
            "discarded_bytes": sum(tail.discarded for tail in tails),
            "missing_files": [str(tail.path) for tail in tails if not tail.was_found],
        }
        return {name: value for name, value in found.items() if value}

    def _progress(self) -> int:
        """How far all files were read, as a number that changes while they are."""
        return sum(tail.position for session in list(self._sessions) for tail in session.tails)

    def _close_files(self) -> None:
        for session in self._sessions:
            session.close()
        self._following.close()


def _is_of_main_file(event: Event) -> bool:
    """Whether an event was taken from the main file of a session of Claude."""
    origin = event.origin
    if origin is None or origin.line is None or origin.file is not None:
        return False
    return (origin.adapter or "").startswith("claude")


def _may_be_a_file(path: str) -> bool:
    """Whether a file can have that name; JSON can hold halves of surrogate pairs, and file systems cannot."""
    try:
        return bool(path) and b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def _is_unfinished(path: Path) -> bool:
    """Whether a subagent's sidecar says that it has not ended; before 2.1.3 it says nothing about that."""
    try:
        meta: Any = msgspec.json.decode(path.with_suffix(".meta.json").read_bytes())
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return isinstance(meta, dict) and "requestShape" in meta and meta.get("finished") is not True
