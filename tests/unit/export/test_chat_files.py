"""Training rows, Pi sessions, Inspect logs and trajectories: what stands where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from run_kinds import make_session
from stenograph import export_run, start_run
from stenograph.errors import InvalidTarget
from stenograph.export.exporter import exporter_named, exporters
from stenograph.fold.losses import LossReport
from stenograph.model import TextBlock, ThinkingBlock


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of Claude Code with calls, one of them failed and one open, and a subagent."""
    return make_session(tmp_path / "home")


def rows(data: bytes) -> list[dict[str, Any]]:
    """The JSON objects of a file of lines."""
    return [json.loads(line) for line in data.splitlines()]


def test_each_source_is_a_row(session: Path) -> None:
    """Calls are answered by messages of their own; an open call is dropped and named in the report."""
    export = export_run(session, "messages")
    main, subagent = rows(export.data)
    roles = [message["role"] for message in main["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "assistant", "tool", "user"]
    assert [message["role"] for message in subagent["messages"]] == ["user", "assistant"]
    assert main["messages"][1]["tool_calls"][0]["function"]["arguments"] == {"command": "ls"}
    assert {"what": "calls: left open", "count": 1} in [
        {name: line[name] for name in ("what", "count")} for line in export.losses["dropped"]
    ]


def test_arguments_and_reasoning_are_worded_as_asked(tmp_path: Path) -> None:
    """As an object or a string; as a field, inside the text, or not at all."""
    with start_run("words", root=tmp_path) as run:
        run.user("Hello.")
        thought = ThinkingBlock(fidelity="agent_emitted", thinking="A greeting.")
        run.assistant([thought, TextBlock(fidelity="agent_emitted", text="Hi.")])
        with run.tool("Bash", {"command": "ls"}) as call:
            call.output = "a.py"
    found = {
        how: rows(export_run(run.path, "messages", reasoning=how, arguments="string").data)[0]["messages"][1]
        for how in ("field", "inline", "drop")
    }
    assert (found["field"]["content"], found["field"]["reasoning_content"]) == ("Hi.", "A greeting.")
    assert found["inline"]["content"] == "<think>\nA greeting.\n</think>\n\nHi."
    assert found["drop"]["content"] == "Hi."
    assert found["drop"]["tool_calls"][0]["function"]["arguments"] == '{"command":"ls"}'


def test_a_pi_session_is_a_chain(session: Path) -> None:
    """Each line names the one before; subagents are files beside it when they are asked for."""
    export = export_run(session, "pi", subagents="files")
    header, *lines = rows(export.data)
    assert (header["type"], header["version"], header["harness"]) == ("session", 3, "stenograph")
    assert [line["parentId"] for line in lines] == [None, *(line["id"] for line in lines[:-1])]
    results = [line["message"] for line in lines if line["message"]["role"] == "toolResult"]
    assert [result["isError"] for result in results] == [False, True]
    assert len(export.side_files) == 1
    assert export_run(session, "pi").side_files == {}


def test_a_log_of_inspect_has_messages_and_events(session: Path) -> None:
    """The input of each answer is named by its place; a subagent is a span."""
    log = json.loads(export_run(session, "inspect").data)
    (sample,) = log["samples"]
    kinds = [event["event"] for event in sample["events"]]
    assert kinds.count("model") == kinds.count("tool") + 2  # two answers did not call anything
    assert (kinds.count("span_begin"), kinds.count("span_end")) == (1, 1)
    assert next(event["input_refs"] for event in sample["events"] if event["event"] == "model") == [[0, 1]]
    assert [event.get("pending", False) for event in sample["events"] if event["event"] == "tool"] == [
        False,
        False,
        True,
    ]


def test_subagents_of_a_trajectory_are_embedded_or_files(session: Path, tmp_path: Path) -> None:
    """Or left out, which the report says."""
    embedded = json.loads(export_run(session, "atif").data)
    assert [len(each["steps"]) for each in embedded["subagent_trajectories"]] == [2]
    beside = export_run(session, "atif", subagents="files")
    written = beside.write(tmp_path / "made.json")
    assert [path.name for path in written] == ["made.json", *beside.side_files]
    assert json.loads(written[1].read_bytes()) == embedded["subagent_trajectories"][0]
    dropped = export_run(session, "atif", subagents="drop")
    assert "subagent_trajectories" not in json.loads(dropped.data)
    assert "subagents" in [line["what"] for line in dropped.losses["dropped"]]


def test_a_run_without_anything_cannot_be_a_trajectory() -> None:
    """The format demands a step, so there is one line that says so, and no file."""
    with pytest.raises(InvalidTarget, match="no messages"):
        list(exporter_named("atif")([], LossReport("atif")))


@pytest.mark.parametrize("name", [name for name, exporter in exporters().items() if exporter.is_lines or name == "pi"])
def test_lines_stay_whole_for_readers_that_split_at_any_break(tmp_path: Path, name: str) -> None:
    """Some split where Unicode ends a line and JSON does not: `datasets` does."""
    with start_run("lines", root=tmp_path) as run:
        run.user("one\u2028two\u2029three\x85four")
        run.assistant("five\u2028six")
    text = export_run(run.path, name).data.decode()
    assert [json.loads(line) for line in text.splitlines()] == [json.loads(line) for line in text.split("\n")[:-1]]
