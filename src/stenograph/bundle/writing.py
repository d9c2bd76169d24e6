"""Writes the files of one bundle into its spool, in one pass over the events: a run may be larger than memory."""

from __future__ import annotations

import os
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct

from stenograph.bundle.environment import environment_files
from stenograph.bundle.manifest import NAME, BundleFile, Counts, Manifest, write_manifest
from stenograph.bundle.mask import BundleMask
from stenograph.bundle.page import PageEvents
from stenograph.bundle.readme import readme
from stenograph.bundle.records import EVENTS, Records
from stenograph.bundle.run_totals import RunTotals
from stenograph.bundle.source import Line, RunSource
from stenograph.bundle.spool import Spool
from stenograph.bundle.zip_member import ZipMember
from stenograph.clock import utc_text
from stenograph.errors import InvalidRunId, SourceError
from stenograph.fold.status import FAILED, Life, Verdict
from stenograph.journal.place import SUFFIX
from stenograph.journal.reader import open_source, read_events
from stenograph.liveness import Liveness
from stenograph.logs.formatter import as_json
from stenograph.model import Event
from stenograph.model.ids import check_run_id
from stenograph.transcript.entry import TranscriptEntry
from stenograph.transcript.project import Projector

PROOF = "proof/"
_BATCH, _BATCH_BYTES = 64, 1 << 18


class BundleOptions(Struct, frozen=True, kw_only=True):
    """What goes into a bundle beside the run."""

    redact: bool = False
    """Mask every known secret, in every file."""
    secrets: tuple[str, ...] = ()
    """Further texts that are masked, wherever they are; with any, everything is masked."""
    environment: bool = True
    """Add system, Python, packages, variables and git."""
    page: bool | None = None
    """Add `transcript.html`; None: unless the run is too long for a browser."""


class Extras(Struct, frozen=True, kw_only=True):
    """What only the recording process can add."""

    logs: Path | None = None
    """A log of JSON lines."""
    is_captured: bool = False
    """Whether that log was captured for the bundle while the run was active."""
    lost: int = 0
    """Records that this log lacks."""
    session: dict[str, bytes] = {}
    """The files of `session/`."""
    proof: dict[str, bytes] = {}
    """The files of `proof/`: the proof that the run is in a signed log."""
    error: BaseException | None = None
    """The exception that ended the run."""
    problems: tuple[str, ...] = ()


