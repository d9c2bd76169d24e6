"""What `copilot --output-format json` prints, as events."""

from __future__ import annotations

import json
from typing import Any

from stenograph.formats.base import Context, Report
from stenograph.formats.copilot_stream import SPEC
from stenograph.formats.registry import detect_records
from stenograph.model import Event, TextBlock

RUN = "5fad63ac-fb72-4149-8b2c-adad10323ba2"


def record(type: str, agent: str | None = None, **data: Any) -> dict[str, Any]:
    """One line of the stream; pieces are marked as such."""
    named = {} if agent is None else {"agentId": agent}
    lasting = type in ("assistant.message", "user.message", "tool.execution_complete", "assistant.turn_end")
    mark = {} if lasting else {"ephemeral": True}
    return {"type": type, "data": data, **named, **mark, "id": "e", "timestamp": "2026-11-15T19:12:42Z"}


def text_piece(text: str, id: str = "m1", agent: str | None = None) -> dict[str, Any]:
    return record("assistant.message_delta", agent, messageId=id, deltaContent=text)


def thought_piece(text: str, id: str = "r1") -> dict[str, Any]:
    return record("assistant.reasoning_delta", reasoningId=id, deltaContent=text)


def call_piece(text: str, id: str = "c1") -> dict[str, Any]:
    return record("assistant.tool_call_delta", toolCallId=id, toolName="bash", inputDelta=text)


def whole(text: str, id: str = "m1", **data: Any) -> dict[str, Any]:
    return record("assistant.message", messageId=id, content=text, **{"toolRequests": [], **data})


def printed(text: str, id: str = "c1") -> dict[str, Any]:
    return record("tool.shell_output", toolCallId=id, stream="stdout", text=text)


def read(*records: Any) -> tuple[list[Event], Report]:
    parser = SPEC.open(Context(run_id=RUN))
    events = parser.feed(b"".join(json.dumps(each).encode() + b"\n" for each in records)) + parser.finish()
    assert parser.report.failed == 0
    named = {event.origin.line for event in events if event.origin}
    assert len(named) + parser.report.accumulated == len(records)
    return events, parser.report


def said(*records: Any) -> list[list[Any]]:
    """The blocks of every message of the assistant, as plain values."""
    found = [event.payload for event in read(*records)[0] if event.type == "message.assistant"]
    return [[getattr(block, "text", getattr(block, "thinking", None)) for block in each.blocks] for each in found]


def test_pieces_give_way_to_their_whole() -> None:
    """A message that comes whole is one event; its pieces are counted."""
    events, report = read(thought_piece("H"), thought_piece("m."), text_piece("Lo"), text_piece("ok."),
                          whole("Look.", reasoningText="Hm."),
                          record("assistant.reasoning", reasoningId="r1", content="Hm."))  # fmt: skip
    assert [event.type for event in events] == ["message.assistant"]
    assert report.accumulated == 5


def test_pieces_that_never_come_whole_are_given_at_the_end() -> None:
    """A killed process leaves what it had told, under the line of the last piece, the half of a call as its text."""
    events, _ = read(whole("first", "m0"), thought_piece("Hm."), text_piece("Lo"), call_piece('{"comm'))
    assert [event.type for event in events] == ["message.assistant", "message.assistant", "tool.call"]
    assert events[1].origin is not None
    assert events[1].origin.line == 4
    assert events[2].payload.input == '{"comm'
    assert said(thought_piece("Hm."), text_piece("Lo")) == [["Hm.", "Lo"]]


def test_a_failed_call_of_the_model_ends_its_message() -> None:
    """What a broken answer had said is kept before the next try begins."""
    failed = record("model.call_failure", statusCode=500, errorMessage="broken")
    assert said(text_piece("Half"), failed, text_piece("All of it", "m2"), whole("All of it", "m2")) == [
        ["Half"],
        ["All of it"],
    ]


def test_subagents_stream_side_by_side() -> None:
    """Pieces belong to the message of their own source."""
    records = (text_piece("main"), text_piece("child", "m2", "a1"), whole("main"))
    events, _ = read(*records)
    assert [(event.source, event.type) for event in events] == [
        ("main", "message.assistant"),
        ("subagent:a1", "message.assistant"),
    ]


def test_all_that_a_command_printed_stands_beside_a_preview() -> None:
    """Where a result holds only a preview, the pieces are the only whole there is; else they repeat it."""
    preview = "Output too large to read at once (340.7 KB). Saved to: /tmp/x.txt\n<exit code 0>"
    done = record("tool.execution_complete", toolCallId="c1", success=True, result={"content": preview})
    short = record("tool.execution_complete", toolCallId="c1", success=True, result={"content": "1\n2\n"})
    (large,) = (event.payload for event in read(printed("1\n"), printed("2\n"), done)[0])
    assert [block.text for block in large.blocks if isinstance(block, TextBlock)] == ["1\n2\n", preview]
    (small,) = (event.payload for event in read(printed("1\n"), printed("2\n"), short)[0])
    assert (small.output, small.blocks) == ("1\n2\n", None)


def test_what_an_unfinished_command_printed_is_kept() -> None:
    """Without a result it is a system event under the line of the last piece."""
    (event,) = read(printed("1\n"), printed("2\n"))[0]
    assert (event.payload.subtype, event.payload.text) == ("tool.shell_output", "1\n2\n")


def test_the_last_line_names_the_session() -> None:
    """Only there, so a stream is the session's run when the end is in sight."""
    end = {"type": "result", "timestamp": "t", "sessionId": RUN, "exitCode": 0, "usage": {"premiumRequests": 0}}
    events, _ = read(whole("Hi"), end)
    assert events[-1].payload.data == {"exitCode": 0, "usage": {"premiumRequests": 0}}
    assert SPEC.identify([whole("Hi"), end], "x").session_id == RUN
    assert SPEC.identify([whole("Hi")], "x").session_id is None


def test_the_stream_is_told_from_the_file() -> None:
    """By what never goes to a file; without it the same records are a session file."""
    streamed, stored = [text_piece("H"), whole("Hi")], [whole("Hi")]
    assert [getattr(detect_records(each), "name", None) for each in (streamed, stored)] == [
        "copilot_stream",
        "copilot_cli",
    ]
