"""Spans and log records of an OTLP request, read from its JSON form in all its variants.

Ids are hexadecimal in OTLP/JSON and base64 in the JSON mapping of protobuf; numbers of 64 bits are strings or numbers;
enumerations are numbers or names.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Container, Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from stenograph.formats.shared.loose import FAR, a_dict, a_list, a_str, dicts

REQUEST_FIELDS = ("resourceSpans", "resourceLogs")
_DEEPEST = 64
_ERROR = (2, "2", "STATUS_CODE_ERROR")
_HEX = frozenset("0123456789abcdefABCDEF")
_HEX_LENGTHS = (16, 32)
_encode = msgspec.json.Encoder().encode


class SpanEvent(Struct, frozen=True):
    """Something that happened within a span."""

    name: str
    attributes: dict[str, Any]


class Span(Struct, frozen=True, kw_only=True):
    """One span."""

    trace_id: str
    span_id: str
    parent_id: str
    """Empty for the root of a trace."""
    name: str
    start: int
    """Nanoseconds since 1970, as `end`."""
    end: int
    attributes: dict[str, Any]
    events: list[SpanEvent]
    failure: str | None
    """The message of a failed span, perhaps empty; None when it did not fail."""
    scope: str
    """The name of the library that made it."""
    scope_version: str
    digest: bytes
    """Identifies its content when it comes again."""

    @property
    def id(self) -> str:
        """Its id, unique among the spans of all traces."""
        return f"{self.trace_id}/{self.span_id}"

    @property
    def parent(self) -> str:
        """The `id` of its parent; empty for a root."""
        return f"{self.trace_id}/{self.parent_id}" if self.parent_id else ""

    @property
    def order(self) -> tuple[int, str]:
        """The sort key: spans are emitted in the order in which they ended."""
        return self.end, self.id

    @property
    def exception(self) -> dict[str, Any]:
        """The attributes of the first exception that was recorded in it."""
        return next((event.attributes for event in self.events if event.name == "exception"), {})


class LogRecord(Struct, frozen=True, kw_only=True):
    """One log record, which belongs to the span that it names."""

    trace_id: str
    span_id: str
    name: str
    time: int
    attributes: dict[str, Any]
    body: Any
    digest: bytes

    @property
    def span(self) -> str:
        """The `id` of its span."""
        return f"{self.trace_id}/{self.span_id}"


def spans_in(request: dict[str, Any]) -> Iterator[Span]:
    """The spans of a request; those without ids are left out, because repetitions could not be recognized."""
    for holder in dicts(request.get("resourceSpans")):
        for scoped in dicts(holder.get("scopeSpans") or holder.get("instrumentationLibrarySpans")):
            scope = a_dict(scoped.get("scope") or scoped.get("instrumentationLibrary"))
            for item in dicts(scoped.get("spans")):
                span = span_of(item, a_str(scope.get("name")), a_str(scope.get("version")))
                if span.trace_id and span.span_id:
                    yield span


def logs_in(request: dict[str, Any]) -> Iterator[LogRecord]:
    """The log records of a request about model calls: those of the GenAI conventions that name a span."""
    for holder in dicts(request.get("resourceLogs")):
        for scoped in dicts(holder.get("scopeLogs")):
            yield from logs_in_scope(dicts(scoped.get("logRecords")))


def logs_in_scope(items: Iterable[dict[str, Any]]) -> Iterator[LogRecord]:
    """Those log records that are about a model call."""
    for item in items:
        attributes = attributes_of(item)
        record = LogRecord(
            trace_id=_id(item.get("traceId")),
            span_id=_id(item.get("spanId")),
            name=a_str(item.get("eventName")) or a_str(attributes.get("event.name")),
            time=_number(item.get("timeUnixNano")) or _number(item.get("observedTimeUnixNano")),
            attributes=attributes,
            body=value_of(item.get("body")),
            digest=_digest(item),
        )
        if record.trace_id and record.span_id and record.name.startswith("gen_ai."):
            yield record


def span_of(item: dict[str, Any], scope: str, version: str, only: Container[str] | None = None) -> Span:
    """A span; with `only`, it has just these attributes, and no events and digest."""
    status = a_dict(item.get("status"))
    start = _number(item.get("startTimeUnixNano"))
    return Span(
        trace_id=_id(item.get("traceId")),
        span_id=_id(item.get("spanId")),
        parent_id=_id(item.get("parentSpanId")),
        name=a_str(item.get("name")),
        start=start,
        end=_number(item.get("endTimeUnixNano")) or start,
        attributes=attributes_of(item, only),
        events=[SpanEvent(a_str(each.get("name")), attributes_of(each)) for each in _listed(item, "events", only)],
        failure=a_str(status.get("message")) if _is_error(status.get("code")) else None,
        scope=scope,
        scope_version=version,
        digest=_digest(item) if only is None else b"",
    )


def _listed(item: dict[str, Any], name: str, only: object) -> list[dict[str, Any]]:
    return dicts(item.get(name)) if only is None else []


def _digest(item: dict[str, Any]) -> bytes:
    try:
        data = _encode(item)
    except UnicodeEncodeError:  # a lone surrogate
        data = repr(item).encode("utf-8", "backslashreplace")
    return blake2b(data, digest_size=8).digest()


def _is_error(code: Any) -> bool:
    return not isinstance(code, dict | list) and code in _ERROR


def attributes_of(item: dict[str, Any], only: Container[str] | None = None) -> dict[str, Any]:
    """The attributes of anything, as plain values by their keys (`only` these); the last one of a key counts."""
    found: dict[str, Any] = {}
    for pair in a_list(item.get("attributes")):
        if isinstance(pair, dict) and isinstance(key := pair.get("key"), str) and (only is None or key in only):
            found[key] = value_of(pair.get("value"))
    return found


def value_of(value: Any, depth: int = 0) -> Any:
    """A value of OTLP (`{"stringValue": …}`) as a plain value; None when it is not one."""
    if not isinstance(value, dict):
        return None
    text = value.get("stringValue")
    if isinstance(text, str):
        return text
    if depth > _DEEPEST:
        return None
    for kind, inner in value.items():
        if kind == "intValue":
            return _whole_number(inner)
        if kind in ("doubleValue", "boolValue"):
            return inner if isinstance(inner, int | float) else None
        if kind == "arrayValue":
            return [value_of(each, depth + 1) for each in a_list(a_dict(inner).get("values"))]
        if kind == "kvlistValue":
            pairs = dicts(a_dict(inner).get("values"))
            return {
                pair["key"]: value_of(pair.get("value"), depth + 1)
                for pair in pairs
                if isinstance(pair.get("key"), str)
            }
        if kind == "bytesValue":
            return inner if isinstance(inner, str) else None
    return None


def _whole_number(value: Any) -> int | None:
    if isinstance(value, int):
        return value
    try:
        return int(value) if isinstance(value, str) and len(value) <= 20 else None
    except ValueError:
        return None


def _number(value: Any) -> int:
    number = _whole_number(value)
    return number if number is not None and 0 < number < 1 << 64 else 0


def _id(value: Any) -> str:
    """An id in hexadecimal; empty for none. Base64, as in protobuf's own JSON, is recognized by its length."""
    text = a_str(value)
    if len(text) in _HEX_LENGTHS and _HEX.issuperset(text):
        return "" if text.strip("0") == "" else text.lower()
    try:
        return base64.b64decode(text, validate=True).hex() if text else ""
    except (binascii.Error, ValueError):
        return ""


def time_text(nanoseconds: int) -> str | None:
    """A time of a span as text; None when it has none."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_second(seconds)}.{rest // 1000:06}Z" if 0 < seconds < FAR else None


@lru_cache(maxsize=1024)  # many spans share a second
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
