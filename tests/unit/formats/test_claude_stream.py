"""claude_stream: what claude -p --output-format stream-json prints, one behaviour each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stenograph.formats.base import Context, Report
from stenograph.formats.claude_stream import SPEC
from stenograph.formats.claude_stream.detection import detect, identify
from stenograph.model import Event, TextBlock, ThinkingBlock, ToolUseBlock

RUN = "83caaddb-cd38-4e8f-bea2-7f079d64162c"


def parsed(*records: Any, **context: Any) -> tuple[list[Event], Report]:
    parser = SPEC.open(Context(run_id=RUN, **context))
    got = parser.feed("".join(json.dumps(record) + "\n" for record in records).encode())
    return got + parser.finish(), parser.report


def events(*records: Any, **context: Any) -> list[Event]:
    return parsed(*records, **context)[0]


def line(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "session_id": RUN, "parent_tool_use_id": None, **fields}


def assistant(*content: Any, id: str | None = "m1", model: str = "m-1", out: int = 1, **fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": 10, "output_tokens": out}
    return line("assistant", message={"id": id, "model": model, "content": list(content), "usage": usage}, **fields)


def streamed(**event: Any) -> dict[str, Any]:
    return line("stream_event", event=event)


def start(id: str = "m1", out: int = 1) -> dict[str, Any]:
    message = {"id": id, "model": "m-1", "content": [], "usage": {"input_tokens": 10, "output_tokens": out}}
    return streamed(type="message_start", message=message)


def block(index: int, **content: Any) -> dict[str, Any]:
    return streamed(type="content_block_start", index=index, content_block=content)


def delta(index: int, **piece: Any) -> dict[str, Any]:
    return streamed(type="content_block_delta", index=index, delta=piece)


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


PARTIAL = [
    start(),
    block(0, type="text", text=""),
    delta(0, type="text_delta", text="Hel"),
    delta(0, type="text_delta", text="lo"),
]


def test_partial_messages_are_not_counted_beside_the_whole() -> None:
    """A whole line repeats them, so they are accumulated and forgotten."""
    got, report = parsed(*PARTIAL, assistant(text("Hello")), streamed(type="content_block_stop", index=0))
    assert [event.type for event in got] == ["message.assistant", "token.usage"]
    assert report.accumulated == 5


def test_a_message_that_never_came_whole_is_given_at_the_end() -> None:
    """An interruption loses nothing that was streamed; a cut input stays the text it was."""
    tool = block(1, type="tool_use", id="t1", name="Bash", input={})
    thinking = block(2, type="thinking", thinking="")
    got, report = parsed(
        *PARTIAL, tool, delta(1, type="input_json_delta", partial_json='{"comm'), thinking,
        delta(2, type="thinking_delta", thinking="hm"), delta(2, type="signature_delta", signature="s"),
    )  # fmt: skip
    assert [event.type for event in got] == ["message.assistant", "tool.call"]
    said, call, thought = got[0].payload.blocks
    assert isinstance(said, TextBlock)
    assert isinstance(call, ToolUseBlock)
    assert isinstance(thought, ThinkingBlock)
    assert (said.text, call.tool_input, thought.thinking) == ("Hello", '{"comm', "hm")
    assert got[0].payload.message_id == "m1"
    assert report.accumulated == 8


def test_the_next_message_brings_out_one_that_never_came_whole() -> None:
    """In the order in which they were said."""
    got = events(*PARTIAL, start("m2"), assistant(text("Second"), id="m2"))
    assert [event.payload.message_id for event in got if event.type == "message.assistant"] == ["m1", "m2"]


def test_words_that_no_whole_line_repeats_are_not_lost() -> None:
    """Also where nothing but their text tells messages apart."""
    got = events(
        delta(0, type="text_delta", text="Reading."),
        assistant({"type": "tool_use", "id": "t1", "name": "Read", "input": {}}, id=None),
        assistant(text("Done."), id=None),
        line("result", subtype="success", result="Done."),
    )
    said = [block.text for event in got if event.type == "message.assistant" for block in event.payload.blocks[:1]
            if isinstance(block, TextBlock)]  # fmt: skip
    assert said == ["Done.", "Reading."]


def test_final_usage_comes_with_message_delta() -> None:
    """Whole lines have that of message_start; counts that message_delta leaves out are those of the start."""
    final = streamed(type="message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 158})
    got = events(*PARTIAL, assistant(text("Hello")), final)
    counted = [event.payload for event in got if event.type == "token.usage"]
    assert [(each.message_id, each.input_tokens, each.output_tokens) for each in counted] == [
        ("m1", 10, 1),
        ("m1", 10, 158),
    ]


def test_a_result_is_the_end_of_a_turn_with_its_usage() -> None:
    """It repeats the last answer, which is no second message."""
    usage = {"input_tokens": 1, "cache_read_input_tokens": 30, "output_tokens": 9}
    got = events(line("result", subtype="success", is_error=False, num_turns=2, result="Done.", usage=usage))
    assert [event.type for event in got] == ["system.event", "token.usage"]
    assert (got[0].payload.subtype, got[0].payload.text) == ("result", "Done.")
    assert (got[1].payload.scope, got[1].payload.input_tokens, got[1].payload.message_id) == ("turn", 31, None)


def test_a_turn_that_asked_no_model_has_no_usage() -> None:
    """A local command costs nothing."""
    usage = {"input_tokens": 0, "output_tokens": 0}
    assert [event.type for event in events(line("result", subtype="success", usage=usage))] == ["system.event"]


def test_an_error_is_reported_once() -> None:
    """The result of the turn repeats what a synthetic answer already said."""
    failed = assistant(text("API Error: 400"), model="<synthetic>", error="unknown", api_error_status=400)
    end = line("result", subtype="success", is_error=True, result="API Error: 400")
    assert [event.type for event in events(failed, end)] == ["message.assistant", "error", "system.event"]


def test_a_turn_that_failed_without_an_answer_is_an_error() -> None:
    """As when it ran out of turns."""
    got = events(line("result", subtype="error_max_turns", is_error=True, errors=["Reached 3 turns"]))
    assert [event.type for event in got] == ["system.event", "error"]
    assert (got[1].payload.message, got[1].payload.code) == ("Reached 3 turns", "error_max_turns")


def test_the_output_of_a_local_command_is_an_answer_but_no_error() -> None:
    """Slash commands are answered by a synthetic message."""
    got = events(assistant(text("Total cost: $0"), model="<synthetic>"))
    assert [event.type for event in got] == ["message.assistant"]


def test_lines_of_a_subagent_have_its_source_and_call() -> None:
    """By agent_id, by task_started, or by the call itself when nothing else is known."""
    started = line("system", subtype="task_started", task_type="local_agent", tool_use_id="t1", task_id="a1")
    got = events(
        started,
        line("user", parent_tool_use_id="t1", message={"content": [text("count")]}),
        line("user", parent_tool_use_id="t2", agent_id="a2", message={"content": [text("count")]}),
        line("stream_event", parent_tool_use_id="t2", event={"type": "message_start"}),
        assistant(text("x"), parent_tool_use_id="t2"),
        line("user", parent_tool_use_id="t3", message={"content": [text("count")]}),
    )
    placed = [(event.source, event.origin and event.origin.parent_call_id) for event in got if "message" in event.type]
    assert placed == [
        ("subagent:a1", "t1"),
        ("subagent:a2", "t2"),
        ("subagent:a2", "t2"),
        ("subagent:t3", "t3"),
    ]
    assert got[1].type == "message.user"
    assert got[1].origin is not None
    assert got[1].origin.parent_source == "main"


@pytest.mark.parametrize(
    ("record", "subtype"),
    [
        (line("user", isSynthetic=True, message={"content": [text("Output token limit hit. Resume")]}), "max_tokens"),
        (line("user", isReplay=True, message={"content": "<local-command-stdout>x</local-command-stdout>"}),
         "local_command_output"),
        (line("user", isReplay=True, message={"content": "This session is being continued from a previous conversation"
                                              " that ran out of context."}), "compaction"),
        (line("system", subtype="compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 5}),
         "compaction"),
        (line("system", subtype="init", model="m"), "init"),
        (line("system", subtype="thinking_tokens", estimated_tokens=4), "thinking_tokens"),
        (line("conversation_reset", new_conversation_id="x"), "conversation_reset"),
        (line("control_request", request={"subtype": "interrupt"}), "control_request"),
        (line("system", subtype="permission_denied", message="not granted"), "permission_denied"),
    ],
)  # fmt: skip
def test_what_the_harness_says_is_a_system_event(record: dict[str, Any], subtype: str) -> None:
    """Named by what it is."""
    (event,) = events(record)
    assert (event.type, event.payload.subtype) == ("system.event", subtype)


def test_a_replayed_prompt_is_a_user_message() -> None:
    """--replay-user-messages echoes what the calling program said."""
    (event,) = events(line("user", isReplay=True, message={"role": "user", "content": "hello"}))
    assert event.type == "message.user"


def test_the_whole_stream_as_one_array_is_read() -> None:
    """--output-format json --verbose prints it so."""
    records = [line("system", subtype="init"), assistant(text("hi")), 5]
    got, report = parsed(records)
    assert [event.type for event in got] == ["system.event", "message.assistant", "token.usage", "unknown"]
    assert detect([records], "x.json")
    assert identify([records], "x.json").native_id == RUN
    assert report.failed == 0


def test_a_type_nobody_knows_is_unknown() -> None:
    """And counted."""
    got, report = parsed(line("hologram"))
    assert got[0].type == "unknown"
    assert report.unknown_types == {"hologram": 1}


def test_the_session_is_the_one_that_init_names() -> None:
    """Hooks that run before it may show one that never exists."""
    records = [
        {"type": "system", "subtype": "hook_started", "session_id": "11111111-0000-4000-8000-000000000000"},
        {"type": "system", "subtype": "init", "session_id": RUN},
    ]
    assert identify(records, "-").native_id == RUN


@pytest.mark.parametrize(
    ("record", "is_stream"),
    [
        ({"type": "system", "subtype": "init", "session_id": RUN}, True),
        ({"type": "result", "subtype": "success", "session_id": RUN}, True),
        ({"type": "stream_event", "event": {"type": "message_start"}}, True),
        ({"type": "user", "message": {"content": "x"}, "session_id": RUN, "parent_tool_use_id": None}, True),
        ({"type": "user", "message": {"content": "x"}, "sessionId": RUN}, False),
        ({"type": "system", "subtype": "init", "sessionId": "droid"}, False),
        ({"type": "system", "subtype": "init", "session_id": RUN, "permission_mode": "yolo"}, False),
        ({"type": "init", "session_id": RUN}, False),
        ({"type": "result", "status": "success", "stats": {}}, False),
    ],
)
def test_only_the_stream_is_detected(record: dict[str, Any], is_stream: bool) -> None:
    """Session files, Droid's, Qwen Code's and Gemini's streams are not it."""
    assert (detect([record], "x.jsonl") > 0) is is_stream
