"""Gemini CLI's files: sessions, their subagents, parked outputs and files of old."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from golden_cases import FOLDER
from stenograph.model import Event
from stenograph.sources import convert, detect_file
from stenograph.sources.detection import format_named
from stenograph.sources.layouts import layout_of

GOLDEN = FOLDER / "gemini_cli"
LAYOUT = layout_of("gemini_cli")
SESSION = "9c3c7d78-c685-47dd-af64-320f18a37388"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with two projects."""
    for name, case in (("one", "compaction"), ("two", "subagent")):
        shutil.copytree(GOLDEN / case / "input", tmp_path / ".gemini" / "tmp" / name)
    return tmp_path


def _root(home: Path) -> Path:
    [root] = LAYOUT.roots({}, home)
    return root


def _header(session_id: str) -> dict[str, Any]:
    return {"sessionId": session_id, "projectHash": "0", "startTime": "T", "lastUpdated": "T", "kind": "main"}


def _write(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def test_the_home_folder_is_that_of_the_environment(tmp_path: Path) -> None:
    """GEMINI_CLI_HOME stands in for the home folder, as in the program."""
    assert LAYOUT.roots({}, tmp_path) == [tmp_path / ".gemini" / "tmp"]
    assert LAYOUT.roots({"GEMINI_CLI_HOME": "/elsewhere"}, tmp_path) == [Path("/elsewhere/.gemini/tmp")]


def test_sessions_of_all_projects_are_found(home: Path) -> None:
    """Subagents' files go with their session; a file of old that was made new is not taken twice."""
    old = _root(home) / "one" / "chats" / "session-2025-01-01T00-00-abcdef01.json"
    _write(old, _header("abcdef01-old"))
    assert [path.name.rpartition("-")[2] for path in LAYOUT.sessions(_root(home))] == [
        "abcdef01.json", "9c3c7d78.jsonl", "9c3c7d78.jsonl", "e5c20cb4.jsonl",
    ]  # fmt: skip
    _write(old.with_suffix(".jsonl"), _header("abcdef01-old"))
    assert [path.suffix for path in LAYOUT.sessions(_root(home))].count(".json") == 0


def test_a_session_is_found_in_its_first_file(home: Path) -> None:
    """A resume leaves a second file of the same session beside it; a like beginning of another id is not enough."""
    found = LAYOUT.find(_root(home), SESSION)
    assert found is not None
    assert "T23-51" in found.name
    assert LAYOUT.find(_root(home), "9c3c7d78-0000-0000-0000-000000000000") is None
    assert LAYOUT.find(_root(home), "*") is None


def test_two_files_of_one_session_are_one_run(home: Path) -> None:
    """The startup-only file of a resume adds no message, and no subagent is read twice."""
    events = list(convert(_root(home) / "one"))
    assert {event.run_id for event in events} == {SESSION}
    assert [event.payload.blocks[0].text for event in events if event.type == "message.user"] == [
        "first prompt", "second prompt",
    ]  # fmt: skip


def test_a_subagent_is_linked_to_its_call(home: Path) -> None:
    """Converted by its session, by the folder and alone, a subagent's file names the run and the call it belongs to."""
    chats = _root(home) / "two" / "chats"
    [main], [child] = list(chats.glob("session-*.jsonl")), list(chats.glob("*/*.jsonl"))

    def links(events: list[Event]) -> set[Any]:
        origins = [event.origin for event in events if event.source != "main" and event.origin]
        return {(origin.source, origin.parent_source, origin.parent_call_id) for origin in origins}

    whole = list(convert(main))
    [call] = [event.payload for event in whole if event.type == "tool.call" and event.payload.name == "invoke_agent"]
    assert links(whole) == {(f"subagent:{child.stem}", "main", call.call_id)}
    assert list(convert(chats)) == whole
    alone = list(convert(child))
    assert links(alone) == links(whole)
    assert {event.run_id for event in alone} == {event.run_id for event in whole} == {child.parent.name}


def test_a_subagent_of_a_subagent_names_its_own_parent(tmp_path: Path) -> None:
    """All of a session's subagents are in one folder; whoever has the call is the parent."""
    chats = tmp_path / "chats"
    spawned = {"id": "m", "timestamp": "T", "type": "gemini", "content": ""}
    main = _write(
        chats / "session-2026-01-01T00-00-aaaaaaaa.jsonl",
        _header("aaaaaaaa-1"),
        {**spawned, "toolCalls": [{"id": "c1", "name": "invoke_agent", "agentId": "child"}]},
    )
    child = {**_header("child"), "kind": "subagent"}
    second = {**spawned, "toolCalls": [{"id": "c2", "name": "invoke_agent", "agentId": "grandchild"}]}
    _write(chats / "aaaaaaaa-1" / "child.jsonl", child, second)
    _write(chats / "aaaaaaaa-1" / "grandchild.jsonl", {**child, "sessionId": "grandchild"})
    members = LAYOUT.members(detect_file(main), detect_file)
    assert [(each.path.stem, each.parent_source, each.parent_call_id) for each in members] == [
        ("child", "main", "c1"), ("grandchild", "subagent:child", "c2"),
    ]  # fmt: skip


def test_a_parked_output_is_read_only_where_the_agent_parks_it(tmp_path: Path) -> None:
    """A transcript cannot make us read any file it likes."""
    project = tmp_path / "project"
    (project / "tool-outputs" / "session-a").mkdir(parents=True)
    (project / "tool-outputs" / "session-a" / "out.txt").write_text("all of it")
    (tmp_path / "secret.txt").write_text("secret")
    for session in (project / "chats" / "session-x.jsonl", project / "chats" / "a" / "child.jsonl"):
        read = LAYOUT.side_file(session, "a")
        assert read("tool-outputs/session-a/out.txt") == b"all of it"
        assert read("tool-outputs/session-a/gone.txt") is None
        for name in (
            "tool-outputs/../../secret.txt",
            "tool-outputs/session-../secret.txt",
            "../secret.txt",
            "secret.txt",
        ):
            assert read(name) is None


def test_a_file_of_old_is_read_when_it_is_named(tmp_path: Path) -> None:
    """One JSON document over many lines: read as one record by its format's name."""
    message = {"id": "u", "timestamp": "T1", "type": "user", "content": "Hello"}
    path = tmp_path / "session-2025-01-01T00-00-abcdef01.json"
    path.write_text(json.dumps({**_header("abcdef01-old"), "messages": [message]}, indent=2))
    conversion = convert(path, format_named("gemini_cli"))
    assert [event.type for event in conversion] == ["system.event", "message.user"]
    assert conversion.files[0].report.malformed == 0


def test_a_broken_file_of_old_is_read_as_lines(tmp_path: Path) -> None:
    """What is no document gives what its lines give: events, and a count of what is not JSON."""
    path = tmp_path / "session-x.json"
    path.write_text('{"sessionId": "x",\n"messages": [')
    conversion = convert(path, format_named("gemini_cli"))
    assert [event.type for event in conversion] == ["unknown", "unknown"]
    assert conversion.files[0].report.malformed == 2
