"""exchange: our own journal, and the exchange transcripts of AWF, which have the same envelope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Context, Identity, LineFormat
from stenograph.formats.registry import formats
from stenograph.formats.shared.loose import a_dict, a_str, first_str, first_told
from stenograph.model import mend
from stenograph.model.codec import Decoder, encode
from stenograph.model.event import EVENT_TYPES, Event


class ExchangeFormat(LineFormat):
    """A journal line is already an event; it keeps its number, run, time and origin."""

    name = "exchange"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._decoder = Decoder()

    def _decode(self, line: bytes) -> Any:
        before = self._decoder.malformed, self._decoder.replaced
        event = self._decoder.decode(line)
        if self._decoder.malformed > before[0]:
            raise RecursionError  # the base handles a line that cannot be read
        self.report.replaced += self._decoder.replaced - before[1]
        return event

    def _convert(self, value: Any) -> Any:
        return mend.event_from(value)

    def _map(self, record: Event) -> None:
        if record.type not in EVENT_TYPES:
            self.report.unknown_types[record.type] += 1
        line, self._raw = self._raw, None
        if line is not None and record.raw is None and record.raw_b64 is None and encode(record) != line:
            raw, raw_b64 = mend.raw_fields(line)  # not as we would write it, so the line itself is kept
            record = mend.filled(record, raw=raw, raw_b64=raw_b64)
        if record.timestamp:
            self._timestamp, self._time = record.timestamp, "inherited"
        else:
            self._place()
            record = mend.filled(record, timestamp=self._timestamp, origin=record.origin or self._origin)
        self._out.append(record if record.run_id else mend.filled(record, run_id=self._run_id))


def detect(records: Sequence[Any], path: str) -> int:
    """How surely these are lines of a journal."""
    return SURE if any(_is_event(record) for record in records) else 0


def _is_event(record: Any) -> bool:
    return isinstance(record, dict) and {"seq", "run_id", "type", "payload"} <= record.keys()


def identify(records: Sequence[Any], path: str) -> Identity:
    """The run that the first event names."""
    events = [record for record in records if _is_event(record)]
    first: dict[str, Any] = events[0] if events else {}
    begun = [a_dict(event.get("payload")) for event in events if event.get("type") == "run.started"]
    agents = _told_by_agent(events)
    return Identity(
        native_id=str(first.get("run_id") or ""),
        parent_native_id=first_str(first, "parent_run_id"),
        cwd=first_told(begun, "cwd") or agents.cwd,
        branch=agents.branch,
        agent_version=agents.agent_version,
        model=agents.model,
    )


def _told_by_agent(events: list[dict[str, Any]]) -> Identity:
    """What the agent's own lines tell in a journal that was taken down from them."""
    adapter = next((name for event in events if (name := a_str(a_dict(event.get("origin")).get("adapter")))), "")
    spec = formats().get(adapter)
    if spec is None or adapter == ExchangeFormat.name:
        return Identity()
    lines = []
    for event in events:
        try:
            lines.append(mend.parse_json(a_str(event.get("raw")).encode("utf-8", "surrogatepass"))[0])
        except (ValueError, RecursionError):
            continue  # no line of the agent's, or none that it wrote as JSON
    return spec.identify(lines, "") if lines else Identity()