class Writing:
    """One bundle being written into its spool."""

    def __init__(
        self, spool: Spool, source: RunSource, options: BundleOptions, extras: Extras, mask: BundleMask | None
    ) -> None:
        self.at = datetime.now(UTC)
        self._spool = spool
        self._source = source
        self._options = options
        self._extras = extras
        self._event_mask = mask
        self._mask: Callable[[bytes], bytes] | None = None if mask is None else mask.data
        self._totals = RunTotals()
        self._problems = list(extras.problems)
        self._missing: list[str] = []
        self._children: dict[str, ZipMember] = {}
        """The other runs in the bundle, with their files."""

    def write(self) -> Manifest:
        self._records = Records(self._spool, self._mask)
        self._logs_kind = self._write_logs()
        self._page = PageEvents(self._spool.path, self._source.stem, self._options.page, self._source.size)
        self._write_events()
        self._records.finish()
        self._write_called()
        explanation = self._page.write(self._spool, self._problems, self._life())
        self._write_facts()
        manifest = self._manifest()
        self._add("README.txt", readme(manifest, explanation))
        files = tuple(BundleFile(name=each.name, size=each.size, sha256=each.sha256) for each in self._spool.files)
        manifest = msgspec.structs.replace(manifest, files=files)
        self._spool.add(NAME, write_manifest(manifest))
        return manifest

    def _add(self, name: str, data: bytes) -> None:
        self._spool.add(name, data if self._mask is None else self._mask(data))

    def _write_logs(self) -> str:
        """Copy the log that was captured or given; returns `Manifest.logs`."""
        logs = self._extras.logs
        if logs is None:
            return "derived"
        with os.fdopen(open_source(logs), "rb") as file:
            for line in file:
                self._records.copy(line.rstrip(b"\n"))
        if not self._records.records and self._extras.is_captured:
            return "derived"
        return "captured" if self._extras.is_captured else "given"

    def _write_events(self) -> None:
        """Write the run's events, as they are and as entries; other runs among the events get files of their own."""
        main = self._spool.open(EVENTS)
        projectors: dict[str, Projector] = defaultdict(Projector)
        for batch in _batches(self._source):
            entries: list[TranscriptEntry] = []
            for event in self._write_lines(main, batch):
                entries += projectors[event.run_id].feed(event)
            for entry in entries:
                self._totals.add_entry(entry)
                self._records.add(entry)
        self._spool.finish(EVENTS)
        for run_id in self._children:
            self._spool.finish(_child_file(run_id))

    def _write_lines(self, main: ZipMember, batch: list[tuple[Event, Line]]) -> list[Event]:
        """Write the events as they are; returns those of the run itself. Empties the batch: lines may be large."""
        is_journal = self._source.is_journal
        own: list[Event] = []
        for event, line in batch:
            if not is_journal and self._is_of_another(event):
                self._write_child(event, line)
                continue
            for piece in _ended(line):
                main.write(piece)
                if not self._page.left_out:
                    self._page.add(piece)
            self._totals.add(event)
            own.append(event)
        batch.clear()
        return own

    def _is_of_another(self, event: Event) -> bool:
        if not self._totals.events or event.run_id == self._totals.run_id:
            return False
        with suppress(InvalidRunId):
            return bool(check_run_id(event.run_id))
        return False

    def _write_child(self, event: Event, line: Line) -> None:
        run_id = check_run_id(event.run_id)
        if run_id not in self._children:
            self._children[run_id] = self._spool.open(_child_file(run_id))
        for piece in _ended(line):
            self._children[run_id].write(piece)
        self._totals.add_child(event)

    def _write_called(self) -> None:
        """Write the journals of the called runs, as far as they are in the folder of the run's own journal."""
        if not self._source.is_journal:
            self._missing = [run_id for run_id in self._totals.called if run_id not in self._children]
            return
        folder = Path(self._source.path).parent
        seen = {self._totals.run_id}
        while waiting := [run_id for run_id in self._totals.called if run_id not in seen]:
            for run_id in waiting:
                seen.add(run_id)
                self._write_journal(folder, run_id)

    def _write_journal(self, folder: Path, run_id: str) -> None:
        try:
            journal = read_events(folder / f"{check_run_id(run_id)}{SUFFIX}")
        except (InvalidRunId, SourceError):
            self._missing.append(run_id)
            return
        with self._spool.writing(_child_file(run_id)) as member:
            for event, line in RunSource(journal, mask=self._event_mask):
                for piece in _ended(line):
                    member.write(piece)
                self._totals.add_child(event)
        self._children[run_id] = member

    def _write_facts(self) -> None:
        self._add("metrics.json", _document(self._totals.metrics()))
        error = self._error()
        if error is not None:
            self._add("error.json", _document(error))
        for name, data in self._extras.proof.items():
            self._spool.add(f"{PROOF}{name}", data)  # unchanged: with one changed byte it proves nothing
        for name, data in self._extras.session.items():
            self._add(name, b"".join(self._masked_lines(data)))
        if self._options.environment:
            for name, data in environment_files(Path.cwd(), self._problems).items():
                self._add(name, data)

    def _masked_lines(self, data: bytes) -> Iterator[bytes]:
        for line in data.split(b"\n")[:-1]:
            yield (line if self._mask is None else self._mask(line)) + b"\n"

    def _error(self) -> dict[str, Any] | None:
        raised = self._extras.error
        if raised is None:
            return self._totals.error if self._verdict().status == FAILED else None
        return {
            "type": type(raised).__qualname__,
            "message": str(raised),
            "traceback": "".join(traceback.format_exception(raised)),
        }

    def _verdict(self) -> Verdict:
        return self._totals.verdict(self._life())

    def _life(self) -> Life:
        source = self._source
        is_journal = source.is_journal
        return Liveness(self.at.timestamp()).of([source.path] if is_journal else [], is_journal=is_journal)

    def _manifest(self) -> Manifest:
        totals, records, source = self._totals, self._records, self._source
        left_out = {} if self._options.environment else {"environment/": "not asked for"}
        if self._page.left_out:
            left_out["transcript.html"] = self._page.left_out
        manifest = Manifest(
            bundle_id=str(uuid4()),
            created_at=utc_text(self.at),
            program=f"stenograph {version('stenograph')}",
            run_id=totals.run_id or _run_id_in(source.stem),
            parent_run_id=totals.parent_run_id,
            child_run_ids=tuple(self._children),
            missing_run_ids=tuple(self._missing),
            session_ids=tuple(totals.session_ids),
            name=totals.name,
            agent=totals.agent,
            status=FAILED if self._extras.error is not None else self._verdict().status,
            status_reason=str(self._extras.error or self._verdict().reason),
            started_at=totals.started_at,
            ended_at=totals.ended_at,
            source=source.path,
            stem=source.stem,
            logs=self._logs_kind,
            redacted=self._mask is not None,
            counts=Counts(
                events=totals.events,
                child_events=totals.child_events,
                entries=totals.entries + records.only_logged,
                log_records=records.records,
                log_entries=records.entries,
                log_lines_wrapped=records.wrapped,
                log_records_lost=self._extras.lost,
                malformed=source.malformed,
                torn_bytes=source.torn_bytes,
                replaced=source.replaced,
            ),
            left_out=left_out,
            problems=tuple(self._problems),
        )
        if self._mask is None:
            return manifest
        return msgspec.json.decode(self._mask(msgspec.json.encode(manifest)), type=Manifest)


def _run_id_in(stem: str) -> str:
    """The run id of a journal without events."""
    with suppress(InvalidRunId):
        return check_run_id(stem)
    return ""


def _ended(line: Line) -> Iterable[bytes | memoryview]:
    """A line with its newline, in one piece unless it is long."""
    return (line + b"\n",) if isinstance(line, bytes) else chain(line, (b"\n",))


def _batches(source: RunSource) -> Iterator[list[tuple[Event, Line]]]:
    """The events in order, in batches, which is faster than every step for every single event."""
    batch: list[tuple[Event, Line]] = []
    size = 0
    for pair in source:
        batch.append(pair)
        size += len(pair[1])
        del pair  # which may be large
        if len(batch) == _BATCH or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    yield batch


def _child_file(run_id: str) -> str:
    return f"runs/{check_run_id(run_id)}{SUFFIX}"


def _document(value: Any) -> bytes:
    return msgspec.json.format(as_json(value).encode(), indent=2) + b"\n"
