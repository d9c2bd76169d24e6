"""Cline 3: a folder for each session, with a document that is written anew at each step."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from golden_cases import FOLDER
from stenograph.fold.usage import usage_totals
from stenograph.formats.cline import SPEC
from stenograph.model import SystemPayload, ToolPayload
from stenograph.sources import convert
from stenograph.sources.layouts import layout_of
from stenograph.testing import check_format
from stored_sessions import case, differences, laid_out, listed, steno, synced

DOCUMENTS = sorted((FOLDER / "cline").glob("*/input/*/*.messages.json"))
SUBAGENT = "1794835422381_urcun"


def home_with(name: str, home: Path) -> Path:
    """A home with a golden session at its place; the document of its messages."""
    laid_out("cline", name, home / ".cline" / "data" / "sessions")
    (main,) = [path for path in home.rglob("*.messages.json") if path.name.startswith(path.parent.name)]
    return main


def rewrite(path: Path, change: Any) -> None:
    """Write a document anew, as Cline does."""
    document = json.loads(path.read_text("utf-8"))
    change(document)
    document["updated_at"] = "2026-11-16T13:59:59.000Z"
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False), "utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_an_independent_count_finds_the_same(path: Path, tmp_path: Path) -> None:
    """Calls, results, failures, words and tokens of every document, each by itself."""
    shutil.copy(path, tmp_path)
    assert differences("cline", tmp_path / path.name) == {}


def test_the_laws_of_a_format_hold() -> None:
    """Of documents, and of the lines that they are cut into."""
    with layout_of("cline").stored(DOCUMENTS[0]) as sessions:  # type: ignore[union-attr]  # a document has sessions
        check_format(SPEC, [*DOCUMENTS, b"".join(sessions[0].lines())])


def test_tokens_are_those_of_the_model() -> None:
    """Input with what was cached, as the scripted model counted them."""
    total = usage_totals(convert(case("cline", "full"))).total
    assert (total.records, total.input_tokens, total.cache_read_input_tokens, total.output_tokens) == (
        4,
        4600,
        1200,
        120,
    )


def test_a_sync_finds_sessions_with_their_subagents(tmp_path: Path) -> None:
    """One run, with its project, version, model and status, and the subagent below the call that asked for it."""
    home_with("subagent", tmp_path)
    assert synced(tmp_path)["new"] == 2
    (run,) = listed(tmp_path)
    assert (run["agent"], run["agent_version"], run["status"]) == ("cline", "3.0.65", "finished")
    assert (run["cwd"], run["model"]) == ("/home/user/proj", "fake-model")
    tree = steno(tmp_path, "tree", run["run_id"])
    assert "call_0_0_158243" in json.dumps(tree)


def test_two_subagents_with_one_task_have_a_call_each(tmp_path: Path) -> None:
    """Only the task says whose call it was, so calls are given in their order."""
    main = home_with("subagent", tmp_path)
    (agent,) = main.parent.glob("agent_*.messages.json")
    twin = json.loads(agent.read_text("utf-8"))
    twin["origin"]["subagent"] = twin["sessionId"] = "agent_twin"
    twin["messages"][0]["ts"] += 1
    (main.parent / "agent_twin.messages.json").write_text(json.dumps(twin), "utf-8")

    def ask_twice(document: dict[str, Any]) -> None:
        (call,) = [part for part in document["messages"][1]["content"] if part["type"] == "tool_use"]
        document["messages"][1]["content"].append({**call, "id": "second"})

    rewrite(main, ask_twice)
    parents = {event.source: event.origin.parent_call_id for event in convert(main) if event.origin is not None}
    assert list(parents.values()) == [None, "call_0_0_158243", "second"]


def test_a_rewritten_document_costs_what_changed(tmp_path: Path) -> None:
    """A message more is a line more in the archive; when nothing but the time of writing changed, nothing is kept."""
    main = home_with("full", tmp_path)
    synced(tmp_path)
    rewrite(main, lambda document: None)
    assert synced(tmp_path)["bytes_written"] == 0
    message = {"id": "msg_new", "role": "user", "content": [{"type": "text", "text": "go on"}], "ts": 1794835399999}
    rewrite(main, lambda document: document["messages"].append(message))
    found = synced(tmp_path)
    assert (found["grown"], found["events"]) == (1, 1)
    assert found["bytes_written"] < 1000


def test_a_compacted_document_takes_nothing_away(tmp_path: Path) -> None:
    """What was said stays in the run; the summary, and that a message was rewritten, are notes."""
    main = home_with("full", tmp_path)
    synced(tmp_path)
    (before,) = listed(tmp_path)

    def compact(document: dict[str, Any]) -> None:
        summary = {"id": "sum", "role": "user", "content": "All is well.", "metadata": {"kind": "compaction_summary"}}
        document["messages"][:-1] = [summary]
        document["messages"][-1]["content"] = [{"type": "text", "text": "short"}]

    rewrite(main, compact)
    assert synced(tmp_path)["events"] == 2
    (run,) = listed(tmp_path)
    assert (run["tool_calls"], run["input_tokens"]) == (before["tool_calls"], before["input_tokens"])


def test_notes_of_cline_are_not_messages(tmp_path: Path) -> None:
    """Words of the harness, errors that are only shown, notices in a prompt, and the mode around it."""
    parts = [
        {"type": "text", "text": '<user_input mode="plan">Look</user_input>'},
        {"type": "text", "text": "<SYSTEM_NOTICE>\nEarlier context was compacted.</SYSTEM_NOTICE>"},
    ]
    messages = [
        {"id": "a", "role": "user", "content": parts, "metadata": {"kind": "compaction"}},
        {"id": "b", "role": "user", "content": [{"type": "text", "text": "[SYSTEM] use submit_and_exit"}]},
        {"id": "c", "role": "assistant", "content": "no", "metadata": {"displayOnly": True, "displayRole": "error"}},
    ]
    document = {"version": 1, "agent": "lead", "sessionId": "s", "messages": messages}
    (tmp_path / "s.messages.json").write_text(json.dumps(document), "utf-8")
    events = list(convert(tmp_path / "s.messages.json"))
    told = [event.payload.subtype if isinstance(event.payload, SystemPayload) else event.type for event in events]
    assert told == ["document", "message.user", "mode", "notice", "compaction", "harness", "error"]


@pytest.mark.parametrize(
    ("content", "output", "error"),
    [
        ([{"query": "a", "result": "text", "success": True}], "text", None),
        ([{"query": "a", "result": "", "error": "no", "success": False}], "", "no"),
        ('{"query": "edit", "result": "Edited", "success": true}', "Edited", None),
        ('{"text": "Sub answer", "iterations": 2}', {"text": "Sub answer", "iterations": 2}, None),
        ("plain", "plain", None),
        (
            [{"query": "a", "result": "1", "success": True}, {"query": "b", "result": "", "success": False}],
            [{"query": "a", "result": "1", "success": True}, {"query": "b", "result": "", "success": False}],
            "failed",
        ),
    ],
)
def test_results_are_told_in_every_shape(content: object, output: object, error: str | None, tmp_path: Path) -> None:
    """An answer for each question, or a text that may hold JSON."""
    result = {"type": "tool_result", "tool_use_id": "call", "name": "read_files", "content": content}
    document = {"version": 1, "agent": "lead", "sessionId": "s", "messages": [{"role": "user", "content": [result]}]}
    (tmp_path / "s.messages.json").write_text(json.dumps(document), "utf-8")
    (told,) = [event.payload for event in convert(tmp_path / "s.messages.json") if event.type == "tool.result"]
    assert isinstance(told, ToolPayload)
    assert (told.output, told.error) == (output, error)
