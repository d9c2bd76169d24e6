"""What always holds for masked texts and events, whatever they hold."""

from __future__ import annotations

import base64
import json
import re
from itertools import pairwise
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from stenograph.model import Event, MessagePayload, StreamBlock, TextBlock, UnknownPayload
from stenograph.redact import default_masker, mask_text, sharing_mask
from stenograph.redact.event import EventMask
from stenograph.redact.hint import may_hold_secret
from stenograph.redact.known import KnownSecrets
from stenograph.redact.span import cut
from stenograph.redact.stream import mask_events, masked_chunks
from stenograph.redact.text import TextMask, in_text
from strategies import PATIENT, events, wild_json_values


def mask(event: Event) -> Event:
    """The event as a mask gives it that has seen no other."""
    return default_masker()(event)


# Put together here, so that no scanner takes them for real ones.
TOKENS = [
    "sk-" + "ant-api03-" + "aB3dE6" * 6,
    "sk-" + "proj-" + "Zz9Qq" * 8,
    "AKIA" + "ABCDEFGH23456789",
    "AIza" + "Sy0123456789abcdefghijABCDEFGHIJ-_x1y",
    "ghp_" + "a1B2c3" * 6,
    "xoxb-" + "1234567890-abcdefgh",
    "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0" + ".c2ln_bmF0-dXJl",
    "SG." + "a1B2c3d4e5F6g7h8" + "." + "i9J0k1L2m3N4o5P6q7",
]
PEM = (
    "-----BEGIN "
    + "PRIVATE KEY-----\n"
    + "MIIEvQIBADANBgkqhkiG9w0BAQEF\n" * 2
    + "AASC==\n-----END "
    + "PRIVATE KEY-----"
)
PIECES = [
    *TOKENS,
    PEM,
    PEM.replace("\n", "\\n"),
    PEM[:70],
    "-----BEGIN " + "RSA PRIVATE KEY-----",
    "password",
    "PASSWORD=",
    "api_key",
    "apiKey",
    "token",
    "DB_PASS=",
    "input_tokens",
    "Authorization",
    "Authorization: Bearer ",
    "Basic dXNlcjpwYXNz",
    "Cookie: sid=",
    "Set-Cookie: ",
    "cache_key=",
    "--token ",
    "--password=",
    "curl ",
    " -u ",
    " --user ci:",
    "https://user:",
    "://",
    "@host",
    "hunter2",
    "hunter two",
    "letmein",
    "Zm9vYmFykey==",
    "9f86d081884c7d659a2feaa0c55ad015",
    "${TOKEN}",
    "<your-key>",
    "[masked:",
    "[masked:password]",
    "[masked:x]",
    *"=:;,&?@/-_.[](){}<>|#$%\"'`\\ \n\tx7İ漢",
    ": ",
    ' = "',
    '": "',
    '\\"',
    '\\\\\\"',
    "\\n",
    "\\u001b",
    "\x1b[31m",
    "\r\n",
    "\u2028",
    "\x00",
    "\udc80",
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)
"""Texts in which secrets, names, signs, quotes and marks stand in any order."""
plain_texts = texts.filter(lambda text: "PRIVATE KEY" not in text)
names = st.sampled_from(
    ["password", "api_key", "Authorization", "token", "Cookie", "cache_key", "tool_id", "input_tokens", "x", "auth"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts | wild_json_values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | texts, inner, max_size=3),
    max_leaves=6,
)
containers = st.lists(json_values, max_size=3) | st.dictionaries(names | texts, json_values, max_size=4)


def an_event(payload: Any, raw: str | None = None) -> Event:
    return Event(
        seq=1,
        run_id="r",
        type="unknown",
        path="",
        iteration=0,
        timestamp="",
        payload=UnknownPayload(value=payload),
        raw=raw,
    )


def shape(value: Any) -> Any:
    """The value without what its strings say, keys included."""
    if isinstance(value, dict):
        return {number: shape(item) for number, item in enumerate(value.values())}
    if isinstance(value, list):
        return [shape(item) for item in value]
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 1000  # may become a mark
    return str if isinstance(value, str) or is_number else value


