"""Plain-text transcripts, one per unit: their names, their header, their messages, and where they are cut.

Only messages of `main` are included, without its thinking. Nothing is escaped: the files are for people and for agents
that read text. A cut is marked, within the limit.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo

from msgspec import Struct

from stenograph.transcript.entry import TranscriptEntry

QUERY_LENGTH = 50
TOOL_LENGTH = 200
FILE_BYTES = 20_480
FALLBACK = "task"

_CUT = "… [truncated]"
FILE_CUT = "\n… [transcript truncated]\n"
_ZERO_WIDTH_JOINER = "\u200d"


class TextTranscript(Struct, frozen=True, kw_only=True):
    """One unit as a text file."""

    thread_id: str
    chat_id: str
    start: datetime
    end: datetime
    mode: str
    stop_reason: str | None
    """Why the agent stopped; left out of the header when it is not known."""
    calls: int
    """Tool calls of the main agent, as `fold.calls` counts them."""
    entries: tuple[TranscriptEntry, ...]

    def name(self, zone: tzinfo | None) -> str:
        """`{YYYYMMDD}-{HHmm}-{query}`, in local time, without its suffix."""
        query = next((entry.content for entry in self.entries if _is_query(entry)), "")
        return f"{self.start.astimezone(zone):%Y%m%d-%H%M}-{sanitized(query)}"

    def identity(self, zone: tzinfo | None) -> str:
        """The beginning of the text, which is unique in the thread."""
        ids = f"Thread ID: {_line(self.thread_id)}\nChat ID: {_line(self.chat_id)}"
        return f"{ids}\nTime Range: {_time(self.start, zone)} ~"

    def text(self, zone: tzinfo | None) -> str:
        """The whole file, within its size."""
        entries = [entry for entry in self.entries if entry.source == "main"]
        header = [f"{self.identity(zone)} {_time(self.end, zone)}", f"Agent Mode: {_line(self.mode)}"]
        if self.stop_reason:
            header.append(f"Stop Reason: {_line(self.stop_reason)}")
        header += [f"Tool Calls: {self.calls}", "---"]
        return _within(FILE_BYTES, "\n\n".join(["\n".join(header), *_messages(entries)]) + "\n")


def sanitized(query: str) -> str:
    """A query as part of a file name: letters, digits, CJK, `-` and `_`; every run of anything else is one `-`."""
    kept: list[str] = []
    was_other = False
    for character in query:
        if _stays(character):
            kept.append(character)
            was_other = False
        elif not was_other:
            kept.append("-")
            was_other = True
        if len(kept) > 4 * QUERY_LENGTH:  # a query may be very long
            break
    return cut_text("".join(kept).strip("-"), QUERY_LENGTH, mark="").strip("-") or FALLBACK


def cut_text(text: str, length: int, mark: str = _CUT) -> str:
    """The text within a number of characters; when something is left out, it ends with the mark."""
    if len(text) <= length:
        return text
    end = length - len(mark)
    start = max(0, end - 32)  # combined characters are short; a longer chain is not one
    whole = next((at for at in range(end, start, -1) if not _is_inside(text, at)), end)
    return text[:whole] + mark


def _within(size: int, text: str) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= size:
        return data.decode()
    kept = data[: size - len(FILE_CUT.encode())].decode("utf-8", "ignore")
    start = max(0, len(kept) - 32)
    whole = next((at for at in range(len(kept), start, -1) if not _is_inside(text, at)), len(kept))
    return kept[:whole] + FILE_CUT


def _messages(entries: Iterable[TranscriptEntry]) -> Iterator[str]:
    for entry in entries:
        if _is_query(entry):
            yield f"user:\n<user_query>\n{entry.content}\n</user_query>"
        elif entry.entry_type == "assistant_message" and entry.content:
            yield f"assistant:\n{entry.content}"
        elif entry.entry_type == "tool_use":
            yield f"[Tool call] {_line(entry.tool_name or '')}\n{cut_text(_params(entry), TOOL_LENGTH)}"
        elif entry.entry_type == "tool_result":
            yield f"[Tool result] {_line(entry.tool_name or '')}\n{cut_text(_result(entry), TOOL_LENGTH)}"
        elif entry.entry_type == "error":
            yield f"[Error]\n{entry.content}"


def _is_query(entry: TranscriptEntry) -> bool:
    return entry.entry_type == "user_message" and entry.role == "user"


def _params(entry: TranscriptEntry) -> str:
    """The arguments on one line, as the model gave them."""
    try:
        value = json.loads(entry.content)
    except ValueError:
        return entry.content
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _result(entry: TranscriptEntry) -> str:
    """The output, or why the tool failed."""
    return str((entry.metadata or {}).get("error") or entry.content)


def _time(moment: datetime, zone: tzinfo | None) -> str:
    return moment.astimezone(zone).isoformat(timespec="seconds")


def _line(text: str) -> str:
    """A header's value on one line."""
    return " ".join(text.split())


def _stays(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "L" or category == "Nd" or character in "-_〇"


def _is_inside(text: str, at: int) -> bool:
    """Whether a cut before this place would split what people see as one character."""
    if at <= 0 or at >= len(text):
        return False
    after = text[at]
    if unicodedata.category(after)[0] == "M" or after == _ZERO_WIDTH_JOINER or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if text[at - 1] == _ZERO_WIDTH_JOINER or (text[at - 1] == "\r" and after == "\n"):
        return True
    if not _is_flag_half(after):
        return False
    before = at
    while before and _is_flag_half(text[before - 1]):
        before -= 1
    return (at - before) % 2 == 1


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
