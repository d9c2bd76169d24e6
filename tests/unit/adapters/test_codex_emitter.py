"""CodexTranscriptEmitter: the mapping table of the design document, row by row, and what it promises its callers."""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from stenograph import Recorder, read_events
from stenograph.adapters.codex_app_server import CodexTranscriptEmitter
from stenograph.fold.calls import pair_calls
from stenograph.session import Session
from stenograph.transcript import TranscriptEntry

THREAD = "01a1e0a1-1b95-7f11-b7fd-b300beba516d"
CHILD = "01a1e0a1-1c09-7182-ac6c-925147d0e669"
TURN = "01a1e0a1-1bb0-7250-82fa-694ac87505f3"
HERE = {"threadId": THREAD, "turnId": TURN}


@pytest.fixture
def session() -> Session:
    """Where the entries go."""
    return Session()


@pytest.fixture
def emitter(session: Session) -> CodexTranscriptEmitter:
    """One that fills the session."""
    return CodexTranscriptEmitter(prompt_name="review", session=session)


def entries(session: Session) -> list[TranscriptEntry]:
    return list(session[TranscriptEntry].all())


def kinds(session: Session) -> list[str]:
    return [entry.entry_type for entry in entries(session)]


def item(kind: str, **more: Any) -> dict[str, Any]:
    return {**HERE, "item": {"type": kind, "id": "x", **more}}


# The table.


def test_the_prompt_is_a_user_message(emitter: CodexTranscriptEmitter, session: Session) -> None:
    """`turn/start` (input text sent)."""
    emitter.on_user_message("Look at stats.py. 见")
    (entry,) = entries(session)
    assert (entry.entry_type, entry.content, entry.role) == ("user_message", "Look at stats.py. 见", "user")


def test_deltas_are_one_assistant_message(emitter: CodexTranscriptEmitter, session: Session) -> None:
    """`item/agentMessage/delta` is accumulated, and emitted when the item completes."""
    for piece in ("It ", "works."):
        emitter.on_notification("item/agentMessage/delta", {**HERE, "itemId": "x", "delta": piece})
    assert kinds(session) == []
    emitter.on_notification("item/completed", item("agentMessage"))
    (entry,) = entries(session)
    assert (entry.entry_type, entry.content) == ("assistant_message", "It works.")


@pytest.mark.parametrize("kind", ["commandExecution", "fileChange", "mcpToolCall", "webSearch"])
def test_tool_items_are_a_use_and_a_result(emitter: CodexTranscriptEmitter, session: Session, kind: str) -> None:
    """`item/started` and `item/completed` of the four kinds of tools."""
    begun, done = item(kind, status="inProgress"), item(kind, status="completed")
    emitter.on_notification("item/started", begun)
    assert kinds(session) == ["tool_use"]
    emitter.on_notification("item/completed", done)
    use, result = entries(session)
    assert (use.entry_type, result.entry_type, result.tool_call_id) == ("tool_use", "tool_result", "x")
    assert (use.detail["notification"], result.detail["notification"]) == (begun, done)


CALL = {**HERE, "callId": "x", "tool": "lookup", "arguments": {"id": 1}}
ANSWER = {"contentItems": [{"type": "inputText", "text": "open"}], "success": True}


def test_a_bridged_tool_is_a_use_and_a_result(emitter: CodexTranscriptEmitter, session: Session) -> None:
    """`item/tool/call`, and the response that was sent."""
    emitter.on_tool_call(CALL)
    assert kinds(session) == ["tool_use"]
    emitter.on_tool_result(CALL, ANSWER)
    use, result = entries(session)
    assert (use.tool_name, use.tool_input, use.detail["notification"]) == ("lookup", {"id": 1}, CALL)
    assert (result.entry_type, result.content, result.tool_name) == ("tool_result", "open", "lookup")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("item/reasoning/completed", {"summary": "Hm."}),
        ("item/completed", item("reasoning", summary=["Hm."])),
    ],
)
def test_reasoning_is_thinking(
    emitter: CodexTranscriptEmitter, session: Session, method: str, params: dict[str, Any]
) -> None:
    """`item/reasoning/completed` as the document shows it, and the item that today's Codex sends."""
    emitter.on_notification(method, params)
    (entry,) = entries(session)
    assert (entry.entry_type, entry.content, entry.detail["notification"]) == ("thinking", "Hm.", params)


