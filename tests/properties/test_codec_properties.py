"""What always holds between events and lines."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from stenograph.errors import InvalidEvent
from stenograph.model import EVENT_TYPES, Event, UnknownBlock, Value, decode, encode
from stenograph.model.codec import Decoder, encode_into, fit_payload
from stenograph.model.mend import without_surrogates
from strategies import (
    BRIEF,
    PATIENT,
    PAYLOADS,
    PLAIN_PAYLOADS,
    any_lines,
    events,
    json_lines,
    json_values,
    mutated_lines,
    nested,
    wild_json_values,
)

ALWAYS = ["seq", "run_id", "type", "path", "iteration", "timestamp", "payload"]
IN_ORDER = [
    "seq",
    "run_id",
    "parent_run_id",
    "child_run_id",
    "type",
    "path",
    "iteration",
    "timestamp",
    "origin",
    "payload",
    "raw",
    "raw_b64",
]
A_LINE = (
    b'{"seq":7,"run_id":"r","type":"message.assistant","path":"a.b","iteration":1,"timestamp":"2026-06-08T08:14:42Z",'
    b'"origin":{"adapter":"claude_code","line":3},"payload":{"role":"assistant","blocks":['
    b'{"type":"text","fidelity":"router","text":"\\u00e9\\ud83d\\ude00 ' + "漢字".encode() + b'"},'
    b'{"type":"tool_use","fidelity":"agent_emitted","tool_name":"Read","tool_id":"t","tool_input":{"n":-1.5e3}},'
    b'{"type":"hologram","x":[null,true]}],"model":"m"},"raw":"{\\"a\\":1}"}'
)


@PATIENT
@given(events())
def test_decode_after_encode_gives_an_equal_event(event: Event) -> None:
    """Whatever an event holds, unknown types, blocks and fields included, its line says all of it."""
    assert decode(encode(event)) == event


@PATIENT
@given(events())
def test_a_line_is_one_line_of_utf8(event: Event) -> None:
    """No content can break a line in two: no newline, no carriage return, no other raw control character."""
    line = encode(event)
    assert not any(byte < 0x20 for byte in line)
    assert json.loads(line.decode())["type"] == event.type


@PATIENT
@given(events())
def test_required_fields_are_always_written_and_in_order(event: Event) -> None:
    """Key order is the table's, required fields are there with their defaults, unset ones absent; unknown come last."""
    written = list(json.loads(encode(event)))
    known = [name for name in written if name in IN_ORDER]
    assert known == [name for name in IN_ORDER if name in ALWAYS or getattr(event, name) is not None]
    assert written[len(known) :] == list(event.extra or {})


@PATIENT
@given(events(future=False))
def test_nothing_unset_is_written_as_null(event: Event) -> None:
    """Null stands only where an agent gave it: as payload, as a tool's input or output, inside free JSON."""
    line = json.loads(encode(event))
    places = [line, line.get("origin") or {}]
    if isinstance(event.payload, Value):
        places += [line["payload"], *(line["payload"].get("blocks") or [])]
    open_fields = {"payload", "input", "output", "tool_input", "tool_content", "value"}
    nulls = {name for place in places for name, value in place.items() if value is None}
    own = {name for value in _values_in(event) for name in value.extra or {}}
    assert nulls <= open_fields | own


def _values_in(event: Event) -> list[Value]:
    values = [event, event.origin, event.payload, *(getattr(event.payload, "blocks", None) or ())]
    return [value for value in values if isinstance(value, Value)]


@BRIEF
@given(events(), events())
def test_a_buffer_may_be_used_again(first: Event, second: Event) -> None:
    """`encode_into` leaves nothing of the line before."""
    buffer = bytearray()
    encode_into(first, buffer)
    encode_into(second, buffer)
    assert bytes(buffer) == encode(second)


