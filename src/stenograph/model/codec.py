"""Events to lines and lines to events.

Theory of operation. `decode` never fails: every line gives an event. A typed decoder reads what this version writes
itself: first the envelope, with the payload as raw bytes, then the payload by the event's type. A line that it refuses
goes to `mend`, which keeps what fits and puts the rest into `extra`. `encode` writes `extra` back, so an event that
was decoded, encoded and decoded again is equal to the first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from stenograph.errors import InvalidEvent
from stenograph.model import mend
from stenograph.model.event import PAYLOAD_TYPES, Event, Origin
from stenograph.model.payload import LifecyclePayload, MessagePayload, UsagePayload
from stenograph.model.pieces import LONG, text_pieces
from stenograph.model.value import EXTRA_KEY, Value


class _Envelope(Value, frozen=True, kw_only=True):
    """An event whose payload has not been looked at; the fields of `Event`, in its order."""

    seq: int
    run_id: str
    parent_run_id: str | None = None
    child_run_id: str | None = None
    type: str
    path: str
    iteration: int
    iterations: tuple[int, ...] | None = None
    timestamp: str
    origin: Origin | None = None
    payload: Raw
    raw: str | None = None
    raw_b64: str | None = None


def _base_value(value: object) -> object:
    """A string or number of a subclass (`numpy.str_`, `Markup`) as what it is on the wire."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    raise TypeError(f"a {value.__class__.__name__} has no form in JSON")


_encode = msgspec.json.Encoder(enc_hook=_base_value).encode
_encode_into = msgspec.json.Encoder(enc_hook=_base_value).encode_into
_convert = msgspec.convert
_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_payload = {name: msgspec.json.Decoder(kind | None).decode for name, kind in PAYLOAD_TYPES.items()}
_decode_json = msgspec.json.Decoder().decode
_EXTRA_BYTE = ord(EXTRA_KEY)
"""In the encoded form of every value with `extra`; a number, which `in` finds five times faster than a string."""

REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What the fast decoder raises on lines that it does not accept."""


class Decoder:
    """Lines to events, with a count of what had to be mended on the way."""

    def __init__(self) -> None:
        self.malformed = 0
        """Lines that are not JSON, or nested too deeply to be read as such."""
        self.replaced = 0
        """Characters that no UTF-8 can hold and that became U+FFFD."""
        self.mended = 0
        """Lines that are JSON and do not fit the wire format as this version knows it."""

    def decode(self, line: bytes) -> Event:
        """The event in a line, whatever the line is. Never raises."""
        try:
            env = _decode_envelope(line)
            # An unknown type keeps its payload as plain JSON.
            payload = _decode_payload.get(env.type, _decode_json)(env.payload)
        except REFUSALS:
            return self._mend(line)
        return Event(
            seq=env.seq,
            run_id=env.run_id,
            parent_run_id=env.parent_run_id,
            child_run_id=env.child_run_id,
            type=env.type,
            path=env.path,
            iteration=env.iteration,
            iterations=env.iterations,
            timestamp=env.timestamp,
            origin=env.origin,
            payload=payload,
            raw=env.raw,
            raw_b64=env.raw_b64,
        )

    def _mend(self, line: bytes) -> Event:
        try:
            value, replaced = mend.parse_json(line)
            event = mend.event_from(value)
        except (ValueError, RecursionError):
            self.malformed += 1
            return mend.unreadable_event(line)
        self.replaced += replaced
        self.mended += 1
        return event


def decode(line: bytes) -> Event:
    """The event in one line of a journal, whatever the line is. Never raises."""
    return Decoder().decode(line)


def encode(event: Event) -> bytes:
    """The line of an event, without its newline.

    Raises `UnicodeEncodeError` for a lone surrogate (see `mend.without_surrogates`) and `InvalidEvent` for
    anything else that JSON cannot hold.
    """
    try:
        line = _encode(event)
        return _encode(mend.plain(event)) if _EXTRA_BYTE in line else line
    except UnicodeEncodeError:
        raise
    except _UNWRITABLE as error:
        raise _unwritable(event.type, error) from error


def encode_pieces(event: Event) -> Iterator[bytes | memoryview]:
    """The line of an event as `encode` gives it, in pieces: those of a long source line are made one by one.

    Raises as `encode` does.
    """
    raw = event.raw
    if raw is None or len(raw) < LONG or event.raw_b64 is not None or event.extra:
        yield encode(event)
        return
    line = encode(replace(event, raw=None))
    yield memoryview(line)[:-1]
    del line
    yield b',"raw":'
    yield from text_pieces(raw)
    yield b"}"


def encode_into(event: Event, buffer: bytearray) -> None:
    """Fill the buffer with the line of an event, without its newline; raises as `encode` does."""
    try:
        _encode_into(event, buffer)
        if _EXTRA_BYTE in buffer:
            _encode_into(mend.plain(event), buffer)
    except UnicodeEncodeError:
        raise
    except _UNWRITABLE as error:
        raise _unwritable(event.type, error) from error


def fit_payload(type: str, payload: object) -> Any:
    """The payload as the event type holds it: typed, checked, and sharing nothing mutable with the caller.

    Values that JSON does not have become what they are on disk: tuples and sets lists, NaN and the infinities null.
    Lone surrogates stay; the writer of the event replaces and counts them. Raises `InvalidEvent`.
    """
    kind = PAYLOAD_TYPES.get(type) if type.__class__ is str else None
    if kind is None:
        raise InvalidEvent(f"{type!r} is not an event type; use one of {', '.join(PAYLOAD_TYPES)}")
    if payload is None:
        return None
    try:
        if payload.__class__ is dict:
            fitted: Any = _convert(payload, kind)
            if not _is_unshared(kind, payload):
                fitted = _through_json(type, fitted)
        elif isinstance(payload, kind):
            fitted = _through_json(type, payload)
        elif isinstance(payload, Mapping):
            return fit_payload(type, dict(payload))
        else:
            fitted = _convert(payload, kind)  # raises, and the error names the wrong type
    except _UNWRITABLE as error:
        raise _unwritable(type, error) from error
    if kind is MessagePayload and fitted.role != _ROLES[type]:
        raise InvalidEvent(f"{type} has the role {fitted.role!r}; it must be {_ROLES[type]!r}")
    return fitted


def _is_unshared(kind: type[Value], fields: Any) -> bool:
    """Whether the converted form of a dict shares only strings and numbers with it, nothing that can be changed."""
    if kind is MessagePayload:
        for block in fields["blocks"]:  # noqa: SIM110  # a generator here costs as much as the whole check
            if block.__class__ is not dict or block["type"] in _OPEN_BLOCKS:
                return False
        return True
    return kind is UsagePayload or (kind is LifecyclePayload and "result" not in fields)


def _through_json(type: str, payload: Value) -> Any:
    """The payload as a reader will see it, so that later changes by the caller do not reach it."""
    try:
        line = _encode(payload)
        whole = _encode(mend.plain(payload)) if _EXTRA_BYTE in line else line
    except UnicodeEncodeError:
        return _through_builtins(type, payload)
    if whole != line:  # it has `extra`, from a newer or broken journal: keep that
        return mend.payload_from(type, _decode_json(whole))
    return _decode_payload[type](line)


def _through_builtins(type: str, payload: Value) -> Any:
    """`_through_json` for a payload with lone surrogates: msgspec refuses them, the `json` module does not."""
    whole = _detached(mend.plain(payload))
    if whole != _detached(payload):
        return mend.payload_from(type, whole)
    return _convert(whole, PAYLOAD_TYPES[type])


def _detached(value: object) -> Any:
    builtins = msgspec.to_builtins(value, str_keys=True, enc_hook=_base_value)
    return json.loads(json.dumps(builtins), parse_constant=lambda _: None)


_OPEN_BLOCKS = {"tool_use", "tool_result", "unknown"}
"""Blocks that hold JSON of any shape."""
_ROLES = {"message.user": "user", "message.assistant": "assistant"}
_UNWRITABLE = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)


def _unwritable(type: str, error: Exception) -> InvalidEvent:
    if isinstance(error, msgspec.ValidationError):
        return InvalidEvent(f"{type} does not take this payload: {error}; see docs/reference/events.md")
    if isinstance(error, RecursionError):
        return InvalidEvent(f"{type} is nested too deeply (or holds itself) to be written as JSON; flatten it")
    return InvalidEvent(f"{type} cannot be written as JSON: {error}; give plain JSON values")
