"""`logs/app.jsonl` and `transcript.jsonl`: log records as they were, or the entries of a run as such records."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha1
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from stenograph.bundle.member import Member
from stenograph.bundle.spool import Spool
from stenograph.logs.emitter import ENTRY
from stenograph.logs.formatter import as_json
from stenograph.model.ids import _ENTRY_NAMESPACE
from stenograph.transcript.entry import TranscriptEntry

LOGS = "logs/app.jsonl"
TRANSCRIPT = "transcript.jsonl"
LOGGER = "stenograph.bundle"
"""Under which entries are logged that nobody logged while they happened."""

_NAMESPACE = _ENTRY_NAMESPACE.bytes
_EPOCH = datetime.fromtimestamp(0, UTC)


class _Named(Struct):
    """As much of a record as tells whether it is an entry."""

    event: Any = None


class _Context(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`TranscriptEntry.as_dict` with the entry's id, made in a third of the time."""

    prompt_name: str
    adapter: str
    entry_type: str
    sequence_number: int
    source: str
    timestamp: str
    session_id: str | None = None
    detail: dict[str, Any] | None = None
    raw: str | None = None
    role: str
    content: str
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_input: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    entry_id: str


class _Record(Struct, frozen=True, kw_only=True):
    """A log record."""

    timestamp: str
    level: str
    logger: str
    event: str
    message: str
    context: _Context


_encode = msgspec.json.Encoder().encode
_named = msgspec.json.Decoder(_Named).decode
_REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Records:
    """Writes both files. While every record is an entry they are the same, and compressed once."""

    def __init__(self, spool: Spool, mask: Callable[[bytes], bytes] | None) -> None:
        self.records = self.entries = self.wrapped = 0
        self._spool = spool
        self._mask = mask
        self._logs = spool.open(LOGS)
        self._transcript: Member | None = None
        self._clock = _EPOCH

    def copy(self, line: bytes) -> None:
        """Add a line of a log; one that is no JSON object becomes the message of a record."""
        if not line.strip():
            return
        if self._transcript is None:
            self._transcript = self._spool.open(TRANSCRIPT)
        try:
            is_entry = _named(line).event == ENTRY
        except _REFUSALS:
            line, is_entry = _wrapped(line), False
            self.wrapped += 1
        self._write(line, is_entry=is_entry)

    def add(self, entry: TranscriptEntry) -> None:
        """Add an entry that was not logged; its capture time is the latest time told so far."""
        self._clock = max(self._clock, entry.timestamp)
        record = _Record(
            timestamp=_utc(self._clock),
            level="DEBUG",
            logger=LOGGER,
            event=ENTRY,
            message=f"transcript entry: {entry.entry_type}",
            context=_context(entry),
        )
        self._write(_encoded(record), is_entry=True)

    def finish(self) -> None:
        """End both files."""
        self._spool.finish(LOGS)
        if self._transcript is None:
            self._spool.add_same(TRANSCRIPT, LOGS)
        else:
            self._spool.finish(TRANSCRIPT)

    def _write(self, line: bytes, *, is_entry: bool) -> None:
        if self._mask is not None:
            line = self._mask(line)
        line += b"\n"
        self._logs.write(line)
        self.records += 1
        self.entries += is_entry
        if is_entry and self._transcript is not None:
            self._transcript.write(line)


def _context(entry: TranscriptEntry) -> _Context:
    return _Context(
        prompt_name=entry.prompt_name,
        adapter=entry.adapter,
        entry_type=entry.entry_type,
        sequence_number=entry.sequence_number,
        source=entry.source,
        timestamp=entry.timestamp.isoformat() if entry.timestamp_text is None else entry.timestamp_text,
        session_id=entry.session_id,
        detail=entry.detail or None,
        raw=entry.raw,
        role=entry.role,
        content=entry.content,
        tool_name=entry.tool_name,
        tool_call_id=entry.tool_call_id,
        tool_input=entry.tool_input,
        metadata=entry.metadata or None,
        entry_id=_id_text(entry),
    )


def _id_text(entry: TranscriptEntry) -> str:
    """`str(entry.entry_id)`, in a tenth of the time: the id is most of what a record costs."""
    if entry.given_id is not None:
        return str(entry.given_id)
    name = f"{entry.session_id or entry.run_id or ''}\n{entry.source}\n{entry.sequence_number}"
    digest = sha1(_NAMESPACE + name.encode("utf-8", "backslashreplace"), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


def _encoded(record: _Record) -> bytes:
    try:
        return _encode(record)
    except Exception:  # noqa: BLE001  # values that JSON has no form for, each with an exception of its own
        fields = {name: getattr(record.context, name) for name in _Context.__struct_fields__}
        context = {name: value for name, value in fields.items() if value is not None}
        return as_json({**asdict(record), "context": context}).encode()


def _utc(moment: datetime) -> str:
    try:
        moment = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    except OverflowError:  # an agent's clock may stand anywhere, also at the edge of what a calendar holds
        moment = moment.replace(tzinfo=UTC)
    return moment.isoformat(timespec="milliseconds")


def _wrapped(line: bytes) -> bytes:
    fields = {"timestamp": None, "level": None, "logger": None, "event": None}
    return as_json({**fields, "message": line.decode("utf-8", "replace"), "context": {}}).encode()