@PATIENT
@given(any_lines)
@example(b"")
@example(b"null")
@example(b'{"type":5}')
@example(b'{"type":"tool.call"}')
@example(b'{"type":"unknown","payload":{"value":1e400}}')
@example(b'{"type":"unknown","payload":{"value":NaN}}')
@example(b'{"type":"message.user","payload":{"blocks":[{"x":1}]}}')
@example(b'{"type":"message.user","payload":{"blocks":[{"type":"unknown"}]},"new":1}')
@example(b'{"type":"message.user","payload":{"blocks":[1,{}]}}')
@example(b'{"type":"a","type":"b","seq":1,"seq":"two"}')
@example(b'{"type":"unknown","payload":{"value":"\xff\xfe"}}')
@example(b'{"type":"error","payload":{"message":"\x00\x1f\x7f","\x7f":1}}')
@example(b'{"seq":123456789012345678901234567890,"type":"x"}')
@example(b'{"seq":1.0,"iteration":1e2,"type":"x"}')
@example(b'\xef\xbb\xbf{"type":"x"}')
def test_any_bytes_decode_and_a_second_round_trip_changes_nothing(line: bytes) -> None:
    """`decode` never raises, what it gives can be written, and what was written once is written the same again."""
    event = decode(line)
    once = encode(event)
    assert decode(once) == event
    assert encode(decode(once)) == once


@PATIENT
@given(st.binary(max_size=200) | mutated_lines())
def test_a_line_that_is_not_json_is_kept_byte_by_byte(line: bytes) -> None:
    """Malformed lines are counted and their bytes are in `raw`, or in `raw_b64` where they are not UTF-8."""
    decoder = Decoder()
    event = decoder.decode(line)
    if decoder.malformed:
        assert _kept(event) == line
        assert event.type == "unknown"
        assert event.payload.text == line.decode("utf-8", "replace")


@PATIENT
@given(json_lines)
@example(b'{"\xed\xa0\x80": null, "\xed\xbf\xbf": null}')
@example(b'{"type":"x","\\ud800":1,"\xff":2,"\xef\xbf\xbd":3}')
def test_nothing_in_a_json_line_is_lost(line: bytes) -> None:
    """Every field stands in the line that is written again: known, unknown, of the wrong type, in blocks and origin."""
    decoder = Decoder()
    event = decoder.decode(line)
    assert decoder.malformed == 0
    given = json.loads(line.decode("utf-8", "surrogateescape"), parse_constant=str)
    written = json.loads(encode(event))
    if not isinstance(given, dict) or not isinstance(given.get("type"), str):
        assert _shape(written["payload"]["value"]) == _shape(given)
        return
    assert _is_in(given, written)


def _shape(value: Any) -> Any:
    """A value without the text that mending may change."""
    if isinstance(value, dict):
        return sorted((_shape(item) for item in value.values()), key=repr)
    if isinstance(value, list):
        return [_shape(item) for item in value]
    return "text" if isinstance(value, str) else value


def _is_in(given: Any, written: Any) -> bool:
    """Whether the written value says all that was given; null in an optional field says nothing."""
    if isinstance(given, dict):
        return isinstance(written, dict) and all(
            _is_in(item, written.get(key)) for key, item in given.items() if _is_utf8(key)
        )
    if isinstance(given, list):
        return isinstance(written, list) and len(given) == len(written) and all(map(_is_in, given, written))
    if isinstance(given, str):
        return isinstance(written, str) and (written == given or not _is_utf8(given))
    return bool(written == given)


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def test_a_good_line_cut_anywhere_is_kept() -> None:
    """Truncated at every offset, a line is malformed and whole in `raw` or `raw_b64`; complete, it is an event."""
    decoder = Decoder()
    for end in range(len(A_LINE)):
        event = decoder.decode(A_LINE[:end])
        assert decoder.malformed == end + 1
        assert _kept(event) == A_LINE[:end]
    assert decoder.decode(A_LINE).seq == 7
    assert decoder.malformed == len(A_LINE)


def _kept(event: Event) -> bytes:
    return event.raw.encode() if event.raw is not None else base64.b64decode(event.raw_b64 or "")


