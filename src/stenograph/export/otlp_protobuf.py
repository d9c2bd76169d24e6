"""OTLP in protobuf, from the JSON form of the same spans. The few messages of a trace are encoded here, so that no
library is needed: every receiver takes protobuf.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from stenograph.model import mend

_VARINT, _FIXED64, _BYTES = 0, 1, 2


def span_message(span: dict[str, Any]) -> bytes:
    """A `Span`, from its JSON form."""
    parts = [_bytes(1, bytes.fromhex(span["traceId"])), _bytes(2, bytes.fromhex(span["spanId"]))]
    if "parentSpanId" in span:
        parts.append(_bytes(4, bytes.fromhex(span["parentSpanId"])))
    parts += [_text(5, span["name"]), _number(6, span["kind"])]
    parts += [_fixed(7, int(span["startTimeUnixNano"])), _fixed(8, int(span["endTimeUnixNano"]))]
    parts += _attributes(9, span["attributes"])
    for event in span.get("events", ()):
        fields = [_fixed(1, int(event["timeUnixNano"])), _text(2, event["name"]), *_attributes(3, event["attributes"])]
        parts.append(_bytes(11, b"".join(fields)))
    if "status" in span:
        status = span["status"]
        parts.append(_bytes(15, _text(2, status.get("message", "")) + _number(3, status["code"])))
    return b"".join(parts)


def request_message(resource: dict[str, Any], scope: dict[str, Any], spans: Iterable[bytes]) -> bytes:
    """An `ExportTraceServiceRequest` with spans that `span_message` made."""
    named = _bytes(1, _text(1, scope["name"]) + _text(2, scope["version"]))
    scoped = named + b"".join(_bytes(2, span) for span in spans)
    return _bytes(1, _bytes(1, b"".join(_attributes(1, resource["attributes"]))) + _bytes(2, scoped))


def rejection_in(data: bytes) -> tuple[int, str]:
    """The number of spans that an `ExportTraceServiceResponse` reports as refused, and why; 0 if it reports none."""
    for number, partial in _fields(data):
        if number == 1 and isinstance(partial, bytes):
            fields = dict(_fields(partial))
            count, reason = fields.get(1, 0), fields.get(2, b"")
            if isinstance(count, int) and isinstance(reason, bytes):
                return count, reason.decode("utf-8", "replace")
    return 0, ""


def _fields(data: bytes) -> Iterable[tuple[int, int | bytes]]:
    """The fields of a message, up to the first byte that cannot be parsed."""
    at = 0
    while at < len(data):
        tag, at = _varint_at(data, at)
        kind = tag & 7
        if kind == _VARINT:
            value, at = _varint_at(data, at)
            yield tag >> 3, value
        elif kind == _BYTES:
            size, at = _varint_at(data, at)
            yield tag >> 3, data[at : at + size]
            at += size
        else:
            return


def _varint_at(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            break
        shift += 7
    return value, at


def _attributes(number: int, pairs: Iterable[dict[str, Any]]) -> list[bytes]:
    return [_bytes(number, _text(1, pair["key"]) + _bytes(2, _value(pair["value"]))) for pair in pairs]


def _value(value: dict[str, Any]) -> bytes:
    ((kind, content),) = value.items()
    match kind:
        case "boolValue":
            return _number(2, int(content))
        case "intValue":
            return _number(3, int(content) & 0xFFFFFFFFFFFFFFFF)
        case "arrayValue":
            return _bytes(5, b"".join(_bytes(1, _value(each)) for each in content["values"]))
    return _text(1, content)


def _text(number: int, text: str) -> bytes:
    try:
        return _bytes(number, text.encode())
    except UnicodeEncodeError:
        return _bytes(number, mend.scrub(text)[0].encode())


def _bytes(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(value)


def _fixed(number: int, value: int) -> bytes:
    return _varint(number << 3 | _FIXED64) + struct.pack("<Q", value)


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    written.append(value)
    return bytes(written)
