"""The entry table of the wire, row by row, and where provider fields go."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from stenograph.model import (
    EVENT_TYPES,
    AttachmentBlock,
    CommandBlock,
    ErrorPayload,
    Event,
    LifecyclePayload,
    MessagePayload,
    Origin,
    StreamBlock,
    SystemPayload,
    TextBlock,
    ThinkingBlock,
    ToolPayload,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    UnknownPayload,
    UsagePayload,
)
from stenograph.model.value import Extra
from stenograph.transcript import Projector, entries

LINE = '{"type":"assistant","message":{"id":"m"}}'


def _event(type: str, payload: Any, **fields: Any) -> Event:
    given = {"seq": 1, "run_id": "r-1", "path": "", "iteration": 0, "timestamp": "2026-06-08T08:14:42Z"} | fields
    return Event(type=type, payload=payload, **given)


def _text(text: str) -> TextBlock:
    return TextBlock(fidelity="router", text=text)


def _thought(text: str) -> ThinkingBlock:
    return ThinkingBlock(fidelity="router", thinking=text)


def _picture() -> AttachmentBlock:
    return AttachmentBlock(fidelity="router", media_type="image/png", size=67, sha256="0" * 64)


def _use(name: str = "Read") -> ToolUseBlock:
    return ToolUseBlock(fidelity="router", tool_name=name, tool_id="c-1", tool_input={})


def _said(*blocks: Any, **fields: Any) -> Event:
    return _event("message.assistant", MessagePayload(role="assistant", blocks=blocks), **fields)


def _asked(*blocks: Any, system_prompt: str | None = None, **fields: Any) -> Event:
    payload = MessagePayload(role="user", blocks=blocks, system_prompt=system_prompt)
    return _event("message.user", payload, **fields)


def _call(call_id: str = "c-1", name: str = "Read", input: Any = None, **fields: Any) -> Event:
    payload = ToolPayload(name=name, call_id=call_id, input=input, output=None, fidelity="router")
    return _event("tool.call", payload, **fields)


def _result(call_id: str = "c-1", name: str = "", output: Any = "ok", **more: Any) -> Event:
    payload = ToolPayload(name=name, call_id=call_id, input=None, output=output, fidelity="router", **more)
    return _event("tool.result", payload)


def _at(line: int | None, file: str | None = None, adapter: str = "claude_code", **more: Any) -> Origin:
    return Origin(adapter=adapter, session_id="s-1", line=line, file=file, **more)


def _said_of(event: Event) -> list[tuple[str, str, str]]:
    return [(entry.entry_type, entry.role, entry.content) for entry in entries([event])]


# --- the table -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (_asked(_text("a"), _text("b")), [("user_message", "user", "a\nb")]),
        (
            _asked(_text("a"), _text("careful"), system_prompt="careful"),
            [("user_message", "system", "careful"), ("user_message", "user", "a")],
        ),
        (
            _asked(_text("a"), _text("careful"), _picture(), system_prompt="careful"),
            [("user_message", "system", "careful"), ("user_message", "user", "a\n[image/png, 67 bytes]")],
        ),
        (
            _asked(_text("careful"), _text("a"), system_prompt="careful"),
            [("user_message", "system", "careful"), ("user_message", "user", "careful\na")],
        ),
        (_asked(_text("careful"), system_prompt="careful"), [("user_message", "system", "careful")]),
        (_asked(system_prompt=""), [("user_message", "system", "")]),
        (_asked(_picture()), [("user_message", "user", "[image/png, 67 bytes]")]),
        (_asked(), [("user_message", "user", "")]),
    ],
)
def test_a_user_message(event: Event, expected: list[tuple[str, str, str]]) -> None:
    """The system prompt first and once, then the other text blocks joined by newlines."""
    assert _said_of(event) == expected


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ((), []),
        ((_text("a"),), [("assistant_message", "a")]),
        ((_text("a"), _text("b")), [("assistant_message", "a\nb")]),
        ((_thought("a"), _thought("b"), _text("c")), [("thinking", "a\nb"), ("assistant_message", "c")]),
        (
            (_text("a"), _thought("b"), _text("c")),
            [("assistant_message", "a"), ("thinking", "b"), ("assistant_message", "c")],
        ),
        ((_text("a"), _use(), _text("b")), [("assistant_message", "a"), ("assistant_message", "b")]),
        ((_use(), _use()), []),
        ((StreamBlock(fidelity="router", text="Hel"),), []),
        ((_text("a"), _picture()), [("assistant_message", "a\n[image/png, 67 bytes]")]),
        ((ToolResultBlock(fidelity="router", tool_id="c", tool_content="x"),), []),
        ((CommandBlock(fidelity="router", command="ls"),), []),
        ((UnknownBlock(extra=Extra({"type": "hologram"})), _text("a")), [("assistant_message", "a")]),
    ],
)
def test_an_assistant_message(blocks: tuple[Any, ...], expected: list[tuple[str, str]]) -> None:
    """One entry per run of adjacent blocks of one kind; tool uses and stream chunks give none and part their sides."""
    assert _said_of(_said(*blocks)) == [(kind, "assistant", content) for kind, content in expected]


@pytest.mark.parametrize(
    ("input", "content", "tool_input"),
    [
        ({"path": "main.go"}, '{\n  "path": "main.go"\n}', {"path": "main.go"}),
        ({}, "{}", {}),
        ([1], "[\n  1\n]", None),
        ("ls", '"ls"', None),
        (None, "null", None),
    ],
)
def test_a_tool_call(input: Any, content: str, tool_input: dict[str, Any] | None) -> None:
    """The input as indented JSON; as `tool_input`, too, when it is an object."""
    (entry,) = entries([_call(input=input)])
    assert (entry.entry_type, entry.role, entry.content, entry.tool_input) == (
        "tool_use",
        "assistant",
        content,
        tool_input,
    )
    assert (entry.tool_name, entry.tool_call_id) == ("Read", "c-1")


@pytest.mark.parametrize(
    ("output", "blocks", "content"),
    [
        ("as it is\n", None, "as it is\n"),
        ({"a": 1}, None, '{\n  "a": 1\n}'),
        (None, None, ""),
        (None, (_picture(), _text("below")), "[image/png, 67 bytes]\nbelow"),
        ("wins", (_picture(),), "wins"),
        (0, None, "0"),
        (None, (ToolResultBlock(fidelity="router", tool_id="c", tool_content=["x"]),), '[\n  "x"\n]'),
        (None, (CommandBlock(fidelity="router", command="ls"), _thought("hm")), "ls\nhm"),
        (None, (UnknownBlock(extra=Extra({"type": "holo"})),), '{\n  "type": "holo"\n}'),
    ],
)
def test_a_tool_result(output: Any, blocks: Any, content: str) -> None:
    """The output as text: a string as it is, anything else as indented JSON, parts where there is no output."""
    assert _said_of(_result(output=output, blocks=blocks)) == [("tool_result", "tool", content)]


@pytest.mark.parametrize("type", EVENT_TYPES[:6])
def test_runs_and_steps_are_system_events(type: str) -> None:
    """Their subtype is the event type, their content the name and, when it failed, why."""
    (good,) = entries([_event(type, LifecyclePayload(name="fix", kind="agent"))])
    assert (good.entry_type, good.role, good.content, good.detail) == (
        "system_event",
        "system",
        "fix",
        {"subtype": type},
    )
    assert _said_of(_event(type, LifecyclePayload(name="fix", kind="agent", error="boom")))[0][2] == "fix: boom"


@pytest.mark.parametrize(
    ("payload", "content"),
    [
        (SystemPayload(subtype="compaction", text="The user wants", data={"a": 1}), "The user wants"),
        (SystemPayload(subtype="compaction", data={"a": 1}), '{\n  "a": 1\n}'),
        (SystemPayload(subtype="compaction"), "compaction"),
        (SystemPayload(subtype="compaction", text=""), ""),
    ],
)
def test_a_system_event(payload: SystemPayload, content: str) -> None:
    """Its subtype is in the detail; it reads as its text, else its data, else its subtype."""
    (entry,) = entries([_event("system.event", payload)])
    assert (entry.entry_type, entry.role, entry.content) == ("system_event", "system", content)
    data = {} if payload.data is None else {"data": payload.data}
    assert entry.detail == {"subtype": "compaction", **data}


@pytest.mark.parametrize(
    ("type", "payload", "expected"),
    [
        (
            "token.usage",
            UsagePayload(scope="call", input_tokens=1200, output_tokens=80),
            ("token_usage", "1200 in, 80 out"),
        ),
        ("error", ErrorPayload(message="Overloaded", code="529"), ("error", "Overloaded")),
        ("unknown", UnknownPayload(value={"x": 1}), ("unknown", '{\n  "x": 1\n}')),
        ("unknown", UnknownPayload(value=None), ("unknown", "null")),
        ("unknown", UnknownPayload(text="Segmentation fault"), ("unknown", "Segmentation fault")),
        ("unknown", UnknownPayload(), ("unknown", "")),
    ],
)
def test_usage_errors_and_unknown_records(type: str, payload: Any, expected: tuple[str, str]) -> None:
    """Each has its own entry type, said by the system, and no subtype."""
    (entry,) = entries([_event(type, payload)])
    assert (entry.entry_type, entry.content) == expected
    assert (entry.role, entry.detail) == ("system", {})


def test_a_type_we_do_not_know_is_an_unknown_entry() -> None:
    """Its subtype is the type, its content the payload."""
    (entry,) = entries([_event("memory.saved", {"a": 1})])
    assert (entry.entry_type, entry.role, entry.detail) == ("unknown", "system", {"subtype": "memory.saved"})
    assert json.loads(entry.content) == {"a": 1}


@pytest.mark.parametrize("payload", [None, "text", [1], 5, {"a": 1}])
@pytest.mark.parametrize("type", EVENT_TYPES)
def test_a_payload_of_another_shape_is_one_entry_of_its_type(type: str, payload: Any) -> None:
    """Nothing a broken writer put there is hidden or breaks the transcript."""
    (entry,) = entries([_event(type, payload)])
    assert entry.content == ("" if payload is None else payload if payload == "text" else json.dumps(payload, indent=2))


# --- numbers and names ---------------------------------------------------------------------------------------------


def test_each_source_counts_for_itself() -> None:
    """1, 2, 3 … per source, also when they speak in turns, and events without entries leave no gap."""
    sub = Origin(source="subagent:a")
    made = entries([_said(_text("1")), _said(_text("2"), origin=sub), _said(_use()), _said(_text("3")), _result()])
    assert [(entry.source, entry.sequence_number) for entry in made] == [
        ("main", 1),
        ("subagent:a", 1),
        ("main", 2),
        ("main", 3),
    ]


def test_names_come_from_the_origin_or_the_run() -> None:
    """`prompt_name` and `adapter` are the origin's, else the run's name and ours, else empty and ours."""
    projector = Projector()
    started = _event("run.started", LifecyclePayload(name="demo", kind="workflow"))
    events = [
        _said(_text("before")),
        started,
        _said(_text("in")),
        _said(_text("named"), origin=Origin(prompt_name="review", adapter="codex_exec")),
        _said(_text("empty"), origin=Origin(prompt_name="", adapter="")),
    ]
    made = [entry for event in events for entry in projector.feed(event)]
    assert [(entry.prompt_name, entry.adapter) for entry in made] == [
        ("", "stenograph"),
        ("demo", "stenograph"),
        ("demo", "stenograph"),
        ("review", "codex_exec"),
        ("", "stenograph"),
    ]


def test_a_result_is_named_after_its_call() -> None:
    """Found by call id, across sources and steps; its own name wins; without a call it has none."""
    made = list(
        entries(
            [
                _call("c-1", "Read"),
                _call("c-2", "Bash", path="a", origin=Origin(source="subagent:a")),
                _result("c-2"),
                _result("c-1"),
                _result("c-1", name="Write"),
                _result("c-9"),
            ]
        )
    )
    assert [entry.tool_name for entry in made] == ["Read", "Bash", "Bash", "Read", "Write", None]


def test_a_call_id_means_something_only_in_its_run() -> None:
    """Two runs in one stream may use the same call ids for different tools."""
    made = entries([_call("c-1", "Read"), _call("c-1", "Bash", run_id="r-2"), _result("c-1")])
    assert [entry.tool_name for entry in made] == ["Read", "Bash", "Read"]


def test_metadata_has_error_and_duration_when_the_payload_does() -> None:
    """A failed, timed tool says so; another has no metadata at all."""
    failed, fine = entries([_result(error="exit status 1", duration_ms=12.5), _result()])
    assert failed.metadata == {"error": "exit status 1", "duration_ms": 12.5}
    assert fine.metadata is None


def test_times() -> None:
    """The event's own, aware; unreadable ones inherit the one before and keep their text."""
    texts = ["later", "2026-06-08T10:00:00+02:00", "", "2026-06-08T09:00:00", "2026-06-08T09:00:00.123456789Z"]
    made = list(entries(_said(_text("x"), timestamp=text) for text in texts))
    assert [entry.timestamp for entry in made] == [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2026, 6, 8, 8, tzinfo=UTC),
        datetime(2026, 6, 8, 8, tzinfo=UTC),
        datetime(2026, 6, 8, 9, tzinfo=UTC),
        datetime(2026, 6, 8, 9, 0, 0, 123456, tzinfo=UTC),
    ]
    assert [entry.as_dict()["timestamp"] for entry in made] == texts