def test_reasoning_deltas_are_thinking(emitter: CodexTranscriptEmitter, session: Session) -> None:
    """`item/reasoning/delta` is accumulated, too."""
    emitter.on_notification("item/reasoning/delta", {"itemId": "x", "delta": "Hm"})
    emitter.on_notification("item/reasoning/delta", {"itemId": "x", "delta": "."})
    emitter.on_notification("item/reasoning/completed", {"itemId": "x"})
    assert [(entry.entry_type, entry.content) for entry in entries(session)] == [("thinking", "Hm.")]


def test_token_usage(emitter: CodexTranscriptEmitter, session: Session) -> None:
    """`thread/tokenUsage/updated`."""
    last = {"totalTokens": 110, "inputTokens": 100, "outputTokens": 10}
    emitter.on_notification("thread/tokenUsage/updated", {**HERE, "tokenUsage": {"last": last, "total": last}})
    (entry,) = entries(session)
    assert (entry.entry_type, entry.content) == ("token_usage", "100 in, 10 out")


def test_a_failed_turn_is_an_error(emitter: CodexTranscriptEmitter, session: Session) -> None:
    """`turn/completed` with `status: "failed"`."""
    turn = {"id": TURN, "status": "failed", "error": {"message": "out of room"}}
    emitter.on_notification("turn/completed", {"threadId": THREAD, "turn": turn})
    (entry,) = entries(session)
    assert (entry.entry_type, entry.content) == ("error", "out of room")


def test_a_compaction_is_a_system_event(emitter: CodexTranscriptEmitter, session: Session) -> None:
    """`item/completed` for `contextCompaction`."""
    emitter.on_notification("item/completed", item("contextCompaction"))
    (entry,) = entries(session)
    assert (entry.entry_type, entry.detail["subtype"]) == ("system_event", "compaction")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("turn/started", {"threadId": THREAD, "turn": {"id": TURN}}),
        ("turn/completed", {"threadId": THREAD, "turn": {"id": TURN, "status": "completed"}}),
        ("turn/plan/updated", {**HERE, "plan": []}),
        ("item/started", item("somethingNew")),
        ("item/somethingNew/happened", {**HERE}),
    ],
)
def test_other_items_and_turns_are_unknown(
    emitter: CodexTranscriptEmitter, session: Session, method: str, params: dict[str, Any]
) -> None:
    """(other `item/*`, `turn/*`): kept, as they were sent and not as we wrapped them."""
    emitter.on_notification(method, params)
    (entry,) = entries(session)
    assert (entry.entry_type, entry.detail["notification"]) == ("unknown", params)
    assert json.loads(entry.content) == {"method": method, "params": params}


# What it promises.


def test_a_bridged_tool_that_is_told_four_times_counts_once(root: Path) -> None:
    """The item, the request, the answer and the item again are one call and one result, both seen by us."""
    begun = item("dynamicToolCall", tool="lookup", arguments={"id": 1}, status="inProgress")
    done = item("dynamicToolCall", tool="lookup", arguments={"id": 1}, status="completed", success=True)
    with Recorder(root) as recorder:
        emitter = CodexTranscriptEmitter(prompt_name="review", recorder=recorder)
        emitter.on_notification("item/started", begun)
        emitter.on_tool_call(CALL)
        emitter.on_tool_result(CALL, ANSWER)
        emitter.on_notification("item/completed", done)
        emitter.stop()
    events = list(read_events(recorder.path))
    assert [(event.type, event.payload.fidelity) for event in events] == [
        ("tool.call", "router"),
        ("tool.result", "router"),
    ]
    (pair,) = pair_calls(events)
    assert (pair.name, pair.call_id, pair.error) == ("lookup", "x", None)


def test_a_bridged_tool_that_only_the_server_tells_is_its_word(root: Path) -> None:
    """Who does not call `on_tool_call` has the item's word for it, once it is complete."""
    with Recorder(root) as recorder:
        emitter = CodexTranscriptEmitter(prompt_name="review", recorder=recorder)
        emitter.on_notification("item/started", item("dynamicToolCall", tool="lookup"))
        emitter.on_notification("item/completed", item("dynamicToolCall", tool="lookup", success=True))
    told = [(event.type, event.payload.fidelity) for event in read_events(recorder.path)]
    assert told == [("tool.call", "agent_emitted"), ("tool.result", "agent_emitted")]


