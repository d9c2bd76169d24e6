"""What `gemini --output-format stream-json` prints, as events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context, Report
from stenograph.formats.gemini_stream import SPEC
from stenograph.model import Event

SESSION = "1c5e5105-b458-494c-b098-0a0e142cf399"
INIT = {"type": "init", "timestamp": "T0", "session_id": SESSION, "model": "flash"}
USE = {"type": "tool_use", "timestamp": "T3", "tool_name": "shell", "tool_id": "c", "parameters": {"command": "ls"}}
RESULT = {"type": "tool_result", "timestamp": "T4", "tool_id": "c", "status": "success", "output": "out"}

ERROR = {"type": "error", "timestamp": "T5", "message": "blocked"}


def delta(text: Any, at: str = "T2") -> dict[str, Any]:
    return {"type": "message", "timestamp": at, "role": "assistant", "content": text, "delta": True}


def end(status: str = "success", **more: Any) -> dict[str, Any]:
    numbers = {"total_tokens": 1134, "input_tokens": 1100, "output_tokens": 21, "cached": 400, "input": 700}
    stats = {**numbers, "duration_ms": 5, "tool_calls": 1, "models": {"flash": numbers}}
    return {"type": "result", "timestamp": "T9", "status": status, "stats": stats, **more}


def read(*records: Any) -> tuple[list[Event], Report]:
    parser = SPEC.open(Context(run_id=SESSION))
    events = parser.feed(b"".join(json.dumps(record).encode() + b"\n" for record in records)) + parser.finish()
    assert parser.report.failed == 0
    assert len({event.origin.line for event in events if event.origin}) + parser.report.accumulated == len(records)
    return events, parser.report


def types(*records: Any) -> list[str]:
    """Event types; system events by their subtype."""
    events = read(*records)[0]
    return [f"<{event.payload.subtype}>" if event.type == "system.event" else event.type for event in events]


def test_a_turn_is_told_in_order() -> None:
    """Prompt, answer, call, result and what it took; the session is named by every event."""
    prompt = {"type": "message", "timestamp": "T1", "role": "user", "content": "Go"}
    events, _ = read(INIT, prompt, delta("Going. "), USE, RESULT, delta("Done."), end())
    assert [event.type for event in events] == [
        "system.event", "message.user", "message.assistant", "message.assistant", "tool.call", "tool.result",
        "message.assistant", "system.event", "token.usage",
    ]  # fmt: skip
    assert {event.origin.session_id for event in events if event.origin} == {SESSION}
    assert events[5].payload.name == "shell"
    assert events[2].payload.model == "flash"


@given(st.lists(st.text(min_size=1), min_size=1, max_size=6))
def test_deltas_are_joined(texts: list[str]) -> None:
    """They add up to one message, which has the time of the first and the place of the last."""
    events, report = read(*[delta(text, f"T{number}") for number, text in enumerate(texts)], USE)
    message = events[0]
    assert message.payload.blocks[0].text == "".join(texts)
    assert (message.timestamp, message.origin and message.origin.line) == ("T0", len(texts))
    assert report.accumulated == len(texts) - 1
    assert (message.raw, events[1].raw) == (None, json.dumps(USE))
    assert events[1].timestamp == "T3"


def test_an_answer_that_was_cut_is_given_at_the_end() -> None:
    """What a killed program printed of its last answer is kept."""
    events, report = read(INIT, delta("Part "), delta("one"))
    assert (events[-1].type, events[-1].payload.blocks[0].text, report.accumulated) == (
        "message.assistant",
        "Part one",
        1,
    )


def test_what_nobody_knows_between_two_deltas_is_not_lost() -> None:
    """An unknown line ends an answer and is an event of its own."""
    assert types(delta("a"), {"type": "later"}, delta("b")) == ["message.assistant", "unknown", "message.assistant"]
    assert (
        types({"type": "message", "role": "ghost", "content": "x"}, {"type": "message", "role": "user"})
        == ["unknown"] * 2
    )


def test_a_failed_tool_has_the_words_of_its_error() -> None:
    """What people are shown is the output; what the model got is the error."""
    failed = {
        **RESULT,
        "status": "error",
        "output": "short",
        "error": {"type": "file_not_found", "message": "File not found: x"},
    }
    result = read(USE, failed)[0][-1].payload
    assert (result.output, result.error) == ("short", "File not found: x")
    assert read({**RESULT, "status": "error", "output": None})[0][0].payload.error == "The tool failed."
    assert read({**RESULT, "status": "success", "output": "Exit Code: 3"})[0][0].payload.error is None


def test_usage_is_that_of_the_whole_program_by_model() -> None:
    """Thoughts are in the total only; they count as output."""
    events, _ = read(INIT, end())
    total = usage_totals(events)
    assert (total.total.input_tokens, total.total.output_tokens, total.total.reasoning_output_tokens) == (1100, 34, 13)
    assert list(total.by_model) == ["flash"]
    two = end()
    two["stats"]["models"]["lite"] = {"total_tokens": 12, "input_tokens": 10, "output_tokens": 2, "cached": 0}
    assert usage_totals(read(INIT, two)[0]).total.input_tokens == 1110
    del two["stats"]["models"]
    assert usage_totals(read(INIT, two)[0]).by_model["flash"].input_tokens == 1100


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([end("error", error={"type": "Fatal", "message": "no key"})], ["<result>", "error", "token.usage"]),
        ([{**ERROR, "severity": "error"}, end("error")], ["error", "<result>", "token.usage"]),
        ([{**ERROR, "severity": "warning"}, end()], ["<warning>", "<result>", "token.usage"]),
        ([{"type": "result", "status": "success"}], ["<result>"]),
    ],
)  # fmt: skip
def test_an_error_is_told_once(records: list[dict[str, Any]], expected: list[str]) -> None:
    """A result repeats that something failed; it is an error only when nothing said so before."""
    assert types(*records) == expected


@pytest.mark.parametrize("record", [INIT, USE, RESULT, delta("x")])
def test_any_line_tells_the_stream(record: dict[str, Any]) -> None:
    """Also a stream whose beginning is gone is known."""
    assert SPEC.detect([record], "-")
    assert SPEC.identify([INIT], "-").run_id("gemini_stream", "-") == SESSION


@pytest.mark.parametrize(
    "record",
    [
        {"type": "system", "subtype": "init", "session_id": SESSION, "model": "x", "uuid": "u"},
        {"type": "tool_use", "id": "x", "name": "Bash", "input": {}},
        {"type": "tool_use", "timestamp": 1, "sessionID": "ses_1", "part": {}},
        {"type": "message", "role": "assistant", "content": []},
    ],
)
def test_lines_of_others_are_not_ours(record: dict[str, Any]) -> None:
    """Claude's stream, flat records, OpenCode's stream and the Messages API are told apart."""
    assert not SPEC.detect([record], "-")
