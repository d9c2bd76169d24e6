"""exchange: our own journal, and the exchange transcripts of AWF, which have the same envelope."""

from __future__ import annotations

from typing import Any

from stenograph.formats.base import Context, LineFormat
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
