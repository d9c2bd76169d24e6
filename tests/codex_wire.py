"""What the parser makes of a wire log of the Codex adapter, to compare with what the adapter recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from stenograph.formats.base import Context
from stenograph.formats.codex_app_server import CodexAppServerFormat
from stenograph.model import Event
from stenograph.transcript import Projector, TranscriptEntry
from stenograph.transcript.content import indented


def events_of(wire: Path, run_id: str, prompt_name: str, session_id: object = None) -> list[Event]:
    """The events of one evaluation, by the parser alone; `session_id` is for what belongs to no thread."""
    own = None if session_id is None else str(session_id)
    context = Context(run_id=run_id, prompt_name=prompt_name, session_id=own)
    parser = CodexAppServerFormat(context, owns_tools=True)
    events = parser.feed(wire.read_bytes()) + parser.finish()
    assert parser.report.failed == 0
    return events


def entries_of(events: list[Event]) -> list[TranscriptEntry]:
    """Their entries in one series, as they are without the wrapper that the log has around each line."""
    projector = Projector()
    return [_unwrapped(entry) for event in events for entry in projector.feed(event)]


def _unwrapped(entry: TranscriptEntry) -> TranscriptEntry:
    try:
        wrapper = msgspec.json.decode(entry.raw or "", type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return entry  # not the first of its line, or no JSON, which is not wrapped
    content = indented(msgspec.json.decode(wrapper["msg"])) if entry.entry_type == "unknown" else entry.content
    return replace(entry, raw=bytes(wrapper["msg"]).decode(), content=content)