def numbered(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of whose keys several may be masked to the same."""
    found: dict[str, Any] = {}
    for key, item in pairs:
        names = [key, *(f"{key}-{number}" for number in range(2, len(pairs) + 2))]
        found[next(name for name in names if name not in found)] = item
    return found


@PATIENT
@given(texts)
@example("AIza" + "a" * 35 + "sk-" + "ant-" + "b1" * 20)
@example('password=\\"a\\\\\\"b\\" token=\'' + TOKENS[0] + "'")
def test_masking_a_text_twice_is_masking_it_once(text: str) -> None:
    """A mark is no secret and uncovers none."""
    masked = mask_text(text)
    assert mask_text(masked) == masked


@PATIENT
@given(texts, st.sampled_from(TOKENS), texts)
def test_no_issued_token_survives_wherever_it_stands(before: str, token: str, after: str) -> None:
    """What precedes and follows a token, short of the letters of a word, does not hide it."""
    assume(token not in before + after)
    assert token not in mask_text(f"{before} {token} {after}")


@PATIENT
@given(plain_texts)
def test_a_masked_text_has_as_many_lines_as_before(text: str) -> None:
    """Only private keys span lines."""
    assert len(mask_text(text).splitlines()) == len(text.splitlines())


@PATIENT
@given(texts)
def test_the_cheap_look_never_lets_a_secret_pass(text: str) -> None:
    """A text in which the rules find something shows a hint, also when it stands escaped in JSON."""
    if any(True for _ in in_text(text)):
        assert may_hold_secret(text)
        assert may_hold_secret(json.dumps(text))
        assert may_hold_secret(json.dumps(json.dumps(text)))


@PATIENT
@given(texts)
def test_an_event_is_masked_as_its_texts_are(text: str) -> None:
    """Looking at the whole event first misses nothing that looking at the text alone finds."""
    block = TextBlock(fidelity="router", text=text)
    event = replace(an_event(None), payload=MessagePayload(role="user", blocks=(block,), system_prompt=text))
    masked = mask(event).payload
    assert masked.blocks[0].text == masked.system_prompt == mask_text(text)


@PATIENT
@given(containers, st.booleans(), st.sampled_from([None, 1]))
def test_a_source_line_is_masked_exactly_as_what_it_says(value: Any, ascii: bool, indent: int | None) -> None:
    """The raw line still parses, and to the very values that the payload has."""
    value = json.loads(json.dumps(value))  # as a reader has it: surrogates that meet are one character
    masked = mask(an_event(value, json.dumps(value, ensure_ascii=ascii, indent=indent)))
    assert json.loads(masked.raw or "", object_pairs_hook=numbered) == masked.payload.value


@PATIENT
@given(containers)
def test_masking_json_keeps_its_shape_and_is_stable(value: Any) -> None:
    """Types, lengths of lists and objects and all that is no string stay; masking again changes nothing."""
    event = an_event(value, json.dumps(value))
    masked = mask(event)
    assert shape(masked.payload.value) == shape(value)
    assert mask(masked) is masked


@PATIENT
@given(events())
def test_any_event_is_masked_without_raising(event: Event) -> None:
    """Unknown blocks, fields that do not fit and payloads of any shape pass; what identifies an event stays."""
    masked = mask(event)
    assert mask(masked) == masked
    assert masked is event or masked != event
    fields = ("seq", "run_id", "parent_run_id", "child_run_id", "type", "path", "timestamp", "origin")
    assert [getattr(masked, name) for name in fields] == [getattr(event, name) for name in fields]


@PATIENT
@given(texts, st.binary(max_size=6), texts)
def test_a_line_that_is_not_utf8_is_masked_around_its_odd_bytes(before: str, odd: bytes, after: str) -> None:
    """The bytes that are no text are still there, and the line is masked as text otherwise."""
    line = before.encode("utf-8", "replace") + b"\xff" + odd + b"\xff " + after.encode("utf-8", "replace")
    event = replace(an_event(None), raw_b64=base64.b64encode(line).decode())
    masked = base64.b64decode(mask(event).raw_b64 or "")
    text = line.decode("utf-8", "surrogateescape")
    assert masked == mask_text(text).encode("utf-8", "surrogateescape")
    assert mask(mask(event)) == mask(event)


@PATIENT
@given(texts, st.lists(st.integers(0, 200), max_size=8))
def test_chunks_of_a_text_are_masked_as_the_text_is(text: str, cuts: list[int]) -> None:
    """However a stream cut it: as many chunks as before, and together they say what the masked text says."""
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    chunks = [text[start:end] for start, end in pairwise(places)]
    plain = TextMask()
    masked = masked_chunks(chunks, EventMask(plain, ()))
    assert len(masked) == len(chunks)
    assert "".join(masked) == cut(text, plain.find(None, text))


@PATIENT
@given(st.text(min_size=4, max_size=12), texts, texts)
def test_a_named_secret_survives_nowhere(secret: str, before: str, after: str) -> None:
    """Any text that somebody names is masked wherever it stands, and no mark is broken by it."""
    masker = TextMask(KnownSecrets([secret]))
    masked = masker.text(f"{before}{secret}{after}")
    assert secret not in re.sub(r"\[masked:[\w-]+\]", "\0", masked) or secret == "\0"
    assert masker.text(masked) == masked


@PATIENT
@given(texts, st.sampled_from(TOKENS), texts)
def test_no_issued_token_survives_in_base64(before: str, token: str, after: str) -> None:
    """Nor in base64 of base64."""
    packed = base64.b64encode(f"{before} {token} {after}".encode("utf-8", "replace")).decode()
    for text in (packed, base64.b64encode(packed.encode()).decode(), f"data:text/plain;base64,{packed}"):
        masked = mask_text(text)
        assert packed not in masked
        assert mask_text(masked) == masked


def test_a_stream_of_any_length_is_held_in_parts_that_overlap() -> None:
    """A secret across the place where a long stream is let go is found, and every event comes out in its order."""
    token = TOKENS[0]
    chunks = [f"{number} " for number in range(9000)]
    for start in (2030, 4080, 6130, 8180):
        chunks[start : start + len(token) + 1] = [*token, " "]
    sent = [
        replace(
            an_event(None),
            seq=number,
            payload=MessagePayload(role="a", blocks=(StreamBlock(fidelity="router", text=text),)),
        )
        for number, text in enumerate(chunks)
    ]
    found = [event for event, _ in mask_events(((event, None) for event in sent), sharing_mask())]
    assert [event.seq for event in found] == [event.seq for event in sent]
    said = "".join(event.payload.blocks[0].text for event in found)
    assert said == "".join(chunks).replace(token, "[masked:anthropic-key]")


def test_streams_with_something_said_between_them_are_two() -> None:
    """The end of one and the beginning of the next make no secret together."""
    token = TOKENS[0]
    blocks = [StreamBlock(fidelity="router", text=token[:9]), TextBlock(fidelity="router", text="so")]
    blocks.append(StreamBlock(fidelity="router", text=token[9:]))
    sent = [replace(an_event(None), payload=MessagePayload(role="a", blocks=(block,))) for block in blocks]
    assert [event for event, _ in mask_events(((event, None) for event in sent), sharing_mask())] == sent
