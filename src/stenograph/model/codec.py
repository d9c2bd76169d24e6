"""Events to lines and lines to events.

Theory of operation. `decode` is total: every line gives an event. A typed path takes what this version writes
itself: the envelope first, with the payload left raw, then the payload by the event's type. Whatever it refuses
goes to `mend`, which keeps what fits and carries the rest along in `extra`. `encode` writes `extra` back, so that
decode∘encode gives equal values for everything that was ever decoded.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from stenograph.errors import InvalidEvent
from stenograph.model import mend
from stenograph.model.block import ToolResultBlock, ToolUseBlock, UnknownBlock
from stenograph.model.event import PAYLOAD_TYPES, Event, Origin
from stenograph.model.payload import LifecyclePayload, MessagePayload, UsagePayload
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
    timestamp: str
    origin: Origin | None = None
    payload: Raw
    raw: str | None = None
    raw_b64: str | None = None


_encode = msgspec.json.Encoder().encode
_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_payload = {name: msgspec.json.Decoder(kind | None).decode for name, kind in PAYLOAD_TYPES.items()}
_decode_json = msgspec.json.Decoder().decode
_EXTRA_BYTE = EXTRA_KEY.encode()

REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What the fast decoder raises on lines it does not take."""


class Decoder:
    """Lines to events, with a count of what had to be mended on the way."""

    def __init__(self) -> None:
        self.malformed = 0
        """Lines that are not JSON, or nested too deeply to be read as such."""
        self.replaced = 0
        """Characters that no UTF-8 can hold and that became U+FFFD."""

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
        if _EXTRA_BYTE in line:
            line = _encode(mend.plain(event))
    except UnicodeEncodeError:
        raise
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError) as error:
        raise InvalidEvent(
            f"{event.type} cannot be written as JSON: {error}; give plain JSON values"
        ) from error
    except RecursionError as error:
        raise InvalidEvent(
            f"{event.type} is nested too deeply (or holds itself) to be written as JSON; flatten it"
        ) from error
    return line


def fit_payload(type: str, payload: object) -> Value | None:
    """The payload as the event type holds it: typed, checked, and sharing nothing mutable with the caller."""
    kind = PAYLOAD_TYPES.get(type) if isinstance(type, str) else None
    if kind is None:
        raise InvalidEvent(f"{type!r} is not an event type; use one of {', '.join(PAYLOAD_TYPES)}")
    if payload is None:
        return None
    if not isinstance(payload, dict | kind):
        raise InvalidEvent(
            f"{type} takes a {kind.__name__} or a dict, not {payload.__class__.__name__}; see docs/reference/events.md"
        )
    try:
        fitted = _fit(type, kind, payload)
    except UnicodeEncodeError:
        fitted = _fit(type, kind, mend.scrub(mend.plain(payload))[0])
    if isinstance(fitted, MessagePayload) and fitted.role != type.rpartition(".")[2]:
        raise InvalidEvent(f"{type} has the role {fitted.role!r}; it must be {type.rpartition('.')[2]!r}")
    return fitted


def _fit(type: str, kind: type[Value], payload: Any) -> Value:
    try:
        if isinstance(payload, dict):
            fitted = msgspec.convert(payload, kind)
            if _is_our_own(fitted) and not any(
                isinstance(block, Value) for block in payload.get("blocks") or ()
            ):
                return fitted
            payload = fitted
        # Through JSON and back: what is live is then what is stored, and later changes by the caller cannot show.
        typed: Value = _decode_payload[type](_encode(mend.plain(payload)))
        return typed
    except UnicodeEncodeError:
        raise
    except msgspec.ValidationError as error:
        raise InvalidEvent(
            f"{type} does not take this payload: {error}; see docs/reference/events.md"
        ) from error
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidEvent(
            f"{type} has a payload that JSON cannot hold: {error}; give plain JSON values"
        ) from error
    except RecursionError as error:
        raise InvalidEvent(
            f"{type} has a payload nested too deeply (or holding itself); flatten it"
        ) from error


def _is_our_own(payload: Value) -> bool:
    """Whether a freshly converted payload is made of our own frozen values, strings and numbers only."""
    match payload:
        case MessagePayload(blocks=blocks):
            return not any(
                isinstance(block, ToolUseBlock | ToolResultBlock | UnknownBlock) for block in blocks
            )
        case UsagePayload():
            return True
        case LifecyclePayload(result=None):
            return True
        case _:
            return False
