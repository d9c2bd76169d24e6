"""Checking a journal against the wire format; strict where reading is tolerant."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from stenograph.errors import InvalidRunId
from stenograph.fold.open_ends import OpenEnds
from stenograph.journal.line_tree import evidence_of
from stenograph.journal.lines import LineReader
from stenograph.journal.reader import open_source
from stenograph.liveness import is_being_written
from stenograph.merkle import RootTree
from stenograph.model import mend
from stenograph.model.codec import Decoder
from stenograph.model.event import EVENT_TYPES, Event
from stenograph.model.ids import check_run_id
from stenograph.model.moment import moment_of
from stenograph.model.payload import LifecyclePayload


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One problem or remark."""

    kind: str
    message: str
    line: int | None = None
    seq: int | None = None
    problem: bool = True
    """False for a remark that is not a problem."""


class JournalReport(Struct, frozen=True, kw_only=True):
    """The outcome of a check."""

    path: str
    ok: bool
    """No problem was found."""
    run_id: str | None
    lines: int
    events: int
    """Lines that are events."""
    last_seq: int
    live: bool
    """A recorder is writing it now, so open runs, steps and calls are not a problem."""
    findings: tuple[Finding, ...]


def verify_journal(path: str | os.PathLike[str]) -> JournalReport:
    """Check a journal: numbers, lines, ends, permissions. Raises `SourceError` when it cannot be read."""
    return _Check(Path(path)).report()


