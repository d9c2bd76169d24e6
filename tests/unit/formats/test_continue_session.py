"""Continue: a document for each session, written anew after each turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from golden_cases import FOLDER
from stenograph.fold.usage import usage_totals
from stenograph.formats.continue_session import SPEC
from stenograph.model import SystemPayload, ThinkingBlock, ToolPayload
from stenograph.sources import convert
from stenograph.sources.layouts import layout_of
from stenograph.testing import check_format
from stored_sessions import case, differences, laid_out, listed, synced

SESSION = "8907b19f-9a1e-460c-848b-ad5972c901d4"
GOLDEN = case("continue_session", "resumed") / f"{SESSION}.json"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """The golden session at its place in a home."""
    return laid_out("continue_session", "resumed", tmp_path / ".continue" / "sessions") / GOLDEN.name


def rewrite(path: Path, change: Any) -> None:
    """Write a document anew, as Continue does."""
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False), "utf-8")


def told(folder: Path, *items: dict[str, Any]) -> list[Any]:
    """The payloads of a session with these items, without the session's own."""
    document = {"sessionId": "s", "title": "t", "workspaceDirectory": "file:///home/user", "history": [*items]}
    (folder / "s.json").write_text(json.dumps(document), "utf-8")
    return [event.payload for event in convert(folder / "s.json")][1:]


@pytest.mark.parametrize(
    "path", sorted((FOLDER / "continue_session").glob("*/input/*-*.json")), ids=lambda path: path.stem
)
def test_an_independent_count_finds_the_same(path: Path) -> None:
    """Calls, results, failures, words and tokens."""
    assert differences("continue_session", path) == {}


def test_the_laws_of_a_format_hold() -> None:
    """Of a document, and of the lines that it is cut into."""
    with layout_of("continue_session").stored(GOLDEN) as sessions:  # type: ignore[union-attr]  # it has one
        check_format(SPEC, [GOLDEN, b"".join(sessions[0].lines())])


def test_tokens_are_those_of_the_model() -> None:
    """By call: Continue's own sum forgets what was cached."""
    total = usage_totals(convert(GOLDEN)).total
    assert (total.records, total.input_tokens, total.cache_read_input_tokens) == (6, 6700, 1600)
    assert (total.output_tokens, total.reasoning_output_tokens) == (176, 49)


def test_a_sync_finds_sessions(session: Path, tmp_path: Path) -> None:
    """One run with its project, model and status, when it began; the list of all sessions is not one."""
    found = synced(tmp_path)
    assert (found["new"], found["left_out"]) == (1, {})
    (run,) = listed(tmp_path)
    assert (run["run_id"], run["agent"], run["status"]) == (SESSION, "continue", "finished")
    assert (run["cwd"], run["model"], run["turns"]) == ("/home/user/proj", "fake-model", 2)
    assert run["started_at"] == "2026-11-16T13:24:41.859Z"


def test_a_rewritten_document_costs_what_changed(session: Path, tmp_path: Path) -> None:
    """Also where the user says again what was said before; the list of sessions may change as it likes."""
    synced(tmp_path)
    (session.parent / "sessions.json").write_text("[]", "utf-8")
    assert synced(tmp_path)["events"] == 0
    item = {"message": {"role": "user", "content": "Go on please [[script:resume]]"}, "contextItems": []}
    rewrite(session, lambda document: document["history"].append(item))
    found = synced(tmp_path)
    assert (found["grown"], found["bytes_written"] < 1500) == (1, True)
    (run,) = listed(tmp_path)
    assert run["turns"] == 3


def test_what_was_said_in_place_of_something_else_is_told(session: Path, tmp_path: Path) -> None:
    """A user who goes back and says something else has said both."""
    synced(tmp_path)

    def edit(document: dict[str, Any]) -> None:
        document["history"][5]["message"]["content"] = "No, stop."
        del document["history"][6:]

    rewrite(session, edit)
    synced(tmp_path)
    (run,) = listed(tmp_path)
    assert (run["turns"], run["tool_calls"]) == (3, 5)


def test_the_roles_of_editors_are_read(tmp_path: Path) -> None:
    """Thinking, system prompts, results of old as messages, context, and the summary of a compaction."""
    items = [
        {"message": {"role": "system", "content": "Be kind."}},
        {"message": {"role": "thinking", "content": "Hm.", "signature": "abc"}},
        {"message": {"role": "tool", "content": "42", "toolCallId": "c"}},
        {"message": {"role": "user", "content": "See"}, "contextItems": [{"name": "a.py", "content": "x"}]},
        {"message": {"role": "assistant", "content": "So."}, "conversationSummary": "All is well."},
    ]
    payloads = told(tmp_path, *items)
    notes = [(each.subtype, each.text) for each in payloads if isinstance(each, SystemPayload)]
    assert notes == [("system_prompt", "Be kind."), ("context", "a.py"), ("compaction", "All is well.")]
    assert payloads[1].blocks == (ThinkingBlock(fidelity="agent_emitted", thinking="Hm.", signature="abc"),)
    assert [each.output for each in payloads if isinstance(each, ToolPayload)] == ["42"]


@pytest.mark.parametrize(("status", "error"), [("done", None), ("errored", "no"), ("canceled", "no")])
def test_a_call_ends_in_its_state(status: str, error: str | None, tmp_path: Path) -> None:
    """Results stand inside the message that asked for them."""
    state = {"toolCallId": "c", "toolCall": {"function": {"name": "Read"}}, "status": status}
    item = {
        "message": {"role": "assistant", "content": ""},
        "toolCallStates": [{**state, "output": [{"content": "no"}]}],
    }
    (result,) = [each for each in told(tmp_path, item) if isinstance(each, ToolPayload)]
    assert (result.name, result.output, result.error) == ("Read", "no", error)


def test_a_call_that_is_not_over_has_no_result(tmp_path: Path) -> None:
    """Its state is a note; what is not a message is kept."""
    state = {"toolCallId": "c", "status": "generated"}
    payloads = told(tmp_path, {"message": {"role": "assistant", "content": "x"}, "toolCallStates": [state]}, {})
    assert [each.__class__.__name__ for each in payloads] == ["MessagePayload", "SystemPayload", "UnknownPayload"]