def test_every_entry_has_its_run() -> None:
    """By the event, so that entries of two runs in one stream can be told apart."""
    made = list(entries([_said(_text("x")), _said(_text("y"), run_id="r-2")]))
    assert [entry.run_id for entry in made] == ["r-1", "r-2"]
    assert [entry.as_dict()["run_id"] for entry in made] == ["r-1", "r-2"]


def test_a_message_says_its_model_id_and_stop_reason() -> None:
    """On each of its entries."""
    payload = MessagePayload(
        role="assistant",
        blocks=(ThinkingBlock(thinking="hm", fidelity="agent_emitted"), _text("x")),
        model="m-1",
        message_id="msg-1",
        stop_reason="end_turn",
    )
    made = list(entries([_event("message.assistant", payload)]))
    assert [entry.metadata for entry in made] == [
        {"model": "m-1", "message_id": "msg-1", "stop_reason": "end_turn"}
    ] * 2


def test_usage_has_its_counts_by_the_names_of_the_payload() -> None:
    """Under `usage`, as far as they are told; model and message id stand beside it."""
    payload = UsagePayload(
        scope="call", input_tokens=20, output_tokens=7, cache_read_input_tokens=5, model="m-1", message_id="msg-1"
    )
    (entry,) = entries([_event("token.usage", payload)])
    counts = {"scope": "call", "input_tokens": 20, "output_tokens": 7, "cache_read_input_tokens": 5}
    assert entry.metadata == {"model": "m-1", "message_id": "msg-1", "usage": counts}


