"""Single lines and payloads whose treatment is decided."""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import time
from collections import OrderedDict, UserDict
from collections.abc import Callable
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest

from stenograph.errors import InvalidEvent
from stenograph.model import (
    EVENT_TYPES,
    Event,
    MessagePayload,
    Origin,
    SystemPayload,
    TextBlock,
    ToolPayload,
    ToolUseBlock,
    UnknownBlock,
    UnknownPayload,
    UsagePayload,
    decode,
    encode,
)
from stenograph.model.codec import Decoder, encode_into, fit_payload
from stenograph.model.value import Extra

ENVELOPE = {"seq": 1, "run_id": "r", "type": "x", "path": "", "iteration": 0, "timestamp": "t", "payload": None}
SMALLEST: dict[str, dict[str, Any]] = {
    **{name: {"name": "n", "kind": "k"} for name in EVENT_TYPES[:6]},
    "message.user": {"role": "user", "blocks": []},
    "message.assistant": {"role": "assistant", "blocks": []},
    "tool.call": {"name": "n", "call_id": "c", "input": None, "output": None, "fidelity": "router"},
    "tool.result": {"name": "", "call_id": "c", "input": None, "output": None, "fidelity": "agent_emitted"},
    "system.event": {"subtype": "s"},
    "token.usage": {"scope": "call", "input_tokens": 0, "output_tokens": 0},
    "error": {"message": "m"},
    "unknown": {},
}
A_BLOCK = {"type": "text", "fidelity": "router", "text": "hi"}


def _line(**fields: Any) -> bytes:
    return json.dumps(ENVELOPE | fields, separators=(",", ":")).encode()


def _event(**fields: Any) -> Event:
    return Event(**(ENVELOPE | fields))


# --- writing -------------------------------------------------------------------------------------------------------


def test_an_event_with_nothing_set_has_every_required_field() -> None:
    """Path, iteration and payload are written although they are empty, zero and null; nothing else is."""
    assert encode(_event()) == (
        b'{"seq":1,"run_id":"r","type":"x","path":"","iteration":0,"timestamp":"t","payload":null}'
    )


def test_an_event_with_everything_set_is_in_the_order_of_the_table() -> None:
    """Lineage stands after the run, origin before the payload, raw at the end."""
    event = _event(parent_run_id="p", child_run_id="c", origin=Origin(line=1), raw="x", raw_b64="eA==")
    assert list(json.loads(encode(event))) == [
        "seq", "run_id", "parent_run_id", "child_run_id", "type", "path", "iteration", "timestamp", "origin", "payload",
        "raw", "raw_b64",
    ]  # fmt: skip


@pytest.mark.parametrize("type", EVENT_TYPES)
def test_the_smallest_payload_is_written_whole(type: str) -> None:
    """Required payload fields are written with their empty values, optional ones are absent."""
    payload = fit_payload(type, SMALLEST[type])
    assert json.loads(encode(_event(type=type, payload=payload)))["payload"] == SMALLEST[type]


def test_a_block_says_its_type_and_fidelity_first() -> None:
    """Blocks are written with `type`, then `fidelity`, then their content."""
    block = ToolUseBlock(fidelity="router", tool_name="Read", tool_id="t", tool_input=None)
    payload = MessagePayload(role="assistant", blocks=(block,))
    line = json.loads(encode(_event(type="message.assistant", payload=payload)))
    assert list(line["payload"]["blocks"][0]) == ["type", "fidelity", "tool_name", "tool_id", "tool_input"]


def test_unknown_fields_stand_after_the_known_ones() -> None:
    """What a newer writer added comes back at the end of its own object, whatever its name."""
    line = _line(
        type="message.user",
        origin={"line": 1, "color": "red"},
        payload={"role": "user", "blocks": [{**A_BLOCK, "extra": 1}], "\x7f": 2},
        extra={"x": 3},
    )
    event = decode(line)
    assert event.extra == {"extra": {"x": 3}}
    assert encode(event) == (
        b'{"seq":1,"run_id":"r","type":"message.user","path":"","iteration":0,"timestamp":"t",'
        b'"origin":{"line":1,"color":"red"},'
        b'"payload":{"role":"user","blocks":[{"type":"text","fidelity":"router","text":"hi","extra":1}],"\x7f":2},'
        b'"extra":{"x":3}}'
    )


