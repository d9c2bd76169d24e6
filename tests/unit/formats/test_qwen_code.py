"""qwen_code and qwen_stream: what the captures' facts say, beyond what the golden cases hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from golden_cases import FOLDER, run_of
from stenograph.fold.status import RunStatus
from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context
from stenograph.formats.qwen_code import SPEC
from stenograph.formats.qwen_code.format import QwenCodeFormat
from stenograph.formats.registry import formats
from stenograph.model import Event, SystemPayload, ToolPayload, UsagePayload
from stenograph.sources import convert

SESSION = "6f0f3f0a-7c3f-4c5f-9b52-0c7e0d1e2f3a"


def _record(number: int, type: str, **more: Any) -> dict[str, Any]:
    uuid = f"00000000-0000-4000-8000-{number:012}"
    return {"uuid": uuid, "sessionId": SESSION, "timestamp": f"2026-11-17T08:00:{number:02}.000Z", "type": type, **more}


def _parsed(*records: dict[str, Any], context: Context | None = None) -> list[Event]:
    parser = QwenCodeFormat(context or Context(run_id=SESSION))
    return [event for record in records for event in parser.feed_object(record)]


def _totals(events: list[Event]) -> tuple[int, int, int, int]:
    total = usage_totals(events).total
    return (
        total.input_tokens,
        total.cache_read_input_tokens,
        total.output_tokens,
        total.reasoning_output_tokens,
    )


def _subtypes(events: list[Event]) -> list[str]:
    return [event.payload.subtype for event in events if isinstance(event.payload, SystemPayload)]


@pytest.mark.parametrize("case", ["resume", "resume-0.15"])
def test_tokens_are_those_that_the_model_counted(case: str) -> None:
    """The true counts: four calls, then two in the resumed session; cached input and thoughts are inside."""
    assert _totals(run_of(FOLDER / "qwen_code" / case)) == (4600 + 2100, 1200 + 400, 120 + 56, 34 + 15)


def test_the_stream_has_the_same_tokens_and_is_not_claudes() -> None:
    """Input tokens include what was cached: 4600, and no answer counts for each of its blocks."""
    events = run_of(FOLDER / "qwen_stream" / "full")
    assert _totals(events)[:3] == (4600, 1200, 120)
    told = [event.payload for event in events if isinstance(event.payload, UsagePayload)]
    assert [each.input_tokens for each in told if each.scope == "call"] == [1000, 1100, 1200, 1300]
    head = [json.loads(line) for line in (FOLDER / "qwen_stream/full/input.jsonl").read_bytes().splitlines()]
    assert formats()["claude_stream"].detect(head, "stdout.txt") == 0


def test_a_subagent_is_found_beside_the_folder_of_its_session() -> None:
    """By the file of its session alone: its words, its call and the tokens that the session's telemetry repeats."""
    (main,) = (FOLDER / "qwen_code" / "sub" / "input" / "chats").glob("*.jsonl")
    events = list(convert(main))
    child = [event for event in events if event.source.startswith("subagent:")]
    assert {(event.origin.parent_source, event.origin.parent_call_id) for event in child if event.origin} == {
        ("main", "call_0_0_faa2db")
    }
    assert usage_totals(events).total.records == 5
    assert _totals(child)[0] == 2100


def test_a_notice_is_not_a_prompt() -> None:
    """What the program says under the role of the user is a system event; what is typed during a turn is a prompt."""
    parts = [{"text": "<task-notification>done</task-notification>"}]
    said = {"message": {"role": "user", "parts": [{"text": "and this"}]}}
    events = _parsed(
        _record(1, "user", subtype="notification", message={"role": "user", "parts": parts}),
        _record(2, "user", subtype="mid_turn_user_message", **said),
        _record(3, "user", subtype="goal_runtime", **said),
        _record(4, "user", externalInputKind="notification", **said),
    )
    assert [event.type for event in events] == ["system.event", "message.user", "system.event", "system.event"]
    assert _subtypes(events) == ["notification", "goal_runtime", "notification"]


def test_what_a_hook_adds_to_a_prompt_is_not_the_prompt() -> None:
    """The message has the words of the person; the hook's follow as a system event."""
    hook = "<qwen:user-prompt-submit-context>\nfrom a hook\n</qwen:user-prompt-submit-context>"
    message = {"role": "user", "parts": [{"text": "Go."}, {"text": hook}]}
    said, added = _parsed(_record(1, "user", message=message))
    assert [block.text for block in said.payload.blocks] == ["Go."]
    assert (added.payload.subtype, added.payload.text) == ("hook_context", hook)