def test_an_error_says_its_code_whether_to_try_again_and_its_data() -> None:
    """As the event has them."""
    payload = ErrorPayload(message="slow down", code="429", retryable=True, data={"after": 3})
    (entry,) = entries([_event("error", payload)])
    assert (entry.metadata, entry.detail) == ({"code": "429", "retryable": True}, {"data": {"after": 3}})


def test_the_end_of_a_run_says_its_result_and_its_error() -> None:
    """The result in the detail, the error in the metadata."""
    payload = LifecyclePayload(name="demo", kind="workflow", error="timeout", result={"n": 1})
    (entry,) = entries([_event("run.completed", payload)])
    assert entry.detail == {"subtype": "run.completed", "result": {"n": 1}}
    assert entry.metadata == {"error": "timeout"}


# --- the place of an entry -----------------------------------------------------------------------------------------


def _ids(*events: Event) -> list[UUID]:
    return [entry.entry_id for entry in entries(events)]


def _place(line: int, **fields: Any) -> Origin:
    return Origin(line=line, **fields)


def test_an_entry_id_is_the_runs_the_sources_and_the_places() -> None:
    """Not the number of the entry or the event, nor what it says; another run, source, file or line is another."""
    (made,) = _ids(_said(_text("x"), seq=3, origin=_place(7), raw=LINE))
    shifted = _ids(_said(_text("before"), seq=1), _said(_text("y"), seq=9, origin=_place(7, session_id="s"), raw=LINE))
    assert shifted[1] == made
    others = [
        {"run_id": "r-2", "origin": _place(7)},
        {"origin": _place(7, source="subagent:a")},
        {"origin": _place(7, file="b.jsonl")},
        {"origin": _place(8)},
    ]
    assert made not in {_ids(_said(_text("x"), **other))[0] for other in others}


