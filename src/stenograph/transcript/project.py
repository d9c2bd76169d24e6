"""Events to entries, one event at a time, so that live and replayed transcripts are the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Struct

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
from stenograph.transcript.record import EntryRecord, entry_of
from stenograph.transcript.summary import Tally

EPOCH = datetime.fromtimestamp(0, UTC)
DEFAULT_ADAPTER = "stenograph"
"""Who took an event down that does not say."""
_PLAIN = frozenset({"user_message", "assistant_message", "thinking", "tool_use", "tool_result", "token_usage"})
"""The types of entries of which the payload has nothing for `detail`."""
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


class _Draft(Struct, gc=False):
    """An entry before it has its place in the transcript."""

    entry_type: str
    content: str
    role: Role | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_input: dict[str, Any] | None = None


class Projector:
    """Turns the events of one run into entries, in order, keeping the numbers per source."""

    def __init__(self, *, parses_raw: bool = True) -> None:
        self.parses_raw = parses_raw
        """Whether `detail` gets what the raw line tells (`sdk_entry`, `notification`); it costs as much as the rest."""
        self.moment = EPOCH
        """When the last event with an entry happened, as far as Python can read its timestamp; else the one before."""
        self._numbers: dict[str, int] = {}
        self._lines = Lines()
        self._tool_names: dict[str, str] = {}
        self._run_name = ""

    def feed(self, event: Event) -> list[TranscriptEntry]:
        """The entries of the next event; none for a stream chunk."""
        records = self._records(event)
        if not records:
            return []
        run_id, source, moment, place = event.run_id, event.source, self.moment, self._lines.place
        return [
            entry_of(record, moment, ids.entry_id(run_id, source, place(number)))
            for number, record in enumerate(records)
        ]

    def records(self, event: Event) -> list[EntryRecord]:
        """The same as JSON holds them; quicker to make, and to write."""
        records = self._records(event)
        for number, record in enumerate(records):
            record.entry_id = ids.entry_id_text(event.run_id, record.source, self._lines.place(number))
        return records

    def _records(self, event: Event) -> list[EntryRecord]:
        if event.type == "run.started" and isinstance(event.payload, LifecyclePayload):
            self._run_name = event.payload.name
        source = event.source
        line = self._lines.of(event, source)
        drafts = self._drafts(event)
        if not drafts:
            return []
        self.moment = moment_of(event.timestamp) or self.moment
        return [self._record(event, source, line, draft) for draft in drafts]

    def skip(self, event: Event) -> None:
        """Take note of an event of the run that stands before those to come, and that was told elsewhere."""
        self._lines.of(event, event.source)

    def pass_over(self, event: Event, tally: Tally) -> int:
        """Count the entries of the next event, which nobody reads; the numbers go on as ever. How many there are."""
        if event.type == "run.started" and isinstance(event.payload, LifecyclePayload):
            self._run_name = event.payload.name
        source = event.source
        line = self._lines.of(event, source)
        kinds = self._kinds(event)
        if kinds:
            self.moment = moment_of(event.timestamp) or self.moment
        for kind in kinds:
            number = self._numbers[source] = self._numbers.get(source, 0) + 1
            line.first = line.first or number
            origin = event.origin or _NOWHERE
            name = self._run_name if origin.prompt_name is None else origin.prompt_name
            tally.count(kind, source, self.moment, origin.adapter or DEFAULT_ADAPTER, name)
        return len(kinds)

    def _kinds(self, event: Event) -> list[str]:
        payload = event.payload
        kind = _ENTRY_TYPES.get(event.type)
        if kind is None:
            return ["unknown"]
        if isinstance(payload, MessagePayload):
            if event.type == "message.user":
                return [draft.entry_type for draft in _user_drafts(payload)]
            return [spoken for spoken, _ in groupby(payload.blocks, _spoken) if spoken is not None]
        if isinstance(payload, ToolPayload) and payload.name:
            self._tool_names[payload.call_id] = payload.name
        return [kind]

    def _record(self, event: Event, source: str, line: Line, draft: _Draft) -> EntryRecord:
        origin = event.origin or _NOWHERE
        number = self._numbers[source] = self._numbers.get(source, 0) + 1
        is_first = line.first == 0
        raw = line.raw if is_first else None
        detail = {} if draft.entry_type in _PLAIN else _detail(event)
        metadata = _metadata(event.payload)
        if origin.adapter:
            _add_provider_fields(origin, raw if self.parses_raw else None, detail, metadata)
        if is_first:
            line.first = number
        elif line.is_told:
            detail["of"] = line.first
        return EntryRecord(
            prompt_name=self._run_name if origin.prompt_name is None else origin.prompt_name,
            adapter=origin.adapter or DEFAULT_ADAPTER,
            entry_type=draft.entry_type,
            sequence_number=number,
            source=source,
            timestamp=event.timestamp,
            run_id=event.run_id,
            session_id=origin.session_id,
            detail=detail or None,
            raw=raw,
            role=draft.role or ROLES[draft.entry_type],
            content=draft.content,
            tool_name=draft.tool_name,
            tool_call_id=draft.tool_call_id,
            tool_input=draft.tool_input,
            metadata=metadata or None,
        )

    def _drafts(self, event: Event) -> list[_Draft]:
        payload = event.payload
        kind = _ENTRY_TYPES.get(event.type)
        if kind is None:
            return [_Draft("unknown", indented(payload))]
        if isinstance(payload, MessagePayload):
            return _user_drafts(payload) if event.type == "message.user" else _assistant_drafts(payload.blocks)
        if isinstance(payload, ToolPayload):
            return [self._tool_draft(kind, payload)]
        return [_Draft(kind, payload_text(payload))]

    def _tool_draft(self, kind: str, payload: ToolPayload) -> _Draft:
        if payload.name:
            self._tool_names[payload.call_id] = payload.name
        draft = _Draft(
            kind,
            indented(payload.input) if kind == "tool_use" else payload_text(payload),
            tool_name=payload.name or self._tool_names.get(payload.call_id),
            tool_call_id=payload.call_id,
        )
        if kind == "tool_use" and isinstance(payload.input, dict):
            draft.tool_input = payload.input
        return draft


_NOWHERE = Origin()


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
"""Those that it has in `detail`."""
_USAGE_FIELDS = tuple(name for name in UsagePayload.__struct_fields__ if name not in ("model", "message_id", "extra"))
"""What `metadata.usage` has of a `token.usage`: all but what stands beside it."""


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
    """What an event is in particular, and what it carries beside its text."""
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


def _user_drafts(payload: MessagePayload) -> list[_Draft]:
    drafts = []
    if payload.system_prompt is not None:
        drafts.append(_Draft("user_message", payload.system_prompt, role="system"))
    said = [block for block in payload.said if isinstance(block, TextBlock | AttachmentBlock)]
    if said or not drafts:
        drafts.append(_Draft("user_message", blocks_text(said), role="user"))
    return drafts


def _assistant_drafts(blocks: Iterable[Block]) -> list[_Draft]:
    return [_Draft(kind, _joined(kind, run)) for kind, run in groupby(blocks, _spoken) if kind is not None]


def _joined(kind: str, blocks: Iterable[Block]) -> str:
    """Adjacent blocks, one below the other; thinking that is encrypted has no words, and leaves no empty line."""
    texts = map(block_text, blocks)
    return "\n".join(filter(None, texts) if kind == "thinking" else texts)


def _spoken(block: Block) -> str | None:
    """What a block is in a transcript; adjacent ones of a kind are one entry, and some are none."""
    return _SPOKEN.get(type(block))


_SPOKEN = {TextBlock: "assistant_message", AttachmentBlock: "assistant_message", ThinkingBlock: "thinking"}


def _add_provider_fields(origin: Origin, raw: str | None, detail: dict[str, Any], metadata: dict[str, Any]) -> None:
    """What the seeds promise for a Claude line and a Codex notification."""
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
        message = line.get("msg", line) if isinstance(line, dict) else None  # a recording of both directions wraps it
        if isinstance(message, dict) and "params" in message:
            detail["notification"] = message["params"]


def _parsed(raw: str | None) -> Any:
    if raw is None:
        return None
    text = raw.removeprefix("\ufeff")
    try:
        return msgspec.json.decode(text)
    except (*REFUSALS, UnicodeEncodeError):
        pass  # the formats take more than strict JSON, so we do, too
    try:
        return mend.parse_json(text.encode("utf-8", "surrogatepass"))[0]
    except (ValueError, RecursionError):
        return None
