"""What the parser makes of a wire log of the Codex adapter, to compare with what the adapter recorded."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from stenograph.formats.base import Context
from stenograph.formats.codex_app_server.parser import CodexAppServerFormat
from stenograph.model import Event, mend
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


_WRAPPER = re.compile(r'\{"dir":"(?:in|out|exit)","proc":\d+,"t":\d+\.\d+,"msg":(.*)\}', re.DOTALL)
"""A line of the log is cut as text: the message in it may be JSON that strict decoders refuse (NaN, 1e999)."""


def _unwrapped(entry: TranscriptEntry) -> TranscriptEntry:
    wrapper = _WRAPPER.fullmatch(entry.raw or "")
    if wrapper is None:
        return entry  # not the first of its line, or not JSON, which is not wrapped
    message = wrapper[1]
    value, _ = mend.parse_json(message.encode())
    return replace(entry, raw=message, content=indented(value) if entry.entry_type == "unknown" else entry.content)
