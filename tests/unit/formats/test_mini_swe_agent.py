"""mini_swe_agent: rows that the golden cases do not have, as the program's own source (2.4.6) writes them."""

from __future__ import annotations

from typing import Any

import pytest

from stenograph.fold.actions import action
from stenograph.fold.calls import pair_calls
from stenograph.fold.status import RunStatus
from stenograph.formats.base import Context
from stenograph.formats.mini_swe_agent import SPEC
from stenograph.formats.registry import detect_records
from stenograph.model import Event, TextBlock, ThinkingBlock, ToolUseBlock

RUN = "550e8400-e29b-41d4-a716-446655440000"
PROMPTS = [{"role": "system", "content": "You are helpful."}, {"role": "user", "content": "Fix it."}]


def _trajectory(*rows: dict[str, Any]) -> dict[str, Any]:
    info = {"mini_version": "2.4.6", "config": {"environment": {"cwd": "/repo"}, "model": {"model_name": "openai/m"}}}
    return {"info": info, "messages": [*PROMPTS, *rows], "trajectory_format": "mini-swe-agent-1.1"}


def _events(*rows: dict[str, Any]) -> list[Event]:
    parser = SPEC.open(Context(run_id=RUN))
    return parser.feed_object(_trajectory(*rows)) + parser.finish()


def _types(events: list[Event]) -> list[str]:
    return [event.type for event in events]


def _status(events: list[Event]) -> str:
    status = RunStatus()
    for event in events:
        status.add(event)
    return status.verdict().status


def _printed(text: str, code: int = 0, **more: Any) -> dict[str, Any]:
    return {"raw_output": text, "returncode": code, "timestamp": 1794835774.5, "exception_info": "", **more}


def test_actions_in_the_text_are_calls_of_the_shell() -> None:
    """A model without tools: the action is in its text, what it printed is a user's row, and both are one call."""
    said = {
        "role": "assistant",
        "content": "Look.\n```mswea_bash_command\nls\n```",
        "extra": {"actions": [{"command": "ls"}], "response": {"id": "r1", "model": "m"}, "timestamp": 1794835774.1},
    }
    seen = {"role": "user", "content": "<returncode>2</returncode>", "extra": _printed("no such file", 2)}
    events = _events(said, seen)
    assert _types(events)[2:] == ["message.user", "message.assistant", "tool.call", "tool.result"]
    (pair,) = pair_calls(events)
    found = action(pair)
    assert (found.kind, found.command, found.exit_code) == ("shell", "ls", 2)


def test_answers_of_responses_are_rows_of_their_own_shape() -> None:
    """Through the Responses API a row is the whole answer, and a result is a `function_call_output`."""
    said = {
        "object": "response", "id": "resp_1", "model": "m", "status": "completed",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Look."}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'},
        ],
        "usage": {"input_tokens": 10, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2}},
        "extra": {"actions": [{"command": "ls", "tool_call_id": "c1"}], "cost": 0.25, "timestamp": 1794835774.1},
    }  # fmt: skip
    seen = {"type": "function_call_output", "call_id": "c1", "output": "{}", "extra": _printed("a.txt\n")}
    events = _events(said, seen)
    assert _types(events)[3:] == ["message.assistant", "tool.call", "token.usage", "tool.result"]
    message, usage, result = events[3].payload, events[5].payload, events[6].payload
    assert [type(block) for block in message.blocks] == [ThinkingBlock, TextBlock, ToolUseBlock]
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_output_tokens, usage.cost_usd) == (10, 5, 2, 0.25)
    assert (result.call_id, result.output["output"], result.error) == ("c1", "a.txt\n", None)


def test_a_command_that_was_not_run_has_failed() -> None:
    """The program says so itself; an exit code alone is not a failure."""
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    said = {"role": "assistant", "content": None, "tool_calls": [call], "extra": {}}
    why = "action was not executed"
    seen = {"role": "tool", "tool_call_id": "c1", "content": "{}", "extra": _printed("", -1, exception_info=why)}
    events = _events(said, seen)
    assert events[-1].payload.error == why


@pytest.mark.parametrize("kind", ["UserRejection", "UserNewTask"])
def test_words_of_a_person_are_a_user_message(kind: str) -> None:
    """A rejection and a new task are what a person typed."""
    events = _events({"role": "user", "content": "Not so.", "extra": {"interrupt_type": kind}})
    assert _types(events)[2:] == ["message.user", "message.user"]
    assert _status(events) == "unknown"


def test_an_interruption_is_one() -> None:
    """Ctrl-C and what the person typed then."""
    row = {"role": "user", "content": "Interrupted by user: stop", "extra": {"interrupt_type": "UserInterruption"}}
    assert _status(_events(row)) == "interrupted"


def test_a_command_that_a_person_gave_is_a_call() -> None:
    """In human mode there is no model: the command of the person and what it printed are a pair."""
    given = {"role": "user", "content": "User command: \n```bash\nls\n```", "extra": {"actions": [{"command": "ls"}]}}
    events = _events(given, {"role": "user", "content": "x", "extra": _printed("a.txt")})
    (pair,) = pair_calls(events)
    assert pair.result is not None
    assert pair.result.payload.output["output"] == "a.txt"


@pytest.mark.parametrize(("exit_status", "status"), [("Submitted", "finished"), ("LimitsExceeded", "failed")])
def test_the_exit_row_says_how_the_run_ended(exit_status: str, status: str) -> None:
    """Only a submission is a success."""
    row = {"role": "exit", "content": exit_status, "extra": {"exit_status": exit_status, "submission": "diff"}}
    assert _status(_events(row)) == status


def test_a_run_is_known_by_its_prompts_and_its_first_answer() -> None:
    """The file is written over by the next run, often with the same prompts; what comes later changes nothing."""
    first = {"role": "assistant", "content": "A", "extra": {"response": {"id": "r1"}}}
    other = {"role": "assistant", "content": "A", "extra": {"response": {"id": "r2"}}}
    one = SPEC.identify([_trajectory(first)], "x.traj.json")
    assert one.native_id == SPEC.identify([_trajectory(first, other)], "y.traj.json").native_id
    assert one.native_id != SPEC.identify([_trajectory(other)], "x.traj.json").native_id
    assert (one.cwd, one.model, one.agent_version) == ("/repo", "openai/m", "2.4.6")


def test_it_is_detected_by_the_name_of_its_format() -> None:
    """Whatever the file is called."""
    assert detect_records([_trajectory()], "a.json") is SPEC
