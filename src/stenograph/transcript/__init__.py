"""The human view of a run: entries, their summary and their text. No I/O, no clock."""

from stenograph.transcript.entry import EntryType, Role, TranscriptEntry, TranscriptRole
from stenograph.transcript.project import Projector, entries
from stenograph.transcript.reconstruct import reconstruct_transcript
from stenograph.transcript.summary import TranscriptSummary, summarize
from stenograph.transcript.text import format_entry, format_transcript

__all__ = [
    "EntryType",
    "Projector",
    "Role",
    "TranscriptEntry",
    "TranscriptRole",
    "TranscriptSummary",
    "entries",
    "format_entry",
    "format_transcript",
    "reconstruct_transcript",
    "summarize",
]
