"""opencode: what its rows mean, version by version."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison import count, different, oracle, parsed
from golden_cases import CASES
from stenograph.fold.calls import pair_calls
from stenograph.fold.messages import messages
from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context, run_id_of
from stenograph.formats.opencode import SPEC
from stenograph.formats.opencode.format import OpenCodeFormat
from stenograph.model import AttachmentBlock, Event, SystemPayload, TextBlock, ThinkingBlock, ToolPayload

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
ROWS = [case for case in CASES if case.parent.name == "opencode"]


def opened(**more: Any) -> OpenCodeFormat:
    return OpenCodeFormat(Context(run_id=RUN_ID, **more))


def fed(*records: dict[str, Any]) -> list[Event]:
    parser = opened()
    events = [event for record in records for event in parser.feed_object(record)]
    assert parser.report.failed == 0
    return events


def part(data: dict[str, Any], id: str = "prt_1", role: str = "assistant", **more: Any) -> dict[str, Any]:
    common = {"table": "part", "id": id, "message_id": "msg_1", "session_id": "ses_1", "time_created": 1794770040168}
    return {**common, "role": role, "model": "fake-model", "data": data, **more}


def tool(status: str, **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": "bash", "callID": "call_1", "state": {"status": status, **state}}


def told(events: list[Event]) -> list[Event]:
    return [event for event in events if event.type != "system.event"]


def subtypes(events: list[Event]) -> list[str]:
    return [event.payload.subtype for event in events if isinstance(event.payload, SystemPayload)]


def keys(events: list[Event]) -> list[tuple[object, ...]]:
    """Everything but where it stood, in no order."""
    return sorted((event.type, event.source, event.timestamp, repr(event.payload)) for event in told(events))


def test_reasoning_keeps_what_its_provider_needs() -> None:
    """Each provider has an object of its own in the metadata; a part without words is told by its ciphertext."""
    signed = {"type": "reasoning", "text": "Hm.", "metadata": {"anthropic": {"signature": "s"}}}
    hidden = {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "x"}}
    rows = [part(signed), part({"type": "reasoning", "text": "", "metadata": hidden}, id="prt_2")]
    blocks = [block for event in told(fed(*rows, rows[1])) for block in event.payload.blocks]
    assert blocks == [
        ThinkingBlock(fidelity="agent_emitted", thinking="Hm.", signature="s"),
        ThinkingBlock(fidelity="agent_emitted", thinking="", id="rs_1", encrypted_content="x"),
    ]


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.name)
def test_an_independent_count_finds_the_same(case: Path) -> None:
    """Tools, words and tokens of every golden case, counted with nothing but `json`."""
    events, report = parsed(SPEC, case / "input.jsonl")
    ours, theirs = count(events, report), oracle("opencode").count(case / "input.jsonl")
    assert different(ours, theirs) == []
    assert not report.unknown_types


def _lines(case: str) -> list[bytes]:
    return (Path(__file__).parents[2] / "golden" / "opencode" / case / "input.jsonl").read_bytes().splitlines(True)


def test_every_version_of_the_rows_gives_what_the_last_ones_give() -> None:
    """The history of a session gives the events of its finished rows: each once, in the order of what happened."""
    history, finished = opened(), opened()
    live = [event for line in _lines("history") for event in history.feed(line)]
    later = [event for line in _lines("tools") for event in finished.feed(line)]
    assert keys(live) == keys(later)
    assert {"started", "pending", "progress", "repeated"} <= set(subtypes(live))
    assert not {"started", "pending", "progress", "repeated"} & set(subtypes(later))


def test_rows_that_come_again_say_nothing_new() -> None:
    """A second look at the same rows gives one `repeated` a row."""
    parser = opened()
    lines = _lines("tools")
    first = [event for line in lines for event in parser.feed(line)]
    second = [event for line in lines for event in parser.feed(line)]
    assert told(first)
    assert subtypes(second) == ["repeated"] * len(second) == ["repeated"] * len(lines)


@given(st.lists(st.text(alphabet="ab \n漢🎉", max_size=6), max_size=6), st.data())
def test_a_growing_text_is_told_once(pieces: list[str], data: st.DataObject) -> None:
    """However a text grows from version to version, its pieces are the text."""
    versions, text = [], ""
    for piece in pieces:
        text += piece
        versions += [text] * data.draw(st.integers(1, 2))
    events = fed(*(part({"type": "text", "text": version}) for version in ["", *versions]))
    assert "".join(block.text for event in told(events) for block in event.payload.blocks) == text


def test_a_text_that_became_another_is_kept_beside_the_first() -> None:
    """What was said stays said; the new words are a system event."""
    events = fed(part({"type": "text", "text": "first words"}), part({"type": "text", "text": "other words"}))
    assert [event.payload.blocks[0].text for event in told(events)] == ["first words"]
    assert [(event.payload.subtype, event.payload.text) for event in events[1:]] == [("rewritten", "other words")]


def test_a_tool_is_called_when_it_runs_and_answered_when_it_ends() -> None:
    """Pending gives no call; running gives it with its input; the end gives the result with its time."""
    given_input = {"command": "ls"}
    events = fed(
        part(tool("pending", input={}, raw="")),
        part(tool("running", input=given_input, time={"start": 1794770040202})),
        part(tool("running", input=given_input, metadata={"output": "a"}, time={"start": 1794770040202})),
        part(tool("completed", input=given_input, output="a\nb", time={"start": 1794770040202, "end": 1794770040702})),
    )
    kinds = ["system.event", "message.assistant", "tool.call", "system.event", "tool.result"]
    assert [event.type for event in events] == kinds
    (pair,) = pair_calls(events)
    assert pair.call is not None
    assert pair.result is not None
    assert pair.call.payload.input == given_input
    assert (pair.result.payload.output, pair.result.payload.duration_ms, pair.error) == ("a\nb", 500.0, None)
    assert (pair.call.timestamp[-12:], pair.result.timestamp[-12:]) == ("4:00.202000Z", "4:00.702000Z")


def test_an_exit_code_is_told_and_is_no_error() -> None:
    """A command that fails is a success of the tool, with its exit code beside its output."""
    state = {"input": {}, "output": "out\n", "metadata": {"exit": 3}, "time": {"start": 1, "end": 2}}
    (result,) = [event.payload for event in fed(part(tool("completed", **state))) if event.type == "tool.result"]
    assert (result.output, result.error) == ({"output": "out\n", "exit": 3}, None)


def test_a_failed_tool_has_its_error() -> None:
    """OpenCode's word for it is both what came back and why it failed."""
    events = fed(part(tool("error", input={}, error="File not found", time={"start": 1, "end": 2})))
    (result,) = [event.payload for event in events if event.type == "tool.result"]
    assert (result.output, result.error) == ("File not found", "File not found")


