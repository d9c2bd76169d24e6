"""What always holds when a line or a value has to be mended."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from stenograph.model import Event, UnknownPayload, Value, decode, encode
from stenograph.model.codec import Decoder
from stenograph.model.mend import event_from, parse_json, plain, raw_fields, scrub, without_surrogates
from strategies import PATIENT, events, json_lines, json_values, near_events, wild_json_values, wild_texts


def _joined(text: str) -> str:
    """The text with surrogates that stand as a pair made into the character they mean."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _surrogates(text: str) -> int:
    return sum("\ud800" <= character <= "\udfff" for character in _joined(text))


@PATIENT
@given(st.text(st.characters() | st.sampled_from("\ud800\udbff\udc00\udfff\ufffd")))
def test_scrubbing_replaces_exactly_the_lone_surrogates(text: str) -> None:
    """Each one becomes U+FFFD and is counted; pairs join, every other character stays where it was."""
    clean, replaced = scrub(text)
    assert replaced == _surrogates(text)
    assert clean == "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in _joined(text))


@PATIENT
@given(wild_json_values)
def test_scrubbing_keeps_every_item(value: Any) -> None:
    """What comes out can be written, has as many keys and items, and scrubbing again changes nothing."""
    clean, _ = scrub(value)
    assert msgspec.json.decode(msgspec.json.encode(clean)) == clean
    assert _count(clean) == _count(value)
    assert scrub(clean) == (clean, 0)


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if isinstance(value, list) else 1


@PATIENT
@given(st.dictionaries(wild_texts, st.integers(), max_size=8))
def test_keys_that_become_the_same_keep_their_items(items: dict[str, int]) -> None:
    """Two keys that differ only in lone surrogates stay two keys, and good keys keep their names."""
    clean, _ = scrub(items)
    assert list(clean.values()) == list(items.values())
    assert all(clean[key] == item for key, item in items.items() if not _surrogates(key))


@PATIENT
@given(json_values)
def test_good_json_is_parsed_as_it_is(value: Any) -> None:
    """The tolerant parser gives what the strict one gives, and replaces nothing."""
    assert parse_json(msgspec.json.encode(value)) == (value, 0)


@PATIENT
@given(json_lines)
def test_a_parsed_line_can_be_written(line: bytes) -> None:
    """No NaN, no infinity and no lone surrogate is left, however the line was written."""
    value, _ = parse_json(line)
    assert _is_finite(value)
    assert parse_json(msgspec.json.encode(value)) == (value, 0)


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


@PATIENT
@given(st.integers(1, 9), st.integers(309, 10**6), st.booleans())
def test_numbers_beyond_a_double_are_kept_as_they_stand(digit: int, exponent: int, negative: bool) -> None:
    """Their text is kept as a string, sign, digits and exponent."""
    number = f"{'-' if negative else ''}{digit}e{exponent}"
    assert parse_json(f"[{number}]".encode()) == ([number], 0)


@PATIENT
@given(near_events)
def test_mending_what_needs_none_gives_what_the_typed_path_gives(value: dict[str, Any]) -> None:
    """Both ways to read a line lead to the same event."""
    clean, _ = scrub(json.loads(json.dumps(value), parse_constant=str))
    assert decode(msgspec.json.encode(clean)) == event_from(clean)


@PATIENT
@given(events())
def test_an_event_as_plain_json_becomes_the_same_event_again(event: Event) -> None:
    """`plain` and `event_from` undo each other, and `plain` is what `encode` writes."""
    assert event_from(plain(event)) == event
    assert msgspec.json.encode(plain(event)) == encode(event)


@PATIENT
@given(events(), wild_texts, wild_texts)
def test_an_event_without_surrogates_can_be_written_and_says_what_it_cost(event: Event, path: str, raw: str) -> None:
    """Lone surrogates anywhere become U+FFFD, each is counted, and the rest of the event is untouched."""
    wild = msgspec.structs.replace(event, path=path, raw=raw)
    mended, replaced = without_surrogates(wild)
    assert replaced == _surrogates(path) + _surrogates(raw)
    assert decode(encode(mended)) == mended
    assert msgspec.structs.replace(mended, path=path, raw=raw) == wild


@PATIENT
@given(st.lists(st.sampled_from([b"a", b"\xff", b"\xc3", b"\xa9", b"\xed\xa0\x80", b"\\ud800"]), max_size=6))
def test_invalid_utf8_in_a_line_is_replaced_and_counted(pieces: list[bytes]) -> None:
    """A decoder counts what had to become U+FFFD: bytes that are no UTF-8, and escapes that have none."""
    text = b"".join(pieces)
    decoder = Decoder()
    event = decoder.decode(b'{"type":"x","payload":"%b"}' % text)
    assert event.payload == text.decode("utf-8", "replace").replace("\\ud800", "\ufffd")
    assert event.payload.count("\ufffd") == decoder.replaced


@PATIENT
@given(st.binary(max_size=20))
def test_a_source_line_is_kept_as_text_or_as_base64(line: bytes) -> None:
    """Exactly one of the two is set: the text where the line is UTF-8."""
    raw, raw_b64 = raw_fields(line)
    assert (raw is None) != (raw_b64 is None)
    assert (raw is not None) == _is_utf8(line)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


@PATIENT
@given(json_values)
def test_json_that_is_no_event_is_an_unknown_event_with_all_of_it(value: Any) -> None:
    """Numbers, strings, lists and objects without a type are kept under `payload.value`."""
    if isinstance(value, dict):
        value.pop("type", None)
    event = event_from(value)
    assert event.type == "unknown"
    assert event.payload == UnknownPayload(value=value)
    assert isinstance(event.payload, Value)
