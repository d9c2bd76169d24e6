"""Which agent an event belongs to: the innermost span around it that is a subagent's.

An agent's span is a subagent's when a tool call opened it (`agent_span_id`), or when it is inside another agent's;
the outermost is the sample's own agent.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_dict, a_str, dicts, first_str

_PREFIX = "subagent:"


class Spans:
    """The spans of a sample."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        begun = [event for event in events if event.get("event") == "span_begin" and a_str(event.get("id"))]
        self._spans = {event["id"]: event for event in begun}
        facts = {span: a_dict(a_dict(event.get("metadata")).get("stenograph")) for span, event in self._spans.items()}
        self._ours = {span: each for span, each in facts.items() if a_str(each.get("source"))}
        """What our own exports say of a subagent's span."""
        self.calls: dict[str, str] = {}
        """The call that opened a span."""
        for event in every_event(events):
            if event.get("event") == "tool" and (span := first_str(event, "agent_span_id")):
                self.calls.setdefault(span, a_str(event.get("id")))

    def source_of(self, span_id: Any) -> str:
        """The source of the events in a span: `main`, or `subagent:<id>`."""
        for each in self._upwards(span_id):
            if each in self._ours:
                return str(self._ours[each]["source"])
            if self._is_subagent(each):
                return f"{_PREFIX}{each}"
        return "main"

    def parent_of(self, source: str) -> tuple[str | None, str | None]:
        """The source and the call that a subagent's source was opened by."""
        if source == "main":
            return None, None
        ours = next((each for each in self._ours.values() if each["source"] == source), None)
        if ours is not None:
            return first_str(ours, "parent_source"), first_str(ours, "parent_call_id")
        inside = source.removeprefix(_PREFIX)
        span = self._spans.get(inside, {})
        return self.source_of(span.get("parent_id")), self.calls.get(inside)

    def _is_subagent(self, span_id: str) -> bool:
        span = self._spans.get(span_id, {})
        if span.get("type") != "agent":
            return False
        around = list(self._upwards(span.get("parent_id")))
        return span_id in self.calls or any(self._spans.get(each, {}).get("type") == "agent" for each in around)

    def _upwards(self, span_id: Any) -> list[str]:
        """A span and those around it, from the inside out; a circle of spans is followed once."""
        found: list[str] = []
        while isinstance(span_id, str) and span_id and span_id not in found:
            found.append(span_id)
            span_id = self._spans.get(span_id, {}).get("parent_id")
        return found


def every_event(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events, and those that older logs hold inside their tool events, in order."""
    found = []
    for event in events:
        found.append(event)
        if event.get("event") in ("tool", "subtask"):
            found += every_event(dicts(event.get("events")))
    return found