def test_files_are_attachments() -> None:
    """A picture of a prompt or a result is an attachment; one by its URL stays as it stood."""
    data = base64.b64encode(b"picture").decode()
    picture = {"type": "file", "mime": "image/png", "url": f"data:image/png;base64,{data}"}
    link = {"type": "file", "mime": "image/png", "url": "file:///picture.png"}
    state = {"input": {}, "output": "seen", "attachments": [picture], "time": {"start": 1, "end": 2}}
    events = fed(part(picture, role="user"), part(link, "prt_2", "user"), part(tool("completed", **state), "prt_3"))
    prompt, by_url, *_, result = events
    assert isinstance(prompt.payload.blocks[0], AttachmentBlock)
    assert prompt.payload.blocks[0].size == 7
    assert by_url.payload.blocks[0].extra["url"] == "file:///picture.png"
    assert isinstance(result.payload, ToolPayload)
    assert [type(block) for block in result.payload.blocks or ()] == [TextBlock, AttachmentBlock]


def test_words_of_the_harness_are_not_the_users() -> None:
    """Synthetic and ignored texts under the user's role are system events, and so is a summary."""
    events = fed(
        part({"type": "text", "text": "go on", "synthetic": True}, "prt_1", "user"),
        part({"type": "text", "text": "shown only", "ignored": True}, "prt_2", "user"),
        part({"type": "compaction", "auto": True}, "prt_3", "user"),
        part({"type": "text", "text": "So far: nothing."}, "prt_4", summary=True),
    )
    assert told(events) == []
    assert subtypes(events) == ["synthetic", "ignored", "compaction", "compaction"]
    assert [event.payload.data for event in events[2:]] == [{"part": "boundary", "auto": True}, {"part": "summary"}]


def test_every_step_of_a_message_counts() -> None:
    """Tokens are normalized, and a message of several steps has all of them counted."""
    tokens = {"input": 700, "output": 21, "reasoning": 8, "cache": {"read": 400, "write": 10}}
    step = {"type": "step-finish", "reason": "stop", "tokens": tokens}
    events = fed(part(step), part(step, "prt_2"), part(step, "prt_2"))
    total = usage_totals(events).total
    assert (total.records, total.input_tokens, total.output_tokens) == (2, 2 * 1110, 2 * 29)
    assert (total.cache_read_input_tokens, total.reasoning_output_tokens) == (800, 16)
    assert [message.stop_reason for message in messages(events)] == ["stop"]


def test_an_error_of_a_message_is_told_once() -> None:
    """The error on a message's row is an error event, with the provider's status."""
    error = {"name": "APIError", "data": {"message": "no", "statusCode": 401, "isRetryable": False}}
    row = {"table": "message", "id": "msg_1", "session_id": "ses_1", "data": {"role": "assistant", "error": error}}
    errors = [event.payload for event in fed(row, row) if event.type == "error"]
    assert [(each.message, each.code, each.retryable) for each in errors] == [("no", "401", False)]


