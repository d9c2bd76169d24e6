"""Plain-text transcripts: names, header, messages and cuts, rule by rule."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.render.text_transcript import FILE_BYTES, TOOL_LENGTH, TextTranscript, cut_text, sanitized
from stenograph.transcript import TranscriptEntry
from strategies import PATIENT

CHINA = timezone(timedelta(hours=8))
START = datetime(2026, 2, 8, 6, 30, tzinfo=UTC)


def entry(entry_type: str, content: str = "", **more: Any) -> TranscriptEntry:
    fields: dict[str, Any] = {
        "prompt_name": "",
        "adapter": "a",
        "sequence_number": 1,
        "source": "main",
        "timestamp": START,
    }
    return TranscriptEntry(**fields | {"entry_type": entry_type, "content": content} | more)


def file(*entries: TranscriptEntry, **more: Any) -> TextTranscript:
    fields: dict[str, Any] = {
        "thread_id": "thread-abc123",
        "chat_id": "chat-xyz789",
        "start": START,
        "end": START + timedelta(minutes=5),
        "mode": "agent",
        "stop_reason": "end_turn",
        "calls": 0,
        "entries": entries,
    }
    return TextTranscript(**fields | more)


def test_the_documents_first_example() -> None:
    """The example of the document, with `assistant:` as its table says."""
    example = file(
        entry("user_message", "Implement user login functionality"),
        entry("assistant_message", "I'll help you implement user login."),
        entry("tool_use", '{\n  "path": "src"\n}', tool_name="list_files", tool_call_id="1"),
        entry("tool_result", "src/\n├── components/\n└── utils/", tool_name="list_files", tool_call_id="1"),
        entry("assistant_message", "Login component created successfully."),
        calls=1,
    )
    assert example.name(CHINA) == "20260208-1430-Implement-user-login-functionality"
    assert (
        example.text(CHINA)
        == """\
Thread ID: thread-abc123
Chat ID: chat-xyz789
Time Range: 2026-02-08T14:30:00+08:00 ~ 2026-02-08T14:35:00+08:00
Agent Mode: agent
Stop Reason: end_turn
Tool Calls: 1
---

user:
<user_query>
Implement user login functionality
</user_query>

assistant:
I'll help you implement user login.

[Tool call] list_files
{"path": "src"}

[Tool result] list_files
src/
├── components/
└── utils/

