"""OpenCode's databases and streams in ../shared, compared with an independent count."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from comparison import count, different, lines_without_event, oracle, parsed
from shared_folder import SHARED
from stenograph.formats.base import Report
from stenograph.formats.opencode.changes import changed_rows, last_changes, lines_of_rows
from stenograph.formats.opencode.rows import session_lines
from stenograph.formats.registry import HEAD_BYTES, detect
from stenograph.model import MessagePayload, TextBlock, ThinkingBlock
from stenograph.sources import convert

CAPTURES = SHARED / "captures" / "opencode"
pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("dump", sorted(CAPTURES.glob("*/opencode.sql")), ids=lambda path: path.parent.name)
def test_a_database_agrees_with_an_independent_count(dump: Path, tmp_path: Path) -> None:
    """Tools, failures, words and tokens of a captured database are those that plain SQL finds in it."""
    database = tmp_path / "opencode.db"
    connection = sqlite3.connect(database)
    connection.executescript(dump.read_text("utf-8"))
    connection.close()
    conversion = convert(database)
    events = list(conversion)
    reports = [file.report for file in conversion.files]
    assert [(report.failed, report.malformed, dict(report.unknown_types)) for report in reports] == [(0, 0, {})]
    assert {event.origin.line for event in events if event.origin} == set(range(1, reports[0].lines + 1))
    ours: dict[str, Any] = count(events, Report())
    blocks = [block for event in events if isinstance(event.payload, MessagePayload) for block in event.payload.blocks]
    users = {block for event in events if event.type == "message.user" for block in event.payload.blocks}
    ours |= {name: sorted(ours[name]) for name in ("tool_uses", "tool_results", "failed_results")}
    ours["text"] = sorted(block.text for block in blocks if isinstance(block, TextBlock) and block not in users)
    ours["thinking"] = sorted(block.thinking for block in blocks if isinstance(block, ThinkingBlock))
    theirs = oracle("opencode").count_database(database)
    assert different(ours, theirs) == [], (ours, theirs)


@pytest.mark.parametrize("dump", sorted(CAPTURES.glob("*/opencode.sql")), ids=lambda path: path.parent.name)
def test_the_changes_of_a_session_name_all_its_rows(dump: Path) -> None:
    """Whoever reads the rows that were noted as changed since the beginning reads what a whole reading gives."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(dump.read_text("utf-8"))
    connection.text_factory = bytes
    for session, last in last_changes(connection).items():
        ids = changed_rows(connection, session, -1, last)
        assert ids is not None
        _, *lines = session_lines(connection, {"id": session})
        assert lines_of_rows(connection, ids) == lines
    connection.close()


STREAMS = [path for path in sorted(CAPTURES.glob("json-*/stdout")) if path.stat().st_size] if CAPTURES.exists() else []


@pytest.mark.parametrize("stream", STREAMS, ids=lambda path: path.parent.name)
def test_a_stream_agrees_with_an_independent_count(stream: Path) -> None:
    """What was printed is detected, and an independent count finds the same in it."""
    data = stream.read_bytes()
    spec = detect(data[:HEAD_BYTES], str(stream))
    assert spec is not None
    assert spec.name == "opencode_stream"
    events, report = parsed(spec, stream)
    assert (report.failed, report.malformed, dict(report.unknown_types)) == (0, 0, {})
    ours, theirs = count(events, report), oracle(spec.name).count(stream)
    assert different(ours, theirs) == [], (ours, theirs)
    assert lines_without_event(events, report, data) == 0
