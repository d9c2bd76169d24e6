"""A transcript as the oldest document prints it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from stenograph.transcript import Role, TranscriptEntry, format_entry, format_transcript


def _entry(role: Role, content: str, second: int = 32, **more: Any) -> TranscriptEntry:
    at = datetime(2026, 6, 8, 9, 15, second, 999_999, tzinfo=UTC)
    return TranscriptEntry.message(role=role, content=content, created_at=at, **more)


def test_the_example_of_the_document() -> None:
    """Header marks, times, the source in front when it is not the main one, a blank line between entries."""
    transcript = [
        _entry("system", "You are a helpful coding assistant..."),
        _entry("user", "Please review the code in src/main.py"),
        _entry("assistant", "I'll review the code in src/main.py. Let me read the file first.", 35),
        _entry("tool", '{"path": "src/main.py"}', 36, tool_name="Read"),
        _entry("assistant", "Looking at the implementation...", 38, source="subagent:abc123"),
    ]
    assert format_transcript(iter(transcript)) == (
        "[09:15:32] ⚙️ SYSTEM\n"
        "You are a helpful coding assistant...\n"
        "\n"
        "[09:15:32] 👤 USER\n"
        "Please review the code in src/main.py\n"
        "\n"
        "[09:15:35] 🤖 ASSISTANT\n"
        "I'll review the code in src/main.py. Let me read the file first.\n"
        "\n"
        "[09:15:36] 🔧 Read\n"
        '{"path": "src/main.py"}\n'
        "\n"
        "[subagent:abc123] [09:15:38] 🤖 ASSISTANT\n"
        "Looking at the implementation...\n"
    )


def test_an_empty_transcript_is_empty() -> None:
    """No entries, no text."""
    assert format_transcript([]) == ""


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_any_entry_with_a_tool_name_has_the_tools_header(role: Role) -> None:
    """A call as well as its result; a result without a name says TOOL."""
    assert format_entry(_entry(role, "x", tool_name="Read")).startswith("[09:15:32] 🔧 Read\n")
    assert format_entry(_entry("tool", "x")).startswith("[09:15:32] 🔧 TOOL\n")


def test_a_failed_tool_without_output_shows_its_error() -> None:
    """The error stands in for content that is not there, and never hides content that is."""
    failed = {"error": "exit status 1"}
    assert format_entry(_entry("tool", "", tool_name="Bash", metadata=failed)) == "[09:15:32] 🔧 Bash\nexit status 1\n"
    assert format_entry(_entry("tool", "out", tool_name="Bash", metadata=failed)) == "[09:15:32] 🔧 Bash\nout\n"


def test_a_role_nobody_knows_is_printed_by_its_name() -> None:
    """As the document does: a bullet and the role in capitals."""
    assert format_entry(_entry("narrator", "Meanwhile"))[:21] == "[09:15:32] • NARRATOR"  # type: ignore[arg-type]


def test_content_is_printed_as_it_is() -> None:
    """Several lines, blank ones and other scripts included."""
    assert format_entry(_entry("user", "a\n\n漢字\u2028b\n")) == "[09:15:32] 👤 USER\na\n\n漢字\u2028b\n\n"