def test_events_of_one_line_are_counted() -> None:
    """Only the first has the raw text; what another source or file tells in between changes nothing."""
    first, second = _said(_text("a"), origin=_place(7), raw=LINE), _said(_text("b"), origin=_place(7))
    between = [
        _said(_text("s"), origin=_place(7, source="subagent:a")),
        _said(_text("f"), origin=_place(1, file="f")),
        _said(_text("j"), seq=4),
    ]
    alone, mixed = _ids(first, second), _ids(first, *between, second)
    assert len({*alone}) == 2
    assert [mixed[0], mixed[-1]] == alone
    assert len(set(mixed)) == 5


def test_a_line_that_was_written_anew_is_another_place() -> None:
    """With or without its raw text, and again and again."""
    made = _ids(
        _said(_text("a"), origin=_place(1), raw=LINE),
        _said(_text("b"), origin=_place(2), raw=LINE),
        _said(_text("c"), origin=_place(1), raw=LINE),
        _said(_text("d"), origin=_place(1), raw=LINE),
        _said(_text("e"), origin=_place(2)),
        _said(_text("f"), origin=_place(1)),
    )
    assert len(set(made)) == 6


def test_an_event_without_a_line_has_the_number_in_its_journal() -> None:
    """And one that was never stored its own number; the place among the entries of the event tells these apart."""
    prompt = MessagePayload(role="user", blocks=(_text("do"), _text("be kind")), system_prompt="be kind")
    asked = _event("message.user", prompt, seq=5)
    assert _ids(_said(_text("x"), seq=4), asked)[1:] == _ids(asked)
    assert len(set(_ids(asked, _said(_text("x"), seq=5), _said(_text("x"), seq=0), _said(_text("x"), seq=0)))) == 5


