"""Events to entries, one event at a time, so that live and replayed transcripts are the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import msgspec

from stenograph.model import ids, mend
from stenograph.model.block import AttachmentBlock, Block, TextBlock, ThinkingBlock
from stenograph.model.codec import REFUSALS
from stenograph.model.event import Event, Origin
from stenograph.model.moment import moment_of
from stenograph.model.payload import (
    ErrorPayload,
    LifecyclePayload,
    MessagePayload,
    SystemPayload,
    ToolPayload,
    UsagePayload,
)
from stenograph.transcript.content import as_text, block_text, blocks_text, indented, payload_text
from stenograph.transcript.entry import ROLES, Role, TranscriptEntry
from stenograph.transcript.line import Line, Lines
from stenograph.transcript.summary import Tally

EPOCH = datetime.fromtimestamp(0, UTC)
DEFAULT_ADAPTER = "stenograph"
"""The adapter of events that do not name one."""
_TOOLS = frozenset({"tool.call", "tool.result"})
_PLAIN = frozenset({"user_message", "assistant_message", "thinking", "tool_use", "tool_result", "token_usage"})
"""The entry types whose payload adds nothing to `detail`."""
_ENTRY_TYPES = {
    "message.user": "user_message",
    "message.assistant": "assistant_message",
    "tool.call": "tool_use",
    "tool.result": "tool_result",
    "run.started": "system_event",
    "run.completed": "system_event",
    "step.started": "system_event",
    "step.completed": "system_event",
    "step.call_workflow.started": "system_event",
    "step.call_workflow.completed": "system_event",
    "system.event": "system_event",
    "token.usage": "token_usage",
    "error": "error",
    "unknown": "unknown",
}


_Piece = tuple[str, str, Role]
"""The type, the text and the role of an entry: what follows from the payload."""


class _Open:
    """An entry while it is filled in; then it becomes a `TranscriptEntry`, which takes six times as long to build."""

    __slots__ = TranscriptEntry.__slots__


class Projector:
    """Turns the events of one run into entries, in order; the entries of each source are numbered from 1."""

    def __init__(self, *, parses_raw: bool = True) -> None:
        self.parses_raw = parses_raw
        """Whether `detail` gets what the raw line adds (`sdk_entry`, `notification`); it costs as much as the rest."""
        self._moment = EPOCH  # the last timestamp that Python could read, for entries without one
        self._numbers: dict[str, int] = {}
        self._lines = Lines()
        self._tool_names: dict[str, str] = {}
        self._run_name = ""

    def feed(self, event: Event) -> list[TranscriptEntry]:
        """The entries of the next event; none for a stream chunk."""
        if event.type == "run.started" and isinstance(event.payload, LifecyclePayload):
            self._run_name = event.payload.name
        source = event.source
        line = self._lines.of(event, source)
        pieces = _pieces(event)
        if not pieces:
            return []
        self._moment = moment_of(event.timestamp) or self._moment
        return [self._entry(event, source, line, place, piece) for place, piece in enumerate(pieces)]

    def skip(self, event: Event) -> None:
        """Pass an event that was read before: only its place counts, so that later entries get the right ids."""
        self._lines.of(event, event.source)

    def pass_over(self, event: Event, tally: Tally) -> int:
        """Number and count the entries of the next event without making them; returns how many there are.

        Measured with a recorder and DEBUG logs off: with `feed` in its place, parsing and recording took 45 % more
        processor time, and recording alone 55 to 80 % more.
        """
        if event.type == "run.started" and isinstance(event.payload, LifecyclePayload):
            self._run_name = event.payload.name
        source = event.source
        line = self._lines.of(event, source)
        kinds = self._kinds(event)
        if kinds:
            self._moment = moment_of(event.timestamp) or self._moment
        for kind in kinds:
            number = self._numbers[source] = self._numbers.get(source, 0) + 1
            line.first = line.first or number
            origin = event.origin or _NO_ORIGIN
            name = self._run_name if origin.prompt_name is None else origin.prompt_name
            tally.count(kind, source, self._moment, origin.adapter or DEFAULT_ADAPTER, name)
        return len(kinds)

    def _kinds(self, event: Event) -> list[str]:
        payload = event.payload
        kind = _ENTRY_TYPES.get(event.type)
        if kind is None:
            return ["unknown"]
        if isinstance(payload, MessagePayload):
            if event.type == "message.user":
                return [kind for kind, _, _ in _user_pieces(payload)]
            return [spoken for spoken, _ in groupby(payload.blocks, _entry_type_of) if spoken is not None]
        if isinstance(payload, ToolPayload):
            self._tool_name(payload)
        return [kind]

    def _entry(self, event: Event, source: str, line: Line, place: int, piece: _Piece) -> TranscriptEntry:
        origin, payload = event.origin or _NO_ORIGIN, event.payload
        number = self._numbers[source] = self._numbers.get(source, 0) + 1
        is_first = line.first == 0
        raw = line.raw if is_first else None
        entry: Any = _Open()
        entry.entry_type, entry.content, entry.role = piece
        entry.detail = {} if entry.entry_type in _PLAIN else _detail(event)
        metadata = _metadata(payload)
        if origin.adapter:
            _add_provider_fields(origin, raw if self.parses_raw else None, entry.detail, metadata)
        if is_first:
            line.first = number
        elif line.has_source_line:
            entry.detail["of"] = line.first  # the entry that has the raw text of the same line
        entry.prompt_name = self._run_name if origin.prompt_name is None else origin.prompt_name
        entry.adapter = origin.adapter or DEFAULT_ADAPTER
        entry.sequence_number = number
        entry.source = source
        entry.timestamp = self._moment
        entry.timestamp_text = event.timestamp
        entry.run_id = event.run_id
        entry.session_id = origin.session_id
        entry.raw = raw
        entry.tool_name = entry.tool_call_id = entry.tool_input = None
        if isinstance(payload, ToolPayload) and event.type in _TOOLS:
            entry.tool_name = self._tool_name(payload)
            entry.tool_call_id = payload.call_id
            if event.type == "tool.call" and isinstance(payload.input, dict):
                entry.tool_input = payload.input
        entry.metadata = metadata or None
        entry.entry_id = ids.entry_id(event.run_id, source, self._lines.place(place))
        entry.__class__ = TranscriptEntry
        made: TranscriptEntry = entry
        return made

    def _tool_name(self, payload: ToolPayload) -> str | None:
        """The name of the tool, which often only its call has."""
        if payload.name:
            self._tool_names[payload.call_id] = payload.name
        return payload.name or self._tool_names.get(payload.call_id)


_NO_ORIGIN = Origin()


def entries(events: Iterable[Event]) -> Iterator[TranscriptEntry]:
    """The transcript of a run's events: zero or more entries each, numbered per source."""
    projectors: dict[str, Projector] = {}
    for event in events:
        projector = projectors.get(event.run_id)
        if projector is None:
            projector = projectors[event.run_id] = Projector()
        yield from projector.feed(event)