assistant:
Login component created successfully.
"""
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("fix login bug", "fix-login-bug"),
        (
            "帮我修复这个bug：TypeError: Cannot read property 'name' of undefined!!!",
            "帮我修复这个bug-TypeError-Cannot-read-property-name-of-u",
        ),
        ("", "task"),
        ("!!! ???", "task"),
        ("--- ", "task"),
        ("a/../b", "a-b"),
        ("snake_case-kebab", "snake_case-kebab"),
        ("  spaced  ", "spaced"),
        ("über straße 日本語 한국어", "über-straße-日本語-한국어"),
        ("x" * 49 + "!y", "x" * 49),
        ("\x00\x1b[31m\u202e", "31m"),
    ],
)
def test_names_are_sanitized(query: str, expected: str) -> None:
    """Letters, digits, CJK, `-` and `_` stay, a run of others is one `-`, 50 characters; `task` if nothing is left."""
    assert sanitized(query) == expected


@given(st.text())
@PATIENT
def test_any_query_gives_a_safe_name(query: str) -> None:
    """Whatever was asked, the name is short, not empty, and holds nothing that a file system minds."""
    name = sanitized(query)
    assert 1 <= len(name) <= 50
    assert name == "task" or not name.startswith("-")
    assert not name.endswith("-")
    assert all(each in "-_〇" or unicodedata.category(each)[0] == "L" or each.isdecimal() for each in name)
    assert sanitized(name) == name


@given(st.text(max_size=400), st.integers(20, 250))
@PATIENT
def test_a_cut_says_so_within_the_limit(text: str, length: int) -> None:
    """Nothing is longer than allowed; what was cut is a beginning of the text and ends in the mark."""
    cut = cut_text(text, length)
    assert len(cut) <= length
    if len(text) <= length:
        assert cut == text
    else:
        assert cut.endswith("… [truncated]")
        assert text.startswith(cut.removesuffix("… [truncated]"))


@pytest.mark.parametrize("character", ["👨‍👩‍👧‍👦", "🇩🇪", "e\u0301", "👍🏽", "नि"])
def test_no_character_is_cut_in_half(character: str) -> None:
    """What people see as one character stays whole or goes whole, at every offset."""
    for offset in range(12):
        cut = cut_text("x" * offset + character * 200, TOOL_LENGTH).removesuffix("… [truncated]")
        rest = cut[offset:]
        assert rest == character * (len(rest) // len(character))
        assert rest


def test_tool_texts_are_cut_at_two_hundred() -> None:
    """Arguments and results each, the mark included; what was said is not."""
    text = file(
        entry("user_message", "q" * 500),
        entry("tool_use", "x" * 300, tool_name="a"),
        entry("tool_result", "y" * 300, tool_name="a"),
    ).text(UTC)
    assert f"[Tool call] a\n{'x' * 187}… [truncated]\n" in text
    assert f"[Tool result] a\n{'y' * 187}… [truncated]\n" in text
    assert "q" * 500 in text


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=50), st.integers(1, 40_000))
@PATIENT
def test_a_file_is_never_larger_than_its_limit(piece: str, times: int) -> None:
    """20,480 bytes, whole characters, and it says so when it was cut."""
    text = file(entry("user_message", "q"), entry("assistant_message", piece * times)).text(UTC)
    assert len(text.encode()) <= FILE_BYTES
    assert text.endswith("\n… [transcript truncated]\n") or piece * times in text


def test_a_file_has_at_most_20480_bytes() -> None:
    """As the documents say it, to the byte: one that long is whole, and a longer one is cut."""
    shortest = len(file(entry("user_message", "q"), entry("assistant_message", "x")).text(UTC).encode()) - 1
    for more, is_cut in [(0, False), (1, True), (20_480, True)]:
        answer = "x" * (20_480 - shortest + more)
        text = file(entry("user_message", "q"), entry("assistant_message", answer)).text(UTC)
        assert (answer in text) is not is_cut
        assert len(text.encode()) <= 20_480


def test_only_main_is_heard_and_it_thinks_in_silence() -> None:
    """Subagents, thinking, system prompts, usage and system events are left out."""
    text = file(
        entry("user_message", "the system prompt", role="system"),
        entry("user_message", "q"),
        entry("thinking", "secret thought"),
        entry("assistant_message", "elsewhere", source="subagent:a"),
        entry("tool_use", "{}", tool_name="Read", source="subagent:a", tool_call_id="2"),
        entry("system_event", "lifecycle"),
        entry("token_usage", "tokens"),
        stop_reason=None,
    ).text(UTC)
    assert text.endswith("Agent Mode: agent\nTool Calls: 0\n---\n\nuser:\n<user_query>\nq\n</user_query>\n")
    assert "Stop Reason" not in text


def test_errors_and_failed_tools() -> None:
    """A failed tool is a result with its error text; `[Error]` is for error events."""
    text = file(
        entry("user_message", "q"),
        entry("tool_use", '{"a": 1}', tool_name="Bash", tool_call_id="1"),
        entry("tool_result", "partial", tool_name="Bash", tool_call_id="1", metadata={"error": "exit 1"}),
        entry("error", "overloaded"),
    ).text(UTC)
    assert text.endswith('[Tool call] Bash\n{"a": 1}\n\n[Tool result] Bash\nexit 1\n\n[Error]\noverloaded\n')


def test_a_header_value_stays_on_its_line() -> None:
    """An id or a mode with newlines cannot forge a header."""
    text = file(thread_id="a\nTool Calls: 99", mode="x\n---").text(UTC)
    assert re.findall(r"^Tool Calls: .*$", text, re.MULTILINE) == ["Tool Calls: 0"]
    assert text.count("\n---\n") == 1


@pytest.mark.parametrize("cluster", ["e\u0301", "👩\u200d👧\u200d👦", "🇩🇪", "👍🏽", "\r\n", "漢"])
@pytest.mark.parametrize("shift", range(9))
def test_a_file_is_cut_between_characters(cluster: str, shift: int) -> None:
    """Wherever the limit falls: what people see as one character stays whole, or goes whole."""
    text = file(entry("assistant_message", "x" * shift + cluster * FILE_BYTES)).text(UTC)
    said, mark, rest = text.partition("\n… [transcript truncated]\n")
    assert (mark != "", rest) == (True, "")
    assert said.partition("assistant:\n" + "x" * shift)[2].replace(cluster, "") == ""
    assert FILE_BYTES - 64 < len(text.encode()) <= FILE_BYTES


def test_halves_of_characters_are_shown_as_such() -> None:
    """A lone surrogate, which no file can hold, is replaced, in a short file and in a long one."""
    for content in ("a\ud800b", "a\ud800b" * FILE_BYTES):
        text = file(entry("user_message", content)).text(UTC)
        assert "a?b" in text
        assert len(text.encode()) <= FILE_BYTES