# --- one record, several entries -----------------------------------------------------------------------------------


def test_the_first_entry_of_a_record_has_the_line() -> None:
    """`raw`, `sdk_entry` and `raw_type` are on it; later entries of the record point to it."""
    record = [
        _said(_thought("a"), _text("b"), _use(), origin=_at(7), raw=LINE),
        _call(origin=_at(7)),
        _event("token.usage", UsagePayload(scope="call", input_tokens=1, output_tokens=1), origin=_at(7)),
        _said(_text("next"), origin=_at(8), raw=LINE),
    ]
    made = list(entries([_said(_text("other")), *record]))
    assert [entry.raw for entry in made] == [None, LINE, None, None, None, LINE]
    assert [entry.detail for entry in made] == [
        {},
        {"sdk_entry": json.loads(LINE)},
        {"of": 2},
        {"of": 2},
        {"of": 2},
        {"sdk_entry": json.loads(LINE)},
    ]
    own = {"claude_session_id": "s-1"}
    first = own | {"raw_type": "assistant"}
    usage = {"usage": {"scope": "call", "input_tokens": 1, "output_tokens": 1}}
    assert [entry.metadata for entry in made] == [None, first, own, own, own | usage, first]


def test_a_record_whose_first_event_gives_no_entry_passes_its_line_on() -> None:
    """The first entry has the line, whichever event of the record gives it."""
    made = list(entries([_said(_use(), origin=_at(7), raw=LINE), _call(origin=_at(7)), _result()]))
    assert [(entry.entry_type, entry.raw) for entry in made] == [("tool_use", LINE), ("tool_result", None)]
    assert made[0].detail == {"sdk_entry": json.loads(LINE)}
    assert made[0].metadata == {"claude_session_id": "s-1", "raw_type": "assistant"}
    assert made[1].detail == {}