def test_subagents_speak_in_the_run_of_their_session() -> None:
    """In a stream of all sessions, a child is a source of its root's run, a stranger another run."""
    spawned = tool("running", input={}, metadata={"sessionId": "ses_2"}, time={"start": 1})
    events = fed(
        {"table": "session", "id": "ses_1", "title": "one"},
        {"table": "session", "id": "ses_2", "title": "two", "parent_id": "ses_1"},
        part(spawned),
        part({"type": "text", "text": "child"}, "prt_2", session_id="ses_2"),
        {"table": "session", "id": "ses_3", "title": "three", "parent_id": "ses_2"},
        {"table": "session", "id": "ses_4", "title": "four"},
    )
    places = {(event.origin.session_id, event.run_id, event.source) for event in events if event.origin}
    assert places == {
        ("ses_1", RUN_ID, "main"),
        ("ses_2", RUN_ID, "subagent:ses_2"),
        ("ses_3", RUN_ID, "subagent:ses_3"),
        ("ses_4", run_id_of("opencode", "ses_4"), "main"),
    }
    (child,) = [event for event in events if event.type == "message.assistant" and event.source == "subagent:ses_2"]
    assert child.origin is not None
    assert (child.origin.parent_source, child.origin.parent_call_id) == ("main", "call_1")


def export_of(case: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A golden case as `opencode export` writes it, and its rows."""
    rows = [json.loads(line) for line in _lines(case)]
    session, inside = rows[0], {"sessionID": rows[0]["id"]}
    exported = {
        "info": {
            "id": session["id"],
            "title": session["title"],
            "directory": session["directory"],
            "time": {"created": session["time_created"]},
        },
        "messages": [
            {
                "info": {"id": row["id"], **inside, **row["data"]},
                "parts": [
                    {"id": each["id"], "messageID": row["id"], **inside, **each["data"]}
                    for each in rows
                    if each["table"] == "part" and each["message_id"] == row["id"]
                ],
            }
            for row in rows
            if row["table"] == "message"
        ],
    }
    return exported, rows


def test_an_exported_session_is_read() -> None:
    """What `opencode export` prints gives the words, calls and tokens of the session's rows."""
    exported, rows = export_of("tools")
    assert SPEC.detect([exported], "export.json")
    assert SPEC.identify([exported], "export.json").native_id == rows[0]["id"]
    words = [(event.type, event.payload) for event in told(fed(exported))]
    assert words == [(event.type, event.payload) for event in told(fed(*rows))]


_ID_NAMES = ("id", "messageID", "sessionID", "callID", "parentID")


def relabelled(value: Any, label: Callable[[str], str]) -> Any:
    """A document with other ids."""
    if isinstance(value, list):
        return [relabelled(each, label) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: label(each) if name in _ID_NAMES and isinstance(each, str) else relabelled(each, label)
        for name, each in value.items()
    }


def without_ids(event: Event) -> tuple[str, Any]:
    """What an event says, its ids aside."""
    payload = msgspec.to_builtins(event.payload)
    for name in ("message_id", "call_id"):
        payload.pop(name, None)
    for block in payload.get("blocks") or ():
        block.pop("tool_id", None)
    return event.type, payload


@given(
    st.sampled_from(["tools", "cjk", "fail", "long-output"]),
    st.lists(st.sampled_from(["REDACTED", "", "msg_1", "prt_1", "call_0", "same"]), min_size=1, max_size=3),
)
def test_an_export_is_whole_whatever_its_ids_are(case: str, labels: list[str]) -> None:
    """Redacted or repeated ids lose no part: everything stands once in an export, so its place is its identity."""
    exported, _ = export_of(case)
    turns = iter(range(1 << 30))
    covered = relabelled(exported, lambda _: labels[next(turns) % len(labels)])
    assert SPEC.detect([covered], "export.json")
    found, whole = told(fed(covered)), told(fed(exported))
    assert list(map(without_ids, found)) == list(map(without_ids, whole))
    assert len(pair_calls(found)) == len(pair_calls(whole))
    assert usage_totals(found).total == usage_totals(whole).total
    assert len(list(messages(found))) == len(list(messages(whole)))


def test_ids_of_redacted_exports_are_their_own() -> None:
    """Two files whose ids read the same are not taken for copies of each other."""
    covered = relabelled(export_of("tools")[0], lambda _: "REDACTED")
    ids = [
        {event.payload.call_id for event in parser.feed_object(covered) if event.type == "tool.call"}
        for parser in (opened(), OpenCodeFormat(Context(run_id=str(UUID(int=1)))))
    ]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])
    assert SPEC.identify([covered], "export.json").native_id == ""


def test_a_side_file_holds_the_whole_output() -> None:
    """A truncated output is replaced by the file beside the database; without it, the report names the file."""
    state = {"input": {}, "output": "preview", "time": {"start": 1, "end": 2}}
    state["metadata"] = {"truncated": True, "outputPath": "/home/user/.local/share/opencode/tool-output/tool_1"}
    found = opened(side_file=lambda name: f"all of {name}").feed_object(part(tool("completed", **state)))
    assert found[-1].payload.output == "all of tool-output/tool_1"
    parser = opened()
    assert parser.feed_object(part(tool("completed", **state)))[-1].payload.output == "preview"
    assert parser.report.wanted_files == ["tool-output/tool_1"]
