"""Records a command: its agent's own session, else its output, else only that it ran. Never two of them."""

from __future__ import annotations

import os
import shlex
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import ParamSpec
from uuid import uuid4

from msgspec.structs import replace

from stenograph.adapters.commands.agent_program import SessionSearch, formats_of, is_printed, kept_as
from stenograph.adapters.commands.output import Output
from stenograph.adapters.following.collection import SessionCollection, unrecorded
from stenograph.errors import StenographError, StoreError, StoreLocked
from stenograph.formats.base import FormatSpec, Identity
from stenograph.journal.place import journal_path
from stenograph.journal.reader import read_events
from stenograph.journal.recorder import Recorder
from stenograph.model.block import CommandBlock
from stenograph.model.payload import LifecyclePayload, ToolPayload
from stenograph.sources.conversion import convert, convert_stream
from stenograph.sources.detection import Detection, detect_head
from stenograph.sources.session import STREAM
from stenograph.text_transcripts import ThreadTranscripts

P = ParamSpec("P")

_PACE = 0.25
_LAST_WAIT = 3.0
"""Seconds that another process that writes a session's journal has to record its last lines."""


class CommandRecording:
    """Records one command while it runs. Never raises; `problems` says what went wrong."""

    def __init__(
        self,
        command: Sequence[str],
        root: Path,
        output: Output,
        *,
        is_copied: bool,
        began: datetime,
        known: Callable[[Path], None],
        text_transcripts: ThreadTranscripts | None = None,
    ) -> None:
        """`is_copied`: whether we copy its output; `known` is called with each journal as soon as it exists.

        At the end `text_transcripts` writes every run.
        """
        self.problems: list[str] = []
        self.has_no_texts = False
        """Whether text transcripts were wanted and there was nothing to write: no run has a prompt."""
        self._command = command
        self._root = root
        self._output = output
        self._is_copied = is_copied
        self._began = began
        self._known = known
        self._texts = text_transcripts
        self._journals: list[Path] = []  # those that we write
        self._reported: set[Path] = set()  # those that `known` was called with
        self._formats = formats_of(command)
        self._cwd = str(Path.cwd())
        self._search = SessionSearch(os.environ, Path(self._cwd), began)
        self._attempt(self._search.note_databases, self._formats)
        self._collections: dict[str, SessionCollection] = {}
        self._refused: dict[str, Detection] = {}  # sessions whose journals another process writes, for now
        self._stream: Detection | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="steno-recording", daemon=True)

    @property
    def journals(self) -> list[Path]:
        """The journals of what was recorded, those included that another process writes."""
        return sorted(self._reported)

    def start(self) -> None:
        """Begin to look for sessions and to record them."""
        self._thread.start()

    def finish(self, code: int) -> None:
        """Record the rest: the command has ended with this exit code."""
        self._stop.set()
        self._thread.join()
        self.problems.clear()  # what failed until now is tried once more, from where the journals are
        self._search.hurry()
        self._attempt(self._look, is_over=True)
        for path in self._search.found:
            self._attempt(self._advance, path, is_over=True)
        for path in list(self._refused):
            self._attempt(self._ask_again, path)
        if not self._search.found:
            self._attempt(self._record_output, code)
        for collection in self._collections.values():
            self._attempt(collection.close)
        self._output.forget()
        if self._texts is not None:
            self._attempt(self._write_texts, self._texts)

    def _write_texts(self, texts: ThreadTranscripts) -> None:
        """Write the runs as plain text; those that another process records, from the agent's own files."""
        written: list[Path] = []
        for journal in self._journals:
            written += texts.write(read_events(journal))
        for path, found in self._refused.items():
            events = convert(Path(path), found.spec)
            written += texts.write(event for event in events if event.run_id == found.run_id)
        self.has_no_texts = not written

    # While it runs.

    def _watch(self) -> None:
        while not self._stop.wait(_PACE):
            self._attempt(self._look)
            for path in self._search.found:
                self._attempt(self._advance, path)

    def _look(self, *, is_over: bool = False) -> None:
        """Look for sessions: by the id that was printed, and without one by the folder."""
        stream = self._printed()
        printed = [] if stream is None or stream.spec is None else kept_as(stream.spec)
        if stream is not None and printed:
            self._search.by_id(*self._own(printed, stream.identity))
        elif self._formats and (is_over or not self._is_copied or b"\n" in self._output.head):
            self._search.by_folder(self._formats)
        if self._search.found:
            self._output.forget()

    def _own(self, printed: list[FormatSpec], identity: Identity) -> tuple[list[FormatSpec], Identity]:
        """Where to look for a printed session: a fork prints what its origin prints, and keeps it at its own place."""
        agents = {spec.agent.id for spec in printed}
        if not self._formats or any(spec.agent.id in agents for spec in self._formats):
            return printed, identity
        session_id = identity.session_id or identity.native_id
        return self._formats, Identity(native_id=session_id, session_id=session_id)

    def _printed(self) -> Detection | None:
        """What the output is, once it is known to be an agent's stream and to name a session."""
        if self._search.found:
            return self._stream
        head = self._output.head
        found = detect_head(head[: head.rfind(b"\n") + 1], STREAM, self._began)
        is_stream = found.spec is not None and is_printed(found.spec) and found.identity.native_id
        self._stream = found if is_stream else None
        return self._stream

    def _advance(self, path: str, *, is_over: bool = False) -> None:
        """Record what a session has by now; after an error it is reopened, and continues its journal.

        A journal that another process writes is tried again each time: that process may end before the session.
        """
        if path not in self._collections and not self._open(path):
            return
        collection = self._collections[path]
        try:
            collection.finish() if is_over else collection.read()
        except StenographError:
            del self._collections[path]
            collection.close()
            raise
        for problem in collection.problems():
            raise problem

    def _open(self, path: str) -> bool:
        """Whether the journal of a session is ours to write; its path is made known either way."""
        found = self._search.found[path]
        try:
            collection = SessionCollection(found, self._root)
        except StoreLocked:  # by the agent's hooks, or by another `steno run` of the same session
            self._refused[path] = found
            self._report(journal_path(self._root, found.run_id))
            return False
        self._refused.pop(path, None)
        self._collections[path] = collection
        self._note(collection.recorder.path)
        return True

    def _ask_again(self, path: str) -> None:
        """At the end: wait until the journal has the whole session or is ours, and say what it lacks otherwise."""
        found = self._refused[path]
        until = time.monotonic() + _LAST_WAIT
        while missing := unrecorded(found, self._root):
            self._advance(path, is_over=True)
            if path not in self._refused:
                return
            if time.monotonic() > until:
                journal = journal_path(self._root, found.run_id)
                raise StoreError(
                    f"{missing} events of {path} are not recorded: another process writes {journal}; "
                    f"when it has ended, run: steno collect --idle 0 {shlex.quote(path)}",
                    str(journal),
                )
            time.sleep(_PACE)

    def _note(self, path: Path) -> None:
        if path not in self._journals:
            self._journals.append(path)
        self._report(path)

    def _report(self, path: Path) -> None:
        if path not in self._reported:  # a session is opened anew after an error
            self._reported.add(path)
            self._known(path)

    # When there is no session.

    def _record_output(self, code: int) -> None:
        stream = self._printed()
        if stream is None:
            self._record_command(code)
        else:
            self._record_stream(stream)
        if self._output.lost:
            self.problems.append(f"{self._output.lost} bytes of the output could not be kept and are not recorded")

    def _record_stream(self, stream: Detection) -> None:
        """Record the output of an agent without session files: one journal for each of its runs."""
        recorders: dict[str, Recorder] = {}
        try:
            for event in convert_stream(self._output.stream(), stream.spec, at=self._began):  # type: ignore[arg-type]  # it reads
                if event.run_id not in recorders:
                    recorders[event.run_id] = self._new_journal(event.run_id, event.parent_run_id)
                recorders[event.run_id].append(event)
        finally:
            for recorder in recorders.values():
                recorder.close()

    def _record_command(self, code: int) -> None:
        """Record that a command ran, and its result."""
        line = shlex.join(self._command)
        ended = datetime.now(UTC)
        name = Path(self._command[0]).name
        call = ToolPayload(name="command", call_id=uuid4().hex, input=None, output=None, fidelity="router")
        begun = {"input": {"command": line}, "blocks": (CommandBlock(fidelity="router", command=line),)}
        done = {
            "output": {"exit_code": code, **({"stdout": self._output.text()} if self._is_copied else {})},
            "duration_ms": round((ended - self._began).total_seconds() * 1000, 3),
        }
        with self._new_journal(str(uuid4()), None) as recorder:
            record = recorder.record
            begins = LifecyclePayload(name=name, kind="command", cwd=self._cwd)
            record("run.started", begins, timestamp=self._began)
            record("tool.call", replace(call, **begun), timestamp=self._began)
            record("tool.result", replace(call, **done), timestamp=ended)
            result = LifecyclePayload(name=name, kind="command", result={"exit_code": code})
            record("run.completed", result, timestamp=ended)

    def _new_journal(self, run_id: str, parent_run_id: str | None) -> Recorder:
        """The journal of a run; of a new one, where that run was recorded before from something else."""
        if journal_path(self._root, run_id).exists():
            run_id = str(uuid4())
        recorder = Recorder(self._root, run_id=run_id, parent_run_id=parent_run_id)
        self._note(recorder.path)
        return recorder

    def _attempt(self, step: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            step(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  # our failure must not be the command's
            text = str(error) if isinstance(error, StenographError) else f"{type(error).__name__}: {error}"
            if text not in self.problems:
                self.problems.append(text)