_METADATA: dict[type[Any], tuple[str, ...]] = {
    MessagePayload: ("model", "message_id", "stop_reason"),
    ToolPayload: ("error", "duration_ms"),
    LifecyclePayload: ("error",),
    UsagePayload: ("model", "message_id"),
    ErrorPayload: ("code", "retryable"),
}
"""The fields of a payload that an entry has in `metadata`, where they are set."""
_DETAIL: dict[type[Any], tuple[str, ...]] = {
    LifecyclePayload: ("result",),
    SystemPayload: ("data",),
    ErrorPayload: ("data",),
}
"""The fields of a payload that an entry has in `detail`, where they are set."""
_USAGE_FIELDS = tuple(name for name in UsagePayload.__struct_fields__ if name not in ("model", "message_id", "extra"))
"""The fields of a `token.usage` for `metadata.usage`; `model` and `message_id` are beside it in `metadata`."""


def _set_fields(payload: Any, names: tuple[str, ...]) -> dict[str, Any]:
    fields = {}
    for name in names:
        value = getattr(payload, name)
        if value is not None:
            fields[name] = value
    return fields


def _metadata(payload: Any) -> dict[str, Any]:
    """What a payload says beside its text, by the names of its fields."""
    names = _METADATA.get(payload.__class__)
    if names is None:
        return {}
    metadata = _set_fields(payload, names)
    if payload.__class__ is UsagePayload:
        metadata["usage"] = _set_fields(payload, _USAGE_FIELDS)
    return metadata