class _Check:
    """One pass over one journal."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fd = open_source(path)
        self.decoder = Decoder()
        self.ends = OpenEnds()
        self.lines = self.events = self.last_seq = 0
        self.run_id: str | None = None
        self.findings: list[Finding] = []
        self.without: Counter[str] = Counter()
        self.tree = RootTree()

    def report(self) -> JournalReport:
        try:
            live = is_being_written(self.fd)
            self._check_place()
            reader = LineReader(self.fd)
            while lines := reader.read():
                for line in lines:
                    self._check_line(line)
            torn = os.fstat(self.fd).st_size - reader.offset
        finally:
            os.close(self.fd)
        if torn:
            self._note(
                "torn_tail",
                f"the last {torn} bytes are an unfinished line; steno repair sets them aside",
                problem=not live,
            )
        for name, number in sorted(self.without.items()):
            what = f"{number} line{'s' if number > 1 else ''} without {name}"
            self._note("fields", f"{what}, read as {_READ_AS[name]!r}", problem=False)
        for end in self.ends.remaining():
            is_open = end.kind.startswith("open")
            self._note(end.kind, f"{_END_TEXTS[end.kind]}: {end.what}", seq=end.seq, problem=not (live and is_open))
        return JournalReport(
            path=str(self.path),
            ok=not any(finding.problem for finding in self.findings),
            run_id=self.run_id,
            lines=self.lines,
            events=self.events,
            last_seq=self.last_seq,
            live=live,
            findings=tuple(self.findings),
        )

    def _note(
        self,
        kind: str,
        message: str,
        *,
        line: int | None = None,
        seq: int | None = None,
        problem: bool = True,
    ) -> None:
        self.findings.append(Finding(kind=kind, message=message, line=line, seq=seq, problem=problem))

    def _check_place(self) -> None:
        status = self.path.lstat()
        if stat.S_ISLNK(status.st_mode):
            self._note("symlink", "the journal is a symbolic link; it will not be written through")
        mode = os.fstat(self.fd).st_mode & 0o777
        if mode & 0o077:
            self._note("permissions", f"others can reach the file (mode {mode:04o}); chmod 600 {self.path}")
        folder = self.path.absolute().parent
        if folder.name == "transcripts" and folder.stat().st_mode & 0o077:
            self._note("permissions", f"others can reach the folder {folder}; chmod 700 {folder}")

    def _check_line(self, line: bytes) -> None:
        self.lines += 1
        self._check_event(line)
        self.tree.append(line)

    def _check_event(self, line: bytes) -> None:
        malformed, replaced, mended = self.decoder.malformed, self.decoder.replaced, self.decoder.mended
        event = self.decoder.decode(line)
        if self.decoder.malformed > malformed or not line.strip():
            self._note("malformed", "the line is not JSON", line=self.lines)
            return
        if self.decoder.replaced > replaced:
            self._note("encoding", "the line holds characters that UTF-8 cannot", line=self.lines, seq=event.seq)
        elif self.decoder.mended > mended and event.seq > 0 and event.type in EVENT_TYPES:
            self._check_fields(line, event)
        for kind, message in self._flaws(event):
            self._note(kind, message, line=self.lines, seq=event.seq)
        self._check_evidence(event)
        if event.seq > 0:
            self.events += 1
            self._check_seq(event.seq)
            self.ends.add(event)
        if event.type not in EVENT_TYPES:
            self._note(
                "unknown_type",
                f"{event.type} is not an event type of this version",
                line=self.lines,
                seq=event.seq,
                problem=False,
            )

    def _check_evidence(self, event: Event) -> None:
        """Compare what the end of a run says about the lines before it with those lines."""
        said = event.payload.evidence if isinstance(event.payload, LifecyclePayload) else None
        if said is None or said == evidence_of(self.tree):
            return
        what = (
            f"{said.leaves} lines before it, but there are {self.tree.size}"
            if said.leaves != self.tree.size
            else f"other lines before it: one of these {said.leaves} was changed after the run had ended"
        )
        self._note("evidence", f"the end of the run names {what}", line=self.lines, seq=event.seq)

    def _check_fields(self, line: bytes, event: Event) -> None:
        """Note what does not fit the wire format; other writers may leave out path and iteration."""
        given = mend.parse_json(line)[0]
        without = {name: value for name, value in _READ_AS.items() if name not in given}
        self.without.update(without.keys())
        if without and _fits(without | given):
            return
        misfits = _misfits(given, event)
        self._note("fields", f"does not fit the wire format: {misfits}", line=self.lines, seq=event.seq)

    def _check_seq(self, seq: int) -> None:
        expected = self.last_seq + 1
        if seq == self.last_seq:
            self._note("duplicate", f"seq {seq} is there twice", line=self.lines, seq=seq)
        elif seq < expected:
            self._note("disorder", f"seq {seq} comes after {self.last_seq}", line=self.lines, seq=seq)
        elif seq > expected:
            missing = f"{expected}" if seq == expected + 1 else f"{expected} to {seq - 1}"
            self._note("gap", f"seq {missing} missing before {seq}", line=self.lines, seq=seq)
        self.last_seq = max(self.last_seq, seq)

    def _flaws(self, event: Event) -> Iterator[tuple[str, str]]:
        """What is wrong with one event by itself, and with the run that it names."""
        if event.seq < 1:
            yield "not_an_event", "the line is JSON, but not an event: it has no seq"
            return
        if self.run_id is None:
            self.run_id = event.run_id
            try:
                if check_run_id(event.run_id) != self.path.stem:
                    yield "run_id", f"run {event.run_id} is in a file named {self.path.name}"
            except InvalidRunId:
                yield "run_id", f"{event.run_id!r} is not a run id"
        elif event.run_id != self.run_id:
            yield "run_id", f"an event of run {event.run_id} in the journal of {self.run_id}"
        if moment_of(event.timestamp) is None:
            yield "timestamp", f"{event.timestamp!r} is not a timestamp"


_END_TEXTS = {
    "open_run": "the run has not ended",
    "open_step": "a step has not ended",
    "open_call": "a tool call has no result",
    "stray_step": "a step ended that had not begun",
    "stray_result": "a result has no call",
}


_READ_AS = {"iteration": 0, "path": ""}
"""Fields that say where in a workflow an event belongs, with the values that a line without them gets."""


def _fits(value: dict[str, Any]) -> bool:
    decoder = Decoder()
    decoder.decode(msgspec.json.encode(value))
    return not decoder.mended


def _misfits(given: dict[str, Any], event: Event) -> str:
    """The fields that a line lacks and those it should not have, as far as they can be named."""
    lacks = [field.name for field in fields(Event) if field.required and field.name not in {*given, *_READ_AS}]
    odd = sorted([*(event.extra or ()), *(getattr(event.payload, "extra", None) or ())])
    said = [f"lacks {', '.join(lacks)}"] if lacks else []
    said += [f"unexpected {', '.join(odd)}"] if odd else []
    return "; ".join(said) or "something inside its payload or origin"
