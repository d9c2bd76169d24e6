"""Spans of the OpenTelemetry SDK as OTLP JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def request_of(spans: Sequence[Any], item: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """A request with these spans, each beside others of the same resource and library."""
    groups: dict[tuple[int, Any], list[Any]] = {}
    for span in spans:
        groups.setdefault((id(span.resource), span.instrumentation_scope), []).append(span)
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(members[0].resource.attributes)},
                "scopeSpans": [{"scope": _scope(scope), "spans": [item(span) for span in members]}],
            }
            for (_, scope), members in groups.items()
        ]
    }


def item_of(span: Any) -> dict[str, Any]:
    """One span that has ended."""
    context, parent = span.get_span_context(), span.parent
    found: dict[str, Any] = {"traceId": f"{context.trace_id:032x}", "spanId": f"{context.span_id:016x}"}
    if parent is not None:
        found["parentSpanId"] = f"{parent.span_id:016x}"
    found |= {
        "name": span.name,
        "kind": span.kind.value + 1,  # OTLP counts from "unspecified"
        "startTimeUnixNano": str(span.start_time or 0),
        "endTimeUnixNano": str(span.end_time or 0),
        "attributes": _attributes(span.attributes),
    }
    if span.events:
        found["events"] = [
            {"name": event.name, "timeUnixNano": str(event.timestamp), "attributes": _attributes(event.attributes)}
            for event in span.events
        ]
    if span.status.status_code.value:
        message = {"message": span.status.description} if span.status.description else {}
        found["status"] = {"code": span.status.status_code.value, **message}
    return found


def _scope(scope: Any) -> dict[str, Any]:
    if scope is None:
        return {"name": ""}
    return {"name": scope.name, **({"version": scope.version} if scope.version else {})}


def _attributes(attributes: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in (attributes or {}).items()]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": _attributes(value)}}
    if isinstance(value, Sequence):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {"stringValue": str(value)}