def test_a_compaction_has_its_summary() -> None:
    """What is left of the history begins with it."""
    history = [{"role": "user", "parts": [{"text": "<state_snapshot>short</state_snapshot>"}]}]
    payload = {"info": {"originalTokenCount": 900, "newTokenCount": 90}, "compressedHistory": history}
    (event,) = _parsed(_record(1, "system", subtype="chat_compression", systemPayload=payload))
    assert (event.payload.subtype, event.payload.text) == ("compaction", "<state_snapshot>short</state_snapshot>")
    assert event.payload.data == {"part": "summary", "pre_tokens": 900, "post_tokens": 90}


def test_thoughts_beside_the_output_are_added() -> None:
    """A provider that counts as Gemini's API does shows it by its total."""
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 7, "totalTokenCount": 127}
    message = {"role": "model", "parts": [{"text": "x"}]}
    inside = _parsed(_record(1, "assistant", message=message, usageMetadata={**usage, "totalTokenCount": 120}))
    beside = _parsed(_record(1, "assistant", message=message, usageMetadata=usage))
    assert (_totals(inside)[2], _totals(beside)[2]) == (20, 27)


def test_a_fork_names_its_origin_and_costs_nothing_again() -> None:
    """Copied records say where they come from, once as an event, and their calls count once over both files."""
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    answer = _record(2, "assistant", message={"role": "model", "parts": [{"text": "x"}]}, usageMetadata=usage)
    copy = {**answer, "sessionId": "b" * 8, "forkedFrom": {"sessionId": SESSION, "messageUuid": answer["uuid"]}}
    other = "7f0f3f0a-7c3f-4c5f-9b52-0c7e0d1e2f3b"
    forked = _parsed(copy, {**copy, "uuid": "c"}, context=Context(run_id=other))
    assert [event.payload.data for event in forked if _subtypes([event]) == ["fork"]] == [{"sessionId": SESSION}]
    assert SPEC.fork == ("fork", "sessionId")
    assert usage_totals([*_parsed(answer), *_parsed(copy, context=Context(run_id=other))]).total.records == 1


def test_an_interrupt_and_a_failed_model_are_the_status() -> None:
    """A cancelled call is the user's stop; a failed call of the model is told by telemetry only."""
    wanted = {"sleep": "interrupted", "err400": "failed", "resume": "finished", "err400-0.15": "failed"}
    found = {}
    for case in wanted:
        status = RunStatus()
        for event in run_of(FOLDER / "qwen_code" / case):
            status.add(event)
        found[case] = status.verdict().status
    assert found == wanted


def test_a_parked_output_is_whole(tmp_path: Path) -> None:
    """An output that was too long for the model is read from the folder in which the program keeps it."""
    home = tmp_path / ".qwen"
    chats, kept = home / "projects" / "-work" / "chats", home / "tmp" / "0abc" / "tool-results"
    chats.mkdir(parents=True)
    kept.mkdir(parents=True)
    (kept / "shell-1.output").write_text("all of it", "utf-8")
    shown = "Tool output was too large and has been truncated.\nThe full output has been saved to: {}\nTo read …"

    def result(number: int, path: str) -> dict[str, Any]:
        answer = {"id": f"c{number}", "name": "run_shell_command", "response": {"output": shown.format(path)}}
        message = {"role": "user", "parts": [{"functionResponse": answer}]}
        return _record(number, "tool_result", message=message, toolCallResult={"callId": f"c{number}"})

    paths = ["/home/user/.qwen/tmp/0abc/tool-results/shell-1.output", "/home/user/.qwen/tmp/../../x/y", "/etc/passwd"]
    lines = [json.dumps(result(number, path)) + "\n" for number, path in enumerate(paths, 1)]
    (chats / f"{SESSION}.jsonl").write_text("".join(lines), "utf-8")
    outputs = [event.payload.output for event in convert(chats / f"{SESSION}.jsonl")]
    assert outputs == ["all of it", *(shown.format(path) for path in paths[1:])]


def test_a_duration_comes_from_telemetry_or_from_the_result() -> None:
    """Telemetry of a call stands before its result; a subagent's file has it in the result."""
    event = {"event.name": "qwen-code.tool_call", "call_id": "c1", "duration_ms": 12}
    answer = {"id": "c1", "name": "edit", "response": {"output": "ok"}}
    message = {"role": "user", "parts": [{"functionResponse": answer}]}
    events = _parsed(
        _record(1, "system", subtype="ui_telemetry", systemPayload={"uiEvent": event}),
        _record(2, "tool_result", message=message, toolCallResult={"callId": "c1", "status": "success"}),
        _record(3, "tool_result", message=message, toolCallResult={"callId": "c1", "durationMs": 5}),
    )
    results = [event.payload for event in events if isinstance(event.payload, ToolPayload)]
    assert [each.duration_ms for each in results] == [12.0, 5.0]
