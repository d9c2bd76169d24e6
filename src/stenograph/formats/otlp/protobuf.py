"""OTLP in protobuf, converted to the JSON form of the same request. Needs the extra `otlp`, imported on first use."""

from __future__ import annotations

import enum
from functools import cache
from typing import Any

from stenograph.errors import MissingExtra

_FIRST_FIELD = b"\x0a"
_INNER_FIELDS = (b"\x0a", b"\x12")
"""A resource, or the spans of a scope: the first field of every request."""
_LONGEST_LENGTH = 6


class Signal(enum.StrEnum):
    """What a request holds; the value is the path that it is sent to."""

    TRACES = "/v1/traces"
    LOGS = "/v1/logs"


class NotOtlp(ValueError):
    """Bytes that are not a request of OTLP."""


def is_protobuf(head: bytes) -> bool:
    """Whether a file may begin with a request: with its first field, or with the length of a message before that."""
    head = head[4:] if head[:1] == b"\0" else head
    if head[:1] != _FIRST_FIELD:
        return False
    at = 1
    while head[at : at + 1] >= b"\x80" and at < _LONGEST_LENGTH:
        at += 1
    return head[at + 1 : at + 2] in _INNER_FIELDS


@cache
def _messages() -> dict[Signal, Any]:
    try:
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    except ModuleNotFoundError as error:
        raise MissingExtra("opentelemetry-proto", "otlp") from error
    return {Signal.TRACES: ExportTraceServiceRequest, Signal.LOGS: ExportLogsServiceRequest}


def request_in(data: bytes, signal: Signal) -> dict[str, Any]:
    """The request that bytes hold. Raises `NotOtlp`, and `MissingExtra` without the library."""
    message = _messages()[signal]()
    try:
        message.ParseFromString(data)
    except Exception as error:  # DecodeError of whichever protobuf is installed
        raise NotOtlp(f"not a protobuf message of {signal}") from error
    if signal is Signal.TRACES:
        return {"resourceSpans": [_resource_spans(each) for each in message.resource_spans]}
    return {"resourceLogs": [_resource_logs(each) for each in message.resource_logs]}


def requests_in_file(data: bytes, signal: Signal) -> list[dict[str, Any]]:
    """The requests in a file: one message, or many, each with its length before it, as a collector writes them."""
    found: list[dict[str, Any]] = []
    if data[:1] == b"\0":
        at = 0
        while at + 4 <= len(data):
            end = at + 4 + int.from_bytes(data[at : at + 4], "big")
            found.append(request_in(data[at + 4 : end], signal))
            at = end
        return found
    return [request_in(data, signal)]


def records_in_file(data: bytes) -> list[Any]:
    """The requests in a file; none when it is not OTLP. Raises `MissingExtra` without the library."""
    try:
        return list(requests_in_file(data, Signal.TRACES))
    except NotOtlp:
        return []


def _resource_spans(each: Any) -> dict[str, Any]:
    return {"resource": _attributed(each.resource), "scopeSpans": [_scope_spans(inner) for inner in each.scope_spans]}


def _scope_spans(each: Any) -> dict[str, Any]:
    return {"scope": _scope(each.scope), "spans": [_span(span) for span in each.spans]}


def _resource_logs(each: Any) -> dict[str, Any]:
    return {
        "resource": _attributed(each.resource),
        "scopeLogs": [
            {"scope": _scope(inner.scope), "logRecords": [_log(log) for log in inner.log_records]}
            for inner in each.scope_logs
        ],
    }


def _attributed(each: Any) -> dict[str, Any]:
    return {"attributes": _attributes(each.attributes)}


def _scope(scope: Any) -> dict[str, Any]:
    return {"name": scope.name, **({"version": scope.version} if scope.version else {})}


def _span(span: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"traceId": span.trace_id.hex(), "spanId": span.span_id.hex()}
    if span.parent_span_id:
        found["parentSpanId"] = span.parent_span_id.hex()
    found |= {
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start_time_unix_nano),
        "endTimeUnixNano": str(span.end_time_unix_nano),
        "attributes": _attributes(span.attributes),
    }
    if span.events:
        found["events"] = [
            {"name": event.name, "timeUnixNano": str(event.time_unix_nano), "attributes": _attributes(event.attributes)}
            for event in span.events
        ]
    if span.links:
        found["links"] = [
            {"traceId": link.trace_id.hex(), "spanId": link.span_id.hex(), "attributes": _attributes(link.attributes)}
            for link in span.links
        ]
    status = span.status
    if status.code or status.message:
        found["status"] = {"code": status.code, **({"message": status.message} if status.message else {})}
    return found


def _log(log: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "timeUnixNano": str(log.time_unix_nano),
        "observedTimeUnixNano": str(log.observed_time_unix_nano),
        "attributes": _attributes(log.attributes),
    }
    if log.HasField("body"):
        found["body"] = _value(log.body)
    if log.severity_number:
        found["severityNumber"] = log.severity_number
    if event_name := getattr(log, "event_name", ""):  # missing in some versions of the library
        found["eventName"] = event_name
    if log.trace_id:
        found |= {"traceId": log.trace_id.hex(), "spanId": log.span_id.hex()}
    return found


def _attributes(pairs: Any) -> list[dict[str, Any]]:
    return [{"key": pair.key, "value": _value(pair.value)} for pair in pairs]


def _value(value: Any) -> dict[str, Any]:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return {"stringValue": value.string_value}
    if kind == "int_value":
        return {"intValue": str(value.int_value)}
    if kind == "double_value":
        return {"doubleValue": value.double_value}
    if kind == "bool_value":
        return {"boolValue": value.bool_value}
    if kind == "array_value":
        return {"arrayValue": {"values": [_value(each) for each in value.array_value.values]}}
    if kind == "kvlist_value":
        return {"kvlistValue": {"values": _attributes(value.kvlist_value.values)}}
    if kind == "bytes_value":
        import base64

        return {"bytesValue": base64.b64encode(value.bytes_value).decode()}
    return {}