def test_a_field_of_the_wrong_type_is_written_back_in_its_place() -> None:
    """It leaves the typed field blank and keeps its value and its place on the line."""
    line = _line(seq="seven", type="token.usage", payload={"scope": "all", "input_tokens": -1, "output_tokens": 2})
    event = decode(line)
    assert (event.seq, event.payload.scope, event.payload.input_tokens) == (0, "call", 0)
    assert encode(event) == line


@pytest.mark.parametrize(
    "value", [object(), {1j: 1}, complex(1, 2), {"a": {None: 1}}], ids=["object", "key", "number", "null key"]
)
def test_what_json_cannot_hold_is_refused_in_one_sentence(value: object) -> None:
    """Encoding raises `InvalidEvent` that names the event type, not a TypeError from below."""
    with pytest.raises(InvalidEvent, match=r"^system\.event cannot be written as JSON: .*; give plain JSON values$"):
        encode(_event(type="system.event", payload=SystemPayload(subtype="s", data=value)))


def test_what_holds_itself_is_refused() -> None:
    """A cycle is an `InvalidEvent`, not a RecursionError."""
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(InvalidEvent, match="nested too deeply"):
        encode(_event(payload=cycle))


def test_a_lone_surrogate_is_left_to_the_writer() -> None:
    """`encode` raises UnicodeEncodeError, so that whoever writes can replace and count."""
    with pytest.raises(UnicodeEncodeError):
        encode(_event(path="\ud800"))
    with pytest.raises(UnicodeEncodeError):
        encode_into(_event(payload={"\udfff": 1}), bytearray())


# --- reading -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"NaN", "NaN"),
        (b"-Infinity", "-Infinity"),
        (b"1e400", "1e400"),
        (b"-1.5E+999", "-1.5E+999"),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b'"\x01\x00\x7f"', "\x01\x00\x7f"),
        (b'"\\u0000"', "\x00"),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'"\\ud83d"', "\ufffd"),
        (b'"\\ud800\xff"', "\ufffd\ufffd"),
        (b'"\xed\xa0\x80"', "\ufffd\ufffd\ufffd"),
        (b'"\xe2\x80\xa8\xc2\x85"', "\u2028\x85"),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'{"\\ud800":1,"\\udfff":2}', {"\ufffd": 1, "\ufffd\ufffd1": 2}),
        (b"5e-324", 5e-324),
    ],
    ids=ascii,
)
def test_odd_json_is_read(text: bytes, value: object) -> None:
    """What strict parsers refuse is kept as near as it goes, and stays so when it is written again."""
    event = decode(_line(payload="@").replace(b'"@"', text))
    assert event.payload == value
    assert decode(encode(event)) == event


def test_characters_that_were_replaced_are_counted() -> None:
    """Lone surrogates and invalid bytes are counted, pairs and characters that were U+FFFD already are not."""
    decoder = Decoder()
    decoder.decode(_line(payload="@").replace(b"@", b"\\ud800 \\udfff \xff \\ud83d\\ude00 \xef\xbf\xbd \\ufffd"))
    assert (decoder.replaced, decoder.malformed) == (3, 0)


@pytest.mark.parametrize("line", [b"", b" ", b"{", b"Segmentation fault", b"\x00\x00", b'{"a":1}{"a":2}', b"\xff{}"])
def test_a_line_that_is_not_json_is_an_unknown_event(line: bytes) -> None:
    """It has the text, the exact bytes, no number and no time, and is counted."""
    decoder = Decoder()
    event = decoder.decode(line)
    assert decoder.malformed == 1
    assert (event.seq, event.run_id, event.type, event.timestamp) == (0, "", "unknown", "")
    assert event.payload == UnknownPayload(text=line.decode("utf-8", "replace"))
    assert (event.raw or "").encode() == line or base64.b64decode(event.raw_b64 or "") == line


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
@pytest.mark.parametrize("closed", [True, False])
def test_nesting_of_five_thousand_levels_is_kept_whole(opening: bytes, closed: bool) -> None:
    """Deeper than the codec takes: an `unknown` event with its raw, counted; how deep that is, Python decides."""
    closing = opening.replace(b'"a":', b"").translate(bytes.maketrans(b"[{", b"]}"))[::-1]
    inner = opening * 5000 + b"0" + (closing * 5000 if closed else b"")
    line = _line(payload="@").replace(b'"@"', inner)
    decoder = Decoder()
    event = decoder.decode(line)
    if closed and not decoder.malformed:
        assert encode(event) == line
    else:
        assert (decoder.malformed, event.type, event.raw) == (1, "unknown", line.decode())
        assert decode(encode(event)) == event


