"""Recording a bundle: a run and everything that is logged meanwhile, packed when it ends, however it ends."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from stenograph.bundle.create import Target, write_bundle
from stenograph.bundle.retention import Retention, apply_retention
from stenograph.bundle.snapshot import session_lines
from stenograph.bundle.spool import Spool
from stenograph.bundle.tap import LogTap
from stenograph.bundle.writing import BundleOptions, Extras
from stenograph.errors import InvalidEvent, SourceError
from stenograph.guard import Guard
from stenograph.journal.place import DEFAULT_ROOT, Root
from stenograph.journal.reader import read_events
from stenograph.journal.recorder import Recorder
from stenograph.journal.run import Run, start_run
from stenograph.model import Event
from stenograph.session.session import Session


def debug_bundle(
    target: Target,
    *,
    run: Run | Recorder | None = None,
    name: str = "debug",
    root: Root = DEFAULT_ROOT,
    session: Session | None = None,
    options: BundleOptions | None = None,
    retention: Retention | None = None,
) -> BundleRecording:
    """Record a run with its logs, and make a bundle when the block ends: `with debug_bundle("bundles") as bundle: …`.

    `target` is a `.zip` or a folder. Without `run` a new one is started under `name` in `root`: `bundle.run`. What
    `session` holds before and after is added. `retention` is applied to the folder afterwards. No error of the
    bundle reaches the block; the log of `stenograph.guard` reports it, and `bundle.path` stays None.
    """
    return BundleRecording(Path(target), run, name, root, session, options or BundleOptions(), retention)


class BundleRecording:
    """A bundle being recorded; `debug_bundle` makes one."""

    def __init__(
        self,
        target: Path,
        run: Run | Recorder | None,
        name: str,
        root: Root,
        session: Session | None,
        options: BundleOptions,
        retention: Retention | None,
    ) -> None:
        self.path: Path | None = None
        """The bundle, once it is made."""
        self._target = target
        self._own_run = start_run(name, root=root) if run is None else None
        self._given = run
        self._session = session
        self._options = options
        self._retention = retention
        self._guard = Guard(f"the bundle {target}")
        self._problems: list[str] = []
        self._session_files: dict[str, bytes] = {}
        self._spool: Spool | None = None
        self._tap: LogTap | None = None
        self._pid = os.getpid()

    @property
    def run(self) -> Run:
        """The given or new run; raises `InvalidEvent` when a recorder was given instead."""
        run = self._own_run or self._given
        if not isinstance(run, Run):
            raise InvalidEvent("this bundle was given a recorder instead of a run; record with that")
        return run

    def __enter__(self) -> Self:
        self._guard.attempt("the log", self._open_tap)
        self._snapshot("before")
        if self._own_run is not None:
            self._own_run.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if os.getpid() != self._pid:  # a forked child leaves the block, too; run and bundle belong to its parent
            return
        if self._own_run is not None:
            self._own_run.__exit__(kind, error, trace)
        try:
            self._snapshot("after")
            if self._tap is not None:
                self._guard.attempt("the log", self._tap.close)
            self.path = self._guard.attempt("the bundle", self._write, error)
            if self.path is not None and self._retention is not None:
                self._guard.attempt(
                    "the removal of old bundles", apply_retention, self.path.parent, self._retention, keep=self.path
                )
        finally:
            if self._spool is not None:
                self._guard.attempt("the end of the log", self._spool.discard)

    def _open_tap(self) -> None:
        is_named = self._target.suffix.lower() == ".zip"
        self._spool = Spool(self._target.parent if is_named else self._target)
        self._tap = LogTap(self._spool.path / "captured.jsonl")
        self._tap.open()

    def _snapshot(self, when: str) -> None:
        if self._session is None:
            return
        lines = self._guard.attempt(f"the session {when} the run", session_lines, self._session)
        if lines is None:
            self._problems.append(f"session/{when}.jsonl is missing: the session could not be read")
        else:
            self._session_files[f"session/{when}.jsonl"] = lines

    def _write(self, error: BaseException | None) -> Path:
        tap, spool = self._tap, self._spool
        problems = list(self._problems)
        events = self._events(problems)
        if tap is None or spool is None:
            problems.append("logs/app.jsonl has no records: they could not be captured")
        extras = Extras(
            logs=None if tap is None or spool is None else spool.path / "captured.jsonl",
            is_captured=True,
            lost=0 if tap is None else tap.lost,
            session=self._session_files,
            error=error,
            problems=tuple(problems),
        )
        return write_bundle(self._target, events, self._options, extras, source=str(self._journal))

    @property
    def _journal(self) -> Path:
        recorded = self._own_run or self._given
        assert recorded is not None
        return recorded.path

    def _events(self, problems: list[str]) -> Iterable[Event]:
        """The events of the run; none when its journal cannot be read, since the logs are useful without them."""
        try:
            return read_events(self._journal)
        except SourceError as error:
            problems.append(f"events.jsonl is empty: {error}")
            return []
