"""otlp: files of OTLP JSON, one request in each line (or one request that is the whole file).

A file is read as a whole, because spans come in any order: its events come when it is finished. If a file grows
(`Context.is_growing`), spans are emitted as they come; if that turns out to be wrong, `is_superseded` says so, and the
caller reads the file again from its beginning.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from stenograph.formats.base import Context, LineFormat, run_id_of
from stenograph.formats.otlp.conversation import conversation_in, native_id_of
from stenograph.formats.otlp.span import REQUEST_FIELDS, LogRecord, Span, logs_in, spans_in, time_text
from stenograph.formats.otlp.transcript import MAIN, BareEvent, Transcript
from stenograph.formats.shared.loose import a_dict
from stenograph.model import mend
from stenograph.model.event import Event, Origin


def _is_json(line: bytes) -> bool:
    try:
        mend.parse_json(line)
    except (ValueError, RecursionError):
        return False
    return True


class OtlpFormat(LineFormat):
    """Requests of OTLP as JSON."""

    name = "otlp"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.is_superseded = False
        """Whether later lines showed that emitted events were wrong."""
        self._transcript = Transcript(self._emit_bare)
        self._main = context.session_id or ""
        """The conversation that has the run id of the context."""
        self._spans: list[tuple[Span, int]] = []
        self._records: list[LogRecord] = []
        self._lines: dict[str, int] = {}
        """The line of each span that waits to be emitted."""
        self._raws: dict[int, bytes] = {}
        """The lines themselves, until their first event is emitted."""

    def _slow(self, line: bytes) -> None:
        """A line that a crash cut short is not lost: `steno receive` writes all of it again in the next."""
        if not self._transcript.only or _is_json(line):
            super()._slow(line)
            return
        self.report.malformed += 1
        self._accumulate()

    def _map(self, record: Any) -> None:
        request = a_dict(record)
        if not any(name in request for name in REQUEST_FIELDS):
            self._unknown(record, request.get("type"))
            return
        self._transcript.only = self._transcript.only or conversation_in(request)
        spans, logs = list(spans_in(request)), list(logs_in(request))
        if self.context.is_growing:
            self._grow(spans, logs)
            return
        if self._raw is not None:
            self._raws[self.report.lines] = self._raw
        self._spans += [(span, self.report.lines) for span in spans]
        self._records += logs
        self._accumulate()

    def _grow(self, spans: list[Span], logs: list[LogRecord]) -> None:
        before = len(self._out)
        self.is_superseded = not self._transcript.take(spans, logs) or self.is_superseded
        self.report.failed = self._transcript.failed
        if len(self._out) == before:
            self._accumulate()

    def go_on(self) -> None:
        """After a file was read as a whole: emit what is appended to it as it comes."""
        self.context = replace(self.context, is_growing=True)

    def _finish(self) -> None:
        spans, self._spans = self._spans, []
        records, self._records = self._records, []
        self._lines = {}
        for span, line in spans:
            self._lines.setdefault(span.id, line)
        before = len(self._out)
        self._transcript.emit_all((span for span, _ in spans), records)
        self.report.failed = self._transcript.failed
        lines = {event.origin.line for event in self._out[before:] if event.origin is not None}
        self.report.accumulated -= min(len(lines), self.report.accumulated)
        self._lines, self._raws = {}, {}

    def _emit_bare(self, event: BareEvent) -> None:
        """Emit one event, with its place in the file and its run."""
        speaker = event.speaker
        if event.type == "unknown":
            self.report.unknown_types["(message)"] += 1
        self._main = self._main or speaker.conversation
        line = self._lines.get(self._transcript.span_id) or self.report.lines or None
        raw, raw_b64 = None, None
        data = self._raws.pop(line or 0, None) or self._raw
        if data is not None:
            raw, raw_b64 = mend.raw_fields(data)
            self._raw = None
        time = time_text(event.time)
        self._timestamp = time or self._timestamp
        self._out.append(
            Event(
                seq=0,
                run_id=self._run_of(speaker.conversation),
                parent_run_id=self._parent_of(speaker.parent_conversation),
                type=event.type,
                path="",
                iteration=0,
                timestamp=self._timestamp,
                origin=Origin(
                    adapter=self.context.adapter or self.name,
                    source=None if speaker.source == MAIN else speaker.source,
                    session_id=speaker.conversation,
                    prompt_name=self.context.prompt_name,
                    file=self.context.file,
                    line=line,
                    parent_source=speaker.parent_source,
                    parent_call_id=speaker.parent_call_id,
                    time=None if time else "given",
                ),
                payload=event.payload,
                raw=raw,
                raw_b64=raw_b64,
            )
        )

    def _run_of(self, conversation: str) -> str:
        return self._run_id if conversation == self._main else run_id_of(self.name, native_id_of(conversation))

    def _parent_of(self, conversation: str | None) -> str | None:
        return self._parent_run_id if conversation is None else run_id_of(self.name, native_id_of(conversation))
