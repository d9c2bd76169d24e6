"""Subagents that Claude Code 2.1.12 to 2.1.81 repeats in progress lines of the main file: each told once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, claude_line, rows, session_path, subagent_path, synced, whole_index, written
from stenograph.fold.calls import pair_calls
from stenograph.sources import convert
from stenograph.sources.detection import format_named
from stenograph.sources.session_tail import SessionTail

AGENT = "a1"
AT = "2026-11-15T19:13:00.{:03}Z"


def _record(number: int, kind: str, content: list[dict[str, Any]], **message: Any) -> dict[str, Any]:
    told = {"role": kind, "content": content, **message}
    return {"type": kind, "uuid": f"0000000{number}", "timestamp": AT.format(number), "message": told}


RECORDS = [
    _record(1, "user", [{"type": "text", "text": "Count the lines."}]),
    _record(2, "assistant", [{"type": "text", "text": "I shall count."}], id="msg_sub1", model="m"),
    _record(
        3,
        "assistant",
        [{"type": "tool_use", "id": "toolu_sub", "name": "Bash", "input": {"command": "wc"}}],
        id="msg_sub1",
        model="m",
        usage={"input_tokens": 5, "output_tokens": 7},
    ),
    _record(4, "user", [{"type": "tool_result", "tool_use_id": "toolu_sub", "content": "3 lines"}]),
    _record(5, "assistant", [{"type": "text", "text": "There are three."}], id="msg_sub2", model="m"),
]


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps({**record, "sessionId": SESSION, "version": "2.1.63"}).encode() + b"\n"


def _progress(record: dict[str, Any]) -> bytes:
    data = {"message": record, "normalizedMessages": [], "type": "agent_progress", "prompt": "", "agentId": AGENT}
    told = {"type": "progress", "uuid": f"progress {record['uuid']}", "timestamp": record["timestamp"], "data": data}
    return _line({**told, "parentToolUseID": "toolu_task"})


def _own(record: dict[str, Any]) -> bytes:
    return _line({**record, "isSidechain": True, "agentId": AGENT})


MAIN = [claude_line(1), *map(_progress, RECORDS), claude_line(7, "assistant")]
OWN = list(map(_own, RECORDS))


def _told(archive: Path) -> dict[str, Any]:
    """What an archive has of the subagent, as its readers see it."""
    query = "SELECT type, count(*) FROM events WHERE source = 'subagent:a1' GROUP BY type ORDER BY type"
    return {
        "events": {kind: count for kind, count in rows(archive, query) if kind != "system.event"},
        "calls": rows(archive, "SELECT source, call_id, name FROM calls WHERE call_id = 'toolu_sub'"),
        "tokens": rows(archive, "SELECT output_tokens FROM runs"),
        "search": len(rows(archive, "SELECT rowid FROM words WHERE words MATCH 'three'")),
    }


@pytest.mark.parametrize("order", ["main alone", "own alone", "together", "main first", "own first", "half by half"])
def test_a_subagent_is_in_the_archive_once(order: str, tmp_path: Path) -> None:
    """Whichever of the two files was there first, and however far each had come; made again, the index is the same."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    main, own = session_path(home), subagent_path(home)
    steps: dict[str, list[list[tuple[Path, list[bytes]]]]] = {
        "main alone": [[(main, MAIN)]],
        "own alone": [[(main, MAIN[:1]), (own, OWN)]],
        "together": [[(main, MAIN), (own, OWN)]],
        "main first": [[(main, MAIN)], [(own, OWN)]],
        "own first": [[(own, OWN)], [(main, MAIN)]],
        "half by half": [[(main, MAIN[:3])], [(own, OWN[:3])], [(main, MAIN[3:]), (own, OWN[3:])]],
    }
    for step in steps[order]:
        for path, lines in step:
            written(path, *lines)
        synced(home, archive)
    told = _told(archive)
    assert told["events"] == {
        "message.assistant": 3,
        "message.user": 1,
        "token.usage": 1,
        "tool.call": 1,
        "tool.result": 1,
    }
    assert told["calls"] == [("subagent:a1", "toolu_sub", "Bash")]
    assert told["search"] == 1
    before = whole_index(archive)
    synced(home, archive, rebuild=True)
    assert whole_index(archive) == before


@pytest.mark.parametrize("has_own", [False, True])
def test_a_conversion_tells_a_subagent_once(has_own: bool, tmp_path: Path) -> None:
    """Out of the main file where that is alone; out of its own file where that is there."""
    main = written(session_path(tmp_path), *MAIN)
    if has_own:
        written(subagent_path(tmp_path), *OWN)
    events = [event for event in convert(main) if event.source == "subagent:a1" and event.type != "system.event"]
    assert [event.type for event in events] == [
        "message.user", "message.assistant", "message.assistant", "tool.call", "token.usage", "tool.result",
        "message.assistant",
    ]  # fmt: skip
    assert {event.origin.file is not None for event in events if event.origin} == {has_own}
    assert len(pair_calls(events)) == 1


def test_a_session_that_is_followed_tells_a_subagent_once(tmp_path: Path) -> None:
    """The subagent's file is there before the main file repeats what it holds."""
    main = written(session_path(tmp_path), MAIN[0])
    tail = SessionTail(main, format_named("claude_code"))
    events = [event for batch in tail.read() for event in batch]
    for own, progress in zip(OWN, MAIN[1:-1], strict=True):
        written(subagent_path(tmp_path), own)
        written(main, progress)
        events += [event for batch in tail.read() for event in batch]
    events += [event for batch in tail.finish() for event in batch]
    tail.close()
    spoken = [event for event in events if event.source == "subagent:a1" and event.type != "system.event"]
    assert len(spoken) == 7
    assert len(pair_calls(spoken)) == 1