@PATIENT
@given(st.data(), st.sampled_from(EVENT_TYPES))
def test_a_fitted_payload_is_what_a_reader_will_see(data: st.DataObject, type: str) -> None:
    """Dict or value in, out comes what `decode` gives for the written event; fitting twice changes nothing."""
    value = data.draw(PAYLOADS[type])
    fitted = fit_payload(type, value)
    assert fitted == value
    assert fit_payload(type, fitted) == fitted
    event = Event(seq=1, run_id="r", type=type, path="", iteration=0, timestamp="t", payload=fitted)
    assert decode(encode(event)).payload == fitted
    if not any(part.extra for part in _values_in(event)):
        assert fit_payload(type, json.loads(msgspec.json.encode(value))) == value


@PATIENT
@given(st.data(), st.sampled_from(EVENT_TYPES))
def test_a_fitted_payload_shares_nothing_with_the_caller(data: st.DataObject, type: str) -> None:
    """Whatever the caller does to its dicts and lists afterwards, the payload stays as it was."""
    payload = data.draw(PLAIN_PAYLOADS[type].filter(_has_known_blocks))
    given = json.loads(msgspec.json.encode(payload))
    fitted = fit_payload(type, given)
    _spoil(given)
    assert fitted == payload


def _has_known_blocks(payload: Any) -> bool:
    return not any(isinstance(block, UnknownBlock) for block in getattr(payload, "blocks", None) or ())


def _spoil(value: Any) -> None:
    if isinstance(value, dict):
        for item in value.values():
            _spoil(item)
        value["spoiled"] = True
    elif isinstance(value, list):
        for item in value:
            _spoil(item)
        value.append("spoiled")


@PATIENT
@given(st.sampled_from(EVENT_TYPES), wild_json_values | st.sets(st.integers()) | st.binary(max_size=3))
def test_garbage_payloads_are_refused_by_one_exception(type: str, payload: object) -> None:
    """What does not fit raises `InvalidEvent` that names the event type, never anything else."""
    refused = ""
    fitted = None
    try:
        fitted = fit_payload(type, payload)
    except InvalidEvent as error:
        refused = str(error)
    assert refused.startswith(f"{type} ") or fitted is None or isinstance(fitted, Value)


@PATIENT
@given(wild_json_values)
def test_lone_surrogates_stay_in_a_fitted_payload_until_it_is_written(data: Any) -> None:
    """`fit_payload` keeps them for the writer to replace and count; what is written is then what a reader sees."""
    payload = fit_payload("system.event", {"subtype": "x", "data": data})
    event = Event(seq=1, run_id="r", type="system.event", path="", iteration=0, timestamp="t", payload=payload)
    written, _ = without_surrogates(event)
    assert decode(encode(written)) == written
    try:
        encode(event)
    except UnicodeEncodeError:
        assert written != event
    else:
        assert written == event


@BRIEF
@given(json_values, st.integers(100, 3000))
def test_nesting_of_any_depth_is_taken_or_kept_whole(leaf: Any, depth: int) -> None:
    """JSON deeper than the codec takes is an `unknown` event with its raw, and never an exception."""
    value: Any = leaf
    for _ in range(depth):
        value = [value]
    try:
        inner = msgspec.json.encode(value)
    except RecursionError:
        inner = b"[" * depth + msgspec.json.encode(leaf) + b"]" * depth
    for extra in (b"", b',"new":1', b',"raw":"\x7f"'):
        line = b'{"seq":1,"run_id":"r","type":"x","path":"","iteration":0,"timestamp":"","payload":%b%b}' % (
            inner,
            extra,
        )
        event = decode(line)
        assert event.type == "x" or event.raw == line.decode()
        assert encode(decode(encode(event))) == encode(event)


@given(st.integers(0, 100))
def test_nested_builds_what_it_says(depth: int) -> None:
    """The strategy for deep JSON is as deep as asked."""
    assert json.dumps(nested(depth)).count("[") + json.dumps(nested(depth)).count("{") == depth