def test_records_of_two_sources_that_take_turns_stay_apart() -> None:
    """A subagent's line between two events of a main line does not part them."""
    sub = _at(7, "sub.jsonl", source="subagent:a")
    made = entries(
        [
            _said(_text("a"), origin=_at(7), raw="1"),
            _said(_text("b"), origin=sub, raw="2"),
            _call(origin=_at(7)),
            _call(origin=sub),
        ]
    )
    assert [(entry.source, entry.raw, entry.detail.get("of")) for entry in made] == [
        ("main", "1", None),
        ("subagent:a", "2", None),
        ("main", None, 1),
        ("subagent:a", None, 1),
    ]


@pytest.mark.parametrize("second", [_at(7, "other.jsonl"), _at(8), _at(None)])
def test_another_place_is_another_record(second: Origin) -> None:
    """Another file, another line, or no line at all: nothing points back."""
    made = list(entries([_said(_text("a"), origin=_at(7)), _said(_text("b"), origin=second)]))
    assert [entry.detail for entry in made] == [{}, {}]


@pytest.mark.parametrize("again", [{"raw": "2"}, {"raw_b64": "/w=="}])
def test_another_raw_at_the_same_place_is_another_record(again: dict[str, str]) -> None:
    """A file that was written anew has its lines read again: each is a record of its own."""
    made = list(entries([_said(_text("a"), origin=_at(1), raw="1"), _said(_text("b"), origin=_at(1), **again)]))
    assert [entry.raw for entry in made] == ["1", again.get("raw")]
    assert "of" not in made[1].detail


def test_an_event_without_a_place_points_nowhere() -> None:
    """What our own seam records has no line: two entries of one event stand for themselves, raw on the first."""
    made = list(entries([_said(_thought("a"), _text("b"), raw="line")]))
    assert [(entry.raw, entry.detail) for entry in made] == [("line", {}), (None, {})]


@pytest.mark.parametrize(
    ("raw", "sdk_entry"),
    [
        (None, None),
        ("Segmentation fault", None),
        ("", None),
        ("null", None),
        ("[" * 5000, None),
        ('{"a":1}', {"a": 1}),
        ('\ufeff{"a":1}', {"a": 1}),
        ('{"a":"\\ud800"}', {"a": "\ufffd"}),
        ('{"a":NaN}', {"a": "NaN"}),
        ('{"a":"\ud800"}', {"a": "\ufffd\ufffd\ufffd"}),
        ("[1]", [1]),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_sdk_entry_is_the_parsed_line(raw: str | None, sdk_entry: Any) -> None:
    """Absent when raw was not kept or is not JSON; odd JSON that the formats take is taken here, too."""
    (entry,) = entries([_said(_text("a"), origin=_at(1), raw=raw)])
    assert entry.detail.get("sdk_entry") == sdk_entry
    assert "raw_type" not in (entry.metadata or {})
    assert entry.raw == raw


@pytest.mark.parametrize(("type", "raw_type"), [("assistant", "assistant"), (5, "5"), (None, "")])
def test_raw_type_is_the_type_of_the_line(type: Any, raw_type: str) -> None:
    """As text, whatever it was."""
    (entry,) = entries([_said(_text("a"), origin=_at(1), raw=json.dumps({"type": type}))])
    assert entry.metadata == {"claude_session_id": "s-1", "raw_type": raw_type}


def test_a_codex_notification_has_its_params() -> None:
    """Under `notification`, on the first entry; other agents and other lines have nothing of the kind."""
    raw = '{"method":"turn/completed","params":{"turn":1}}'
    codex, bare, other = entries(
        [
            _said(_text("a"), origin=_at(1, adapter="codex_app_server"), raw=raw),
            _said(_text("a"), origin=_at(2, adapter="codex_app_server"), raw='{"method":"x"}'),
            _said(_text("a"), origin=_at(3, adapter="gemini_cli"), raw=raw),
        ]
    )
    assert codex.detail == {"notification": {"turn": 1}}
    assert (codex.metadata, codex.session_id) == (None, "s-1")
    assert bare.detail == other.detail == {}