def test_an_integer_of_five_thousand_digits_is_kept_whole() -> None:
    """Python refuses to read such a number, so the line is kept as text."""
    line = _line(payload="@").replace(b'"@"', b"9" * 5000)
    assert decode(line).raw == line.decode()


def test_a_line_of_fifty_megabytes_is_read_in_one_go() -> None:
    """Size alone is no reason to refuse or to dawdle: good, mended and malformed, each within seconds."""
    text = b"x" * 50_000_000
    good = b'{"seq":1,"run_id":"r","type":"x","path":"","iteration":0,"timestamp":"t","payload":"%b"' % text
    start = time.perf_counter()
    assert len(decode(good + b"}").payload) == len(text)
    assert len(decode(good + b',"new":1}').payload) == len(text)
    assert len(decode(good).raw or "") == len(good)
    assert time.perf_counter() - start < 100


@pytest.mark.parametrize("value", [None, 5, "x", [], [{"type": "x"}], {}, {"seq": 1}, {"type": 5}, {"type": None}])
def test_json_that_is_no_event_is_unknown_with_its_value(value: object) -> None:
    """An object without a type, or no object at all, is kept whole under `payload.value` and is not malformed."""
    decoder = Decoder()
    event = decoder.decode(json.dumps(value).encode())
    assert event.payload == UnknownPayload(value=value)
    assert decoder.malformed == 0


def test_an_event_with_only_a_type_is_an_event() -> None:
    """Missing fields are blank, not a reason to give up."""
    event = decode(b'{"type":"tool.call","payload":{"name":"Read"}}')
    assert (event.seq, event.run_id, event.path, event.iteration, event.timestamp) == (0, "", "", 0, "")
    assert event.payload == ToolPayload(name="Read", call_id="", input=None, output=None, fidelity="agent_emitted")


def test_a_type_from_the_future_keeps_its_type_and_payload() -> None:
    """Tolerant readers: the type is intact, the payload is the JSON it was."""
    event = decode(_line(type="memory.saved", payload={"a": [1, None]}))
    assert (event.type, event.payload) == ("memory.saved", {"a": [1, None]})


@pytest.mark.parametrize("payload", [[1], "text", 5, True, None])
@pytest.mark.parametrize("type", ["run.started", "message.user", "tool.call", "unknown"])
def test_a_payload_of_another_shape_is_kept_as_it_is(type: str, payload: object) -> None:
    """A known type with a payload that is no object keeps it, untyped."""
    event = decode(_line(type=type, payload=payload))
    assert event.payload == payload
    assert encode(event) == _line(type=type, payload=payload)


def test_unknown_blocks_are_kept_whole() -> None:
    """A block of a type from the future, of type `unknown` or of none is an `UnknownBlock` with everything it had."""
    blocks = [{"type": "hologram", "x": [1]}, {"type": "unknown", "y": 2}, {"z": 3}, {"type": 7}, {}]
    event = decode(_line(type="message.user", payload={"role": "user", "blocks": blocks}))
    assert event.payload.blocks == (
        UnknownBlock(extra=Extra({"type": "hologram", "x": [1]})),
        UnknownBlock(extra=Extra({"y": 2})),
        UnknownBlock(extra=Extra({"z": 3})),
        UnknownBlock(extra=Extra({"type": 7})),
        UnknownBlock(),
    )
    assert decode(encode(event)) == event


@pytest.mark.parametrize("blocks", [[A_BLOCK, 5], "text", {"0": A_BLOCK}, [[A_BLOCK]]])
def test_blocks_that_are_none_are_kept_beside_the_message(blocks: object) -> None:
    """Anything but a list of objects leaves the message without blocks, and stands on the line as before."""
    event = decode(_line(type="message.user", payload={"role": "user", "blocks": blocks}))
    assert event.payload == MessagePayload(role="user", blocks=(), extra=Extra({"blocks": blocks}))
    assert json.loads(encode(event))["payload"]["blocks"] == blocks