def _detail(event: Event) -> dict[str, Any]:
    """The subtype of an event, and what it carries beside its text."""
    names = _DETAIL.get(event.payload.__class__)
    carried = {} if names is None else _set_fields(event.payload, names)
    subtype = _subtype(event)
    return carried if subtype is None else {"subtype": subtype, **carried}


def _subtype(event: Event) -> str | None:
    kind = _ENTRY_TYPES.get(event.type)
    if kind is None:
        return event.type
    if kind != "system_event":
        return None
    payload = event.payload
    return payload.subtype if event.type == "system.event" and isinstance(payload, SystemPayload) else event.type


def _pieces(event: Event) -> list[_Piece]:
    """The entries of an event, as far as they follow from its payload alone."""
    payload = event.payload
    kind = _ENTRY_TYPES.get(event.type)
    if kind is None:
        return [("unknown", indented(payload), "system")]
    if isinstance(payload, MessagePayload):
        return _user_pieces(payload) if event.type == "message.user" else _assistant_pieces(payload.blocks)
    if kind == "tool_use" and isinstance(payload, ToolPayload):
        return [(kind, indented(payload.input), "assistant")]
    return [(kind, payload_text(payload), ROLES[kind])]


def _user_pieces(payload: MessagePayload) -> list[_Piece]:
    pieces: list[_Piece] = []
    if payload.system_prompt is not None:
        pieces.append(("user_message", payload.system_prompt, "system"))
    said = [block for block in payload.said if isinstance(block, TextBlock | AttachmentBlock)]
    if said or not pieces:
        pieces.append(("user_message", blocks_text(said), "user"))
    return pieces


def _assistant_pieces(blocks: Iterable[Block]) -> list[_Piece]:
    return [
        (kind, _joined(kind, run), "assistant") for kind, run in groupby(blocks, _entry_type_of) if kind is not None
    ]


def _joined(kind: str, blocks: Iterable[Block]) -> str:
    """Adjacent blocks, one below the other; thinking that is encrypted has no words, and leaves no empty line."""
    texts = map(block_text, blocks)
    return "\n".join(filter(None, texts) if kind == "thinking" else texts)


def _entry_type_of(block: Block) -> str | None:
    """The entry type of a block; None for blocks without an entry. Adjacent blocks of one type become one entry."""
    return _ENTRY_TYPES_OF_BLOCKS.get(type(block))


_ENTRY_TYPES_OF_BLOCKS = {
    TextBlock: "assistant_message",
    AttachmentBlock: "assistant_message",
    ThinkingBlock: "thinking",
}


def _add_provider_fields(origin: Origin, raw: str | None, detail: dict[str, Any], metadata: dict[str, Any]) -> None:
    """Add `sdk_entry` for a Claude line and `notification` for a Codex notification, as docs/contract.md promises."""
    adapter = origin.adapter or ""
    if adapter.startswith("claude"):
        if origin.session_id is not None:
            metadata["claude_session_id"] = origin.session_id
        line = _parsed(raw)
        if line is not None:
            detail["sdk_entry"] = line
            if isinstance(line, dict) and "type" in line:
                metadata["raw_type"] = as_text(line["type"])
    elif adapter == "codex_app_server":
        line = _parsed(raw)
        message = (
            line.get("msg", line) if isinstance(line, dict) else None
        )  # wrapped, where both directions were recorded
        if isinstance(message, dict) and "params" in message:
            detail["notification"] = message["params"]


def _parsed(raw: str | None) -> Any:
    if raw is None:
        return None
    text = raw.removeprefix("\ufeff")
    try:
        return msgspec.json.decode(text)
    except (*REFUSALS, UnicodeEncodeError):
        pass  # the formats accept more than strict JSON, so this must, too
    try:
        return mend.parse_json(text.encode("utf-8", "surrogatepass"))[0]
    except (ValueError, RecursionError):
        return None
