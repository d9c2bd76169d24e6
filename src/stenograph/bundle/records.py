"""`logs/app.jsonl` and `transcript.jsonl`: log records as they were, and the run's other entries as such records.

Every entry of the run is in both files once. An adapter logs its entries while they happen; entries that were recorded
in any other way (by the run API, by a journal that was read later) were not logged, so their records are made here.
Logged entries are recognized by their ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from stenograph.bundle.spool import Spool
from stenograph.bundle.zip_member import ZipMember
from stenograph.logs.emitter import ENTRY
from stenograph.logs.formatter import as_json
from stenograph.model.pieces import has_long_text, is_plain, json_pieces
from stenograph.transcript.entry import TranscriptEntry, fields_of
from stenograph.transcript.project import EPOCH

EVENTS = "events.jsonl"
LOGS = "logs/app.jsonl"
TRANSCRIPT = "transcript.jsonl"
LOGGER = "stenograph.bundle"
"""The logger name of records that are made here."""
_OURS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
"""A timestamp as we write it."""


class _Logged(Struct):
    """An entry that was logged."""

    context: Any = None


class _Event(Struct):
    """The name of a record's event, which is all that is needed of most records."""

    event: Any = None


class _Record(Struct, frozen=True, kw_only=True):
    """A log record."""

    timestamp: str
    level: str
    logger: str
    event: str
    message: str
    context: dict[str, Any]


_encode = msgspec.json.Encoder().encode
_logged = msgspec.json.Decoder(_Logged).decode
_event = msgspec.json.Decoder(_Event).decode
_REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Records:
    """Writes both files. While every record is an entry their contents are equal, and compressed once."""

    def __init__(self, spool: Spool, mask: Callable[[bytes], bytes] | None) -> None:
        self.records = self.entries = self.wrapped = 0
        self._logged: set[str] = set()
        """The ids of logged entries that are not known to be of the run's events."""
        self._unnamed = 0
        """Logged entries that name no run: an older version wrote them, and no id identifies them."""
        self._spool = spool
        self._mask = mask
        self._logs = spool.open(LOGS)
        self._transcript: ZipMember | None = None
        self._clock = EPOCH
        self._clock_text = _utc(EPOCH)

    @property
    def only_logged(self) -> int:
        """Logged entries without an event: those of an evaluation that was not recorded."""
        return len(self._logged)

    def copy(self, line: bytes) -> None:
        """Add a line of a log; one that is not a JSON object becomes the message of a record."""
        if not line.strip():
            return
        if self._transcript is None:
            self._transcript = self._spool.open(TRANSCRIPT)
        try:
            is_entry = _event(line).event == ENTRY
            if is_entry:
                self._note(_logged(line).context)
        except _REFUSALS:
            line, is_entry = _wrapped(line), False
            self.wrapped += 1
        self._write(line, is_entry=is_entry)

    def add(self, entry: TranscriptEntry) -> None:
        """Add an entry of the run, unless it was logged; its capture time is the latest time so far."""
        if self._was_logged(entry):
            return
        context = fields_of(entry)
        if entry.timestamp > self._clock:
            self._clock = entry.timestamp
            self._clock_text = _utc(entry.timestamp, context["timestamp"])
        record = _Record(
            timestamp=self._clock_text,
            level="DEBUG",
            logger=LOGGER,
            event=ENTRY,
            message=f"transcript entry: {entry.entry_type}",
            context=context,
        )
        if self._mask is None and has_long_text(context) and is_plain(context):
            self._write_pieces(json_pieces(asdict(record)))
        else:
            self._write(_encoded(record), is_entry=True)

    def finish(self) -> None:
        """End both files."""
        self._spool.finish(LOGS)
        if self._transcript is None:
            self._spool.add_same(TRANSCRIPT, LOGS)
        else:
            self._spool.finish(TRANSCRIPT)

    def _note(self, context: Any) -> None:
        """Take note of an entry in the log."""
        if isinstance(context, dict) and isinstance(context.get("run_id"), str):
            self._logged.add(str(context.get("entry_id")))
        else:
            self._unnamed += 1

    def _was_logged(self, entry: TranscriptEntry) -> bool:
        if self._unnamed or not self._logged:
            return bool(self._unnamed)
        entry_id = str(entry.entry_id)
        if entry_id not in self._logged:
            return False
        self._logged.discard(entry_id)
        return True

    def _write_pieces(self, pieces: Iterable[bytes]) -> None:
        """Write an entry with a long text, whose line is never whole in memory."""
        for piece in chain(pieces, (b"\n",)):
            self._logs.write(piece)
            if self._transcript is not None:
                self._transcript.write(piece)
        self.records += 1
        self.entries += 1

    def _write(self, line: bytes, *, is_entry: bool) -> None:
        if self._mask is not None:
            line = self._mask(line)
        line += b"\n"
        self._logs.write(line)
        self.records += 1
        self.entries += is_entry
        if is_entry and self._transcript is not None:
            self._transcript.write(line)


def _encoded(record: _Record) -> bytes:
    try:
        return _encode(record)
    except Exception:  # noqa: BLE001  # values that JSON cannot hold, each with its own exception
        return as_json(asdict(record)).encode()


def _utc(moment: datetime, text: str = "") -> str:
    """The moment as capture times are written; `text` is the timestamp that it was read from."""
    if _OURS.fullmatch(text):
        return f"{text[:23]}+00:00"
    try:
        moment = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    except OverflowError:  # an agent's clock may be wrong, even beyond the calendar
        moment = moment.replace(tzinfo=UTC)
    return moment.isoformat(timespec="milliseconds")


def _wrapped(line: bytes) -> bytes:
    fields = {"timestamp": None, "level": None, "logger": None, "event": None}
    return as_json({**fields, "message": line.decode("utf-8", "replace"), "context": {}}).encode()
