"""A transcript as text for people."""

from __future__ import annotations

from collections.abc import Iterable

from stenograph.transcript.entry import TranscriptEntry

ROLE_MARKS = {"system": "⚙️ SYSTEM", "user": "👤 USER", "assistant": "🤖 ASSISTANT"}


def format_entry(entry: TranscriptEntry) -> str:
    """A header line with time and speaker, and what was said below it."""
    source = "" if entry.source == "main" else f"[{entry.source}] "
    if entry.tool_name:
        speaker = f"🔧 {entry.tool_name}"
    elif entry.role == "tool":
        speaker = "🔧 TOOL"
    else:
        speaker = ROLE_MARKS.get(entry.role, f"• {entry.role.upper()}")
    content = entry.content
    if not content and entry.metadata and "error" in entry.metadata:
        content = str(entry.metadata["error"])
    return f"{source}[{entry.timestamp:%H:%M:%S}] {speaker}\n{content}\n"


def format_transcript(entries: Iterable[TranscriptEntry]) -> str:
    """The entries in their order, a blank line between them."""
    return "\n".join(format_entry(entry) for entry in entries)