@pytest.mark.parametrize("how", ["turn", "exit", "stop"])
def test_a_bridged_tool_that_is_never_asked_for_is_kept(
    emitter: CodexTranscriptEmitter, session: Session, how: str
) -> None:
    """A call that was announced and then broken off is a call without a result."""
    begun = item("dynamicToolCall", tool="lookup", arguments={"id": 1})
    emitter.on_notification("item/started", begun)
    if how == "turn":
        emitter.on_notification("turn/completed", {"threadId": THREAD, "turn": {"id": TURN, "status": "interrupted"}})
    elif how == "exit":
        emitter.on_exit(-9)
    emitter.stop()
    uses = [entry for entry in entries(session) if entry.entry_type == "tool_use"]
    assert [(use.tool_name, use.tool_call_id) for use in uses] == [("lookup", "x")]


def test_a_tool_that_raised_is_a_failed_result(emitter: CodexTranscriptEmitter, session: Session) -> None:
    """An exception may stand for the result; who tells only the result has the call told, too."""
    emitter.on_tool_result(CALL, ValueError("no such ticket"))
    use, result = entries(session)
    assert (use.entry_type, result.metadata) == ("tool_use", {"error": "no such ticket"})


@pytest.mark.parametrize("is_thread_known", [False, True])
def test_a_prompt_that_the_server_repeats_is_one(
    emitter: CodexTranscriptEmitter, session: Session, is_thread_known: bool
) -> None:
    """Also when it was told before any thread had a name."""
    if is_thread_known:
        emitter.on_notification("thread/started", {"thread": {"id": THREAD}})
    emitter.on_user_message("Go.")
    emitter.on_notification("item/completed", item("userMessage", content=[{"type": "text", "text": "Go."}]))
    assert kinds(session).count("user_message") == 1


def test_raw_is_the_notification(caplog: pytest.LogCaptureFixture) -> None:
    """The JSON of the message alone; not in the log when nobody wants it there."""
    caplog.set_level(logging.DEBUG, "stenograph")
    for emit_raw in (True, False):
        CodexTranscriptEmitter(prompt_name="review", emit_raw=emit_raw).on_notification("turn/started", {"n": 1})
    with_raw, without = [record.context for record in caplog.records]
    assert json.loads(with_raw["raw"]) == {"method": "turn/started", "params": {"n": 1}}
    assert "raw" not in without
    assert with_raw["detail"] == without["detail"] == {"notification": {"n": 1}}
    assert {with_raw["adapter"], without["adapter"]} == {"codex_app_server"}


def test_start_and_stop_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """With the summary at the end; what was being said is not lost; stopping twice is stopping once."""
    caplog.set_level(logging.DEBUG, "stenograph")
    emitter = CodexTranscriptEmitter(prompt_name="review")
    emitter.start()
    emitter.on_notification("item/agentMessage/delta", {**HERE, "itemId": "x", "delta": "Half a sen"})
    assert emitter.stop() == emitter.stop()
    assert [record.event for record in caplog.records] == ["transcript.start", "transcript.entry", "transcript.stop"]
    assert caplog.records[1].context["content"] == "Half a sen"
    assert caplog.records[2].context["summary"]["entries_by_type"] == {"assistant_message": 1}


def test_child_threads_share_the_series(root: Path, session: Session) -> None:
    """One series of numbers, told apart by `session_id`; in the journal the child is a run of its own."""
    with Recorder(root) as recorder:
        emitter = CodexTranscriptEmitter(prompt_name="review", recorder=recorder, session=session)
        emitter.on_notification("item/completed", item("agentMessage", text="I am the parent."))
        spawn = item("collabAgentToolCall", tool="spawnAgent", receiverThreadIds=[CHILD])
        emitter.on_notification("item/completed", spawn)
        said = {
            "threadId": CHILD,
            "turnId": "t2",
            "item": {"type": "agentMessage", "id": "m", "text": "I am the child."},
        }
        emitter.on_notification("item/completed", said)
        emitter.stop()
    told = entries(session)
    assert [entry.sequence_number for entry in told] == [1, 2, 3, 4]
    assert [entry.session_id for entry in told] == [THREAD, THREAD, THREAD, CHILD]
    (child,) = read_events(root / "transcripts" / f"{CHILD}.jsonl")
    assert (child.parent_run_id, child.payload.blocks[0].text) == (recorder.run_id, "I am the child.")
    assert {event.run_id for event in read_events(recorder.path)} == {recorder.run_id}


