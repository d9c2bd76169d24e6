"""Feed: sends the spans of an archive's runs that a collector does not have yet.

Theory of operation. A receiver treats a span as finished, and many keep the first one under an id. So a span is sent
when normal growth of the run no longer changes it: an answer when the agent continues after it, a call when it has its
result. The spans of agents, and all others that may still change, are sent when the run is over. If a run continues
later, the changed spans are sent again under the same ids: receivers that replace have the newer ones, others the
older ones. The archive keeps a hash of each accepted span, so nothing else is sent twice.

Each pass joins the whole run again, so the caller pauses between passes.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b

from msgspec import Struct

from stenograph.archive.store.forgotten import read_forgotten
from stenograph.archive.store.home import Home
from stenograph.errors import SourceError
from stenograph.export.collector import Collector
from stenograph.export.feeding.sent import SentRun, SentSpans
from stenograph.export.otlp import RESOURCE, SCOPE
from stenograph.export.otlp_protobuf import request_message, span_message
from stenograph.export.otlp_trace import Trace
from stenograph.export.sending import PATIENCE, PROTOBUF, NotSent, send_trace
from stenograph.fold.losses import LossReport
from stenograph.query.run_status import RunStatuses
from stenograph.runs.archive import open_archive
from stenograph.runs.opening import open_run

QUIET = 30.0
"""Seconds without an event after which an ended run is over: users often continue one that just ended."""
MOST_SPANS = 512
"""Spans in one request, as in OpenTelemetry's own exporters."""
MOST_BYTES = 4 << 20
"""Bytes in one request, unless a single span is larger; collectors refuse more than 20 MB by default, some less."""
_LIVING = ("running", "waiting")


class FeedSetting(Struct, frozen=True, kw_only=True):
    """What to send, and where."""

    archive: str
    collector: Collector
    content: str = "delta"
    vocabulary: str = "genai"
    is_redacted: bool = False
    began_ms: int
    """When the user started it: runs that ended earlier are not sent."""
    is_quiet: bool = False
    """Whether only problems are printed."""

    @property
    def destination(self) -> str:
        """The key under which sent spans are remembered; another form of the same run is sent separately."""
        return " ".join([self.collector.url, self.vocabulary, self.content, *(["redacted"] * self.is_redacted)])


class Sent(Struct):
    """What one pass sent."""

    spans: int = 0
    runs: int = 0


class _Ready(Struct, frozen=True):
    """A span to send."""

    id: bytes
    digest: bytes
    message: bytes


class Feed:
    """Sends what is new in an archive, once per call."""

    def __init__(
        self, home: Home, setting: FeedSetting, sent: SentSpans, say: Callable[[str], None], *, quiet: float = QUIET
    ) -> None:
        """`say` gets a line about each span that the collector refused."""
        self._home = home
        self._setting = setting
        self._sent = sent
        self._say = say
        self._quiet = quiet

    def look(self, patience: float = PATIENCE) -> Sent:
        """Send what the collector does not have. Raises `NotSent`, and what reading the archive raises.

        Spans accepted before an error are remembered.
        """
        done = Sent()
        for run_id, now in self._changed():
            try:
                count = self._send_run(run_id, is_over=now.is_over, patience=patience)
            except SourceError as error:  # the others are still sent, and this one when it changes
                self._say(f"run {run_id} is not sent: {error}")
                count = 0
            self._sent.note_runs({run_id: now})
            done.spans += count
            done.runs += count > 0
        return done

    def _changed(self) -> list[tuple[str, SentRun]]:
        """The runs that may have something to send."""
        known = self._sent.runs()
        query = "SELECT id, run_id, revision, events, last_seq, ended_ms FROM main.runs WHERE ended_ms >= ?"
        query += " OR ended_ms IS NULL ORDER BY ended_ms, id"
        with open_archive(self._home.path) as archive, archive.reading() as reader:
            rows = reader.index.execute(query, (self._sent.since_ms,)).fetchall()
            self._let_go_of_forgotten(known, reader.index)
            if self._sent.is_new:
                self._sent.pass_over(
                    run_id for _, run_id, *_, ended in rows if ended is None
                )  # it existed before we began
                known = self._sent.runs()
            statuses = RunStatuses(reader.index)
            found = []
            for id_, run_id, revision, events, last_seq, ended in rows:
                mark = f"{revision} {events} {last_seq}"
                was = known.get(run_id)
                if was is not None and (was.mark is None or (was.mark == mark and was.is_over)):
                    continue
                is_quiet = ended is None or time.time() - ended / 1000 >= self._quiet
                is_over = is_quiet and statuses.verdict(id_).status not in _LIVING
                now = SentRun(mark, is_over)
                if was != now:
                    found.append((run_id, now))
        return found

    def _let_go_of_forgotten(self, known: dict[str, SentRun], index: sqlite3.Connection) -> None:
        gone = known.keys() & read_forgotten(self._home.forgotten).runs.keys()
        query = "SELECT 1 FROM main.runs WHERE run_id = ?"  # one that expired may have been kept again
        self._sent.forget([run_id for run_id in gone if index.execute(query, (run_id,)).fetchone() is None])

    def _send_run(self, run_id: str, *, is_over: bool, patience: float) -> int:
        setting, count = self._setting, 0
        with open_run(run_id, archive=setting.archive, redact=setting.is_redacted) as run:
            trace = Trace(run.events(keep_raw=False), LossReport("otlp"), setting.content, setting.vocabulary)
            spans = trace.spans()
        known = self._sent.digests(run_id)
        batch: list[_Ready] = []
        size = 0
        for span in spans:
            if span["spanId"] in trace.unsettled and not is_over:
                continue
            message = span_message(span)
            ready = _Ready(bytes.fromhex(span["spanId"]), blake2b(message, digest_size=16).digest(), message)
            if known.get(ready.id) == ready.digest:
                continue
            if batch and (len(batch) >= MOST_SPANS or size + len(message) > MOST_BYTES):
                count += self._send(run_id, batch, patience)
                batch, size = [], 0
            batch.append(ready)
            size += len(message)
        return count + self._send(run_id, batch, patience)

    def _send(self, run_id: str, batch: list[_Ready], patience: float) -> int:
        """Send spans in one request, and one by one if it is refused; returns how many were accepted."""
        if not batch:
            return 0
        request = request_message(RESOURCE, SCOPE, (span.message for span in batch))
        try:
            rejected, reason = send_trace(request, self._setting.collector, PROTOBUF, patience)
        except NotSent as error:
            if not error.is_refusal:
                raise
            if len(batch) > 1:
                return sum(self._send(run_id, half, patience) for half in _halves(batch))
            self._say(f"a span of run {run_id} is left out: {error}")
            rejected = 1
        else:
            if rejected:
                self._say(f"{self._setting.collector.url} left out {rejected} spans of run {run_id}: {reason}")
        self._sent.note_spans(run_id, ((span.id, span.digest) for span in batch))
        return max(0, len(batch) - rejected)


def _halves(batch: list[_Ready]) -> Iterator[list[_Ready]]:
    middle = len(batch) // 2
    yield batch[:middle]
    yield batch[middle:]