def test_null_in_an_optional_field_is_its_absence() -> None:
    """`"raw":null` and no `raw` are the same event, on either path of the decoder."""
    assert decode(_line(raw=None, origin=None)) == decode(_line())
    assert decode(_line(raw=None, new=1)) == decode(_line(new=1))


def test_a_record_that_is_null_stays_null() -> None:
    """Null that the agent gave is written, also beside fields that nobody knows."""
    line = _line(type="unknown", payload={"value": None}, new=1)
    assert decode(line).payload == UnknownPayload(value=None)
    assert encode(decode(line)) == line


def test_an_error_must_say_something() -> None:
    """An empty error is no error: it stays on the line and is not taken for one."""
    event = decode(_line(type="run.completed", payload={"name": "n", "kind": "k", "error": ""}))
    assert event.payload.error is None
    assert json.loads(encode(event))["payload"]["error"] == ""


def test_who_speaks_is_main_unless_the_origin_says_otherwise() -> None:
    """`Event.source` has a value for every event."""
    assert _event().source == _event(origin=Origin(adapter="a")).source == _event(origin=Origin(source="")).source
    assert _event().source == "main"
    assert _event(origin=Origin(source="subagent:a")).source == "subagent:a"


# --- fitting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type", EVENT_TYPES)
def test_a_payload_may_be_a_dict_any_mapping_a_value_or_nothing(type: str) -> None:
    """All ways to give a payload lead to the same one."""
    given = SMALLEST[type]
    fitted = fit_payload(type, given)
    assert json.loads(encode(_event(payload=fitted)))["payload"] == given
    assert fit_payload(type, fitted) == fitted
    assert fit_payload(type, MappingProxyType(given)) == fitted
    assert fit_payload(type, UserDict(given)) == fitted
    assert fit_payload(type, None) is None