def test_an_end_of_the_server_is_told(emitter: CodexTranscriptEmitter, session: Session) -> None:
    """A good one is a system event, a bad one an error."""
    emitter.on_exit(0)
    emitter.on_exit(-9, "codex was killed", "panicked")
    good, bad = entries(session)
    assert (good.entry_type, good.detail["subtype"]) == ("system_event", "exit")
    assert (bad.entry_type, bad.content) == ("error", "codex was killed")


def test_threads_may_tell_at_once(session: Session) -> None:
    """No entry is lost and no number is given twice."""
    emitter = CodexTranscriptEmitter(prompt_name="review", session=session)

    def tell(who: int) -> None:
        for number in range(50):
            params = {"threadId": THREAD, "item": {"type": "agentMessage", "id": f"{who}:{number}", "text": f"{who}"}}
            emitter.on_notification("item/completed", params)
            emitter.on_tool_call({**CALL, "callId": f"{who}:{number}"})
            emitter.on_tool_result({**CALL, "callId": f"{who}:{number}"}, ANSWER)

    threads = [threading.Thread(target=tell, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry.sequence_number for entry in entries(session)] == list(range(1, 8 * 150 + 1))
    assert emitter.summary.entries_by_type == {"assistant_message": 400, "tool_use": 400, "tool_result": 400}


@pytest.mark.usefixtures("lenient")
def test_it_never_raises(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever it is handed and wherever it is to go: what cannot be kept is counted."""

    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("not even that")

    session, recorder = Session(), Recorder(root)
    session.close()
    recorder.close()
    emitter = CodexTranscriptEmitter(prompt_name="review", recorder=recorder, session=session)
    emitter.on_notification("item/completed", {"item": {"type": "agentMessage", "text": "a\ud800"}, "odd": Odd()})
    emitter.on_notification(None, [1])  # type: ignore[arg-type]
    emitter.on_tool_call({})
    emitter.on_tool_result({"callId": Odd()}, Odd())
    emitter.on_user_message(None)  # type: ignore[arg-type]
    emitter.on_line("in", b"\xff{")
    emitter.stop()
    assert emitter.lost > 0
    assert any(record.name == "stenograph.guard" for record in caplog.records)


def test_a_mask_sees_everything_first(caplog: pytest.LogCaptureFixture) -> None:
    """Where nothing is recorded, the log is masked all the same."""
    from stenograph import default_masker

    caplog.set_level(logging.DEBUG, "stenograph")
    secret = "sk-ant-" + "a1b2" * 24
    emitter = CodexTranscriptEmitter(prompt_name="review", mask=default_masker())
    emitter.on_notification("item/completed", item("agentMessage", text=f"The key is {secret}."))
    (record,) = caplog.records
    assert secret not in json.dumps(record.context)


def test_the_wire_log_can_be_converted(tmp_path: Path, session: Session) -> None:
    """Every message is appended to the file; reading that gives the same entries."""
    from stenograph import entries as entries_of
    from stenograph.sources import convert

    wire = tmp_path / "wire.jsonl"
    emitter = CodexTranscriptEmitter(prompt_name="review", session=session, wire_log=wire)
    emitter.on_notification("thread/started", {"thread": {"id": THREAD}})
    emitter.on_user_message("Go.")
    emitter.on_notification("item/completed", item("agentMessage", text="Gone."))
    emitter.stop()
    assert wire.stat().st_mode & 0o777 == 0o600
    read = [(entry.entry_type, entry.content, entry.timestamp) for entry in entries_of(convert(wire))]
    assert read == [(entry.entry_type, entry.content, entry.timestamp) for entry in entries(session)]


def test_a_line_that_is_not_json_is_a_warning_with_its_number(
    emitter: CodexTranscriptEmitter, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    """And an entry of type unknown, as before."""
    emitter.on_line("in", b'{"method": "strange"}')
    emitter.on_line("in", b"{half")
    warnings = [each for each in caplog.records if getattr(each, "event", "") == "transcript.error"]
    assert [(each.levelname, each.context["line"]) for each in warnings] == [("WARNING", 2)]
    assert kinds(session) == ["unknown", "unknown"]