WRONG: list[tuple[str, object, str]] = [
    ("run.started", {"name": 5, "kind": "k"}, "$.name"),
    ("run.completed", {"name": "n", "kind": "k", "error": ""}, "$.error"),
    ("step.started", {"name": "n"}, "kind"),
    ("step.completed", {"name": "n", "kind": "k", "colour": 1}, "colour"),
    ("step.call_workflow.started", {"name": None, "kind": "k"}, "$.name"),
    ("step.call_workflow.completed", ["n", "k"], "array"),
    ("message.user", {"role": "user", "blocks": [A_BLOCK, {**A_BLOCK, "text": 5}]}, "$.blocks[1].text"),
    ("message.user", {"role": "user", "blocks": [{**A_BLOCK, "fidelity": "hearsay"}]}, "$.blocks[0].fidelity"),
    ("message.assistant", {"role": "assistant", "blocks": [{"type": "hologram"}]}, "$.blocks[0].type"),
    ("message.assistant", {"role": "assistant", "blocks": "hi"}, "$.blocks"),
    ("tool.call", {**SMALLEST["tool.call"], "duration_ms": "fast"}, "$.duration_ms"),
    ("tool.result", {**SMALLEST["tool.result"], "fidelity": None}, "$.fidelity"),
    ("tool.result", ToolPayload(name=5, call_id="\x7f", input=0, output=0, fidelity="router"), "$.name"),  # type: ignore[arg-type]
    ("tool.result", ToolPayload(name=5, call_id="\ud800", input=0, output=0, fidelity="router"), "$.name"),  # type: ignore[arg-type]
    ("system.event", {"subtype": "s", "text": ["t"]}, "$.text"),
    ("token.usage", {"scope": "day", "input_tokens": 1, "output_tokens": 1}, "$.scope"),
    ("token.usage", {"scope": "call", "input_tokens": -1, "output_tokens": 1}, "$.input_tokens"),
    ("token.usage", {"scope": "call", "input_tokens": True, "output_tokens": 1}, "$.input_tokens"),
    ("token.usage", {"scope": "call", "input_tokens": float("nan"), "output_tokens": 1}, "$.input_tokens"),
    ("error", {"message": "m", "retryable": "yes"}, "$.retryable"),
    ("unknown", {"text": 5}, "$.text"),
    ("tool.call", MessagePayload(role="user", blocks=()), "MessagePayload"),
    ("message.user", MessagePayload(role="user", blocks=(TextBlock(fidelity="router", text=5),)), "$.blocks[0].text"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("type", "payload", "place"), WRONG, ids=[f"{case[0]} {case[2]}" for case in WRONG])
def test_a_payload_that_does_not_fit_is_refused(type: str, payload: object, place: str) -> None:
    """`InvalidEvent` names the event type and the place, dict or value, typed or not."""
    with pytest.raises(InvalidEvent) as caught:
        fit_payload(type, payload)
    assert str(caught.value).startswith(f"{type} does not take this payload: ")
    assert place in str(caught.value)


@pytest.mark.parametrize("type", ["", "message", "Message.User", "memory.saved", "\ud800", None, 5, ["tool.call"]])
def test_an_event_type_must_be_one_of_the_fourteen(type: Any) -> None:
    """Nobody records a type that readers do not know; the message lists those they do."""
    with pytest.raises(InvalidEvent, match=r"is not an event type; use one of run\.started, .*, unknown$"):
        fit_payload(type, {})


@pytest.mark.parametrize(("type", "role"), [("message.user", "assistant"), ("message.assistant", "system")])
@pytest.mark.parametrize("make", [dict, lambda **given: MessagePayload(**{**given, "blocks": ()})])
def test_the_role_must_match_the_event_type(type: str, role: str, make: Callable[..., Any]) -> None:
    """A user message by an assistant is a mistake of the caller's, said in one sentence."""
    with pytest.raises(InvalidEvent, match=f"^{type} has the role '{role}'; it must be "):
        fit_payload(type, make(role=role, blocks=[]))


@pytest.mark.parametrize("wrap", [dict, OrderedDict, MappingProxyType, UserDict, lambda given: ToolPayload(**given)])
def test_a_fitted_payload_shares_nothing_with_any_kind_of_payload(wrap: Callable[[dict[str, Any]], object]) -> None:
    """Changing the input afterwards changes nothing, be the payload a dict, another mapping or a value."""
    inner: dict[str, Any] = {"paths": ["a"]}
    fitted = fit_payload("tool.call", wrap({**SMALLEST["tool.call"], "input": inner}))
    inner["paths"].append("b")
    inner["new"] = 1
    assert fitted.input == {"paths": ["a"]}


@pytest.mark.parametrize(
    ("type", "payload", "inner"),
    [
        ("message.assistant", {"role": "assistant", "blocks": [{"type": "tool_use", "tool_name": "n"}]}, "tool_input"),
        ("message.assistant", {"role": "assistant", "blocks": [{"type": "tool_result"}]}, "tool_content"),
        ("tool.result", {**SMALLEST["tool.result"], "blocks": [{"type": "tool_result"}]}, "tool_content"),
    ],
)
def test_a_fitted_block_shares_nothing(type: str, payload: dict[str, Any], inner: str) -> None:
    """Tool input and content inside a block are the block's own."""
    mine = ["a"]
    block = {"fidelity": "router", "tool_id": "t", **payload["blocks"][0], inner: mine}
    fitted = fit_payload(type, {**payload, "blocks": [block]})
    mine.append("b")
    assert getattr(fitted.blocks[0], inner) == ["a"]


@pytest.mark.parametrize("text", ["plain", "with \x7f", "with \ud800"])
def test_values_become_what_a_reader_will_see(text: str) -> None:
    """Tuples and sets become lists, keys strings, times and enums their text, NaN and infinities null."""

    @dataclasses.dataclass
    class Point:
        x: int
        y: tuple[int, ...]

    class Color(enum.StrEnum):
        RED = "red"

    data = {
        "tuple": (1, (2, [3])),
        "set": {4},
        5: "key",
        "time": datetime(2026, 6, 8, tzinfo=UTC),
        "enum": Color.RED,
        "value": Point(1, (2,)),
        "block": TextBlock(fidelity="router", text="hi"),
        "nan": [float("nan"), float("inf"), -float("inf")],
        "bytes": b"ab",
        "text": text,
    }
    assert fit_payload("system.event", {"subtype": "s", "data": data}).data == {
        "tuple": [1, [2, [3]]],
        "set": [4],
        "5": "key",
        "time": "2026-06-08T00:00:00Z",
        "enum": "red",
        "value": {"x": 1, "y": [2]},
        "block": {"type": "text", "fidelity": "router", "text": "hi"},
        "nan": [None, None, None],
        "bytes": "YWI=",
        "text": text,
    }


def test_nan_where_a_number_is_optional_is_its_absence() -> None:
    """A duration that is no number is no duration."""
    assert fit_payload("tool.call", {**SMALLEST["tool.call"], "duration_ms": float("nan")}).duration_ms is None


def test_strings_and_numbers_of_a_subclass_are_strings_and_numbers() -> None:
    """`numpy.str_`, `Markup` and the like can be recorded, as names and as data."""

    class Name(str):
        __slots__ = ()

    class Count(int):
        pass

    class Ratio(float):
        pass

    payload = fit_payload("run.started", {"name": Name("n"), "kind": "k"})
    assert json.loads(encode(_event(type="run.started", payload=payload)))["payload"]["name"] == "n"
    data = [Name("x"), Count(3), Ratio(0.5), Name("\ud800")]
    for given in (data, data[:3]):
        fitted = fit_payload("system.event", SystemPayload(subtype="s", data=given))
        assert fitted.data == given
        assert {type(each) for each in fitted.data} == {str, int, float}


@pytest.mark.parametrize("inner", ["x", "\ud800"])
def test_a_payload_that_holds_itself_is_refused(inner: str) -> None:
    """A cycle is an `InvalidEvent`, with or without odd characters on the way."""
    cycle: dict[str, Any] = {"inner": inner}
    cycle["self"] = cycle
    with pytest.raises(InvalidEvent, match=r"^error is nested too deeply \(or holds itself\)"):
        fit_payload("error", {"message": "m", "data": cycle})


def test_lone_surrogates_are_left_for_the_writer_to_count() -> None:
    """A fitted payload still has them, in sets and in blocks, too; where a fixed word belongs they are refused."""
    assert fit_payload("run.started", {"name": "\ud800", "kind": "k"}).name == "\ud800"
    assert fit_payload("system.event", {"subtype": "s", "data": {"\ud800"}}).data == ["\ud800"]
    with pytest.raises(InvalidEvent, match=r"^tool\.call "):
        fit_payload("tool.call", {**SMALLEST["tool.call"], "fidelity": "\ud800"})
    with pytest.raises(InvalidEvent, match=r"^tool\.call "):
        fit_payload("tool.call", {**SMALLEST["tool.call"], "\ud800": 1})


def test_what_a_journal_carried_along_is_kept() -> None:
    """A payload read from a newer journal can be recorded again with its unknown fields and blocks."""
    line = _line(type="message.user", payload={"role": "user", "blocks": [A_BLOCK, {"type": "new", "x": [1]}], "y": 2})
    payload = decode(line).payload
    fitted = fit_payload("message.user", payload)
    assert fitted == payload
    assert encode(_event(type="message.user", payload=fitted)) == line
    odd = MessagePayload(role="user", blocks=payload.blocks, model="\ud800", extra=payload.extra)
    assert fit_payload("message.user", odd) == odd


def test_block_values_may_stand_in_a_dict() -> None:
    """Blocks are accepted as values and as dicts side by side, and checked alike."""
    value = TextBlock(fidelity="router", text="hi")
    fitted = fit_payload("message.user", {"role": "user", "blocks": (value, A_BLOCK)})
    assert fitted.blocks == (value, value)
    wrong = TextBlock(fidelity="hearsay", text="hi")  # type: ignore[arg-type]
    with pytest.raises(InvalidEvent, match=r"\$\.blocks\[0\]\.fidelity"):
        fit_payload("message.user", {"role": "user", "blocks": [wrong]})


def test_numbers_may_be_large() -> None:
    """Token counts beyond 64 bits are written and read as they are."""
    fitted = fit_payload("token.usage", UsagePayload(scope="total", input_tokens=10**30, output_tokens=0))
    assert decode(encode(_event(type="token.usage", payload=fitted))).payload.input_tokens == 10**30
