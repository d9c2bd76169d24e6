"""Adds events to the index, one batch at a time.

The same events in the same batches give the same rows, ids included: so an index that was maintained equals one that is
rebuilt. Nothing here reads a clock, a file or anything that is not in the packs.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import force_setattr

from stenograph.archive.index.call_rows import CallRows, sum_calls
from stenograph.archive.index.chunk import CHUNK_BYTES, LAST_CHUNK, bare, packed, unnumbered
from stenograph.archive.index.event_ids import EventIds
from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.model_call_rows import ModelCallRows
from stenograph.archive.index.run_row import RunRow, Runs
from stenograph.archive.index.usage_rows import UsageRows, sum_tokens
from stenograph.archive.index.words import event_text
from stenograph.archive.keep.old_run import OldRun
from stenograph.archive.keep.witness import Witness, agent_of, is_in, name_of, rank_of, witnesses_of
from stenograph.archive.keep.witness_merge import WitnessMerge
from stenograph.archive.store.kept_file import KeptFile
from stenograph.model.event import Event
from stenograph.model.moment import milliseconds_of
from stenograph.model.payload import MessagePayload, SystemPayload, ToolPayload, UsagePayload
from stenograph.sources.merge import merged

_LAST_SEQ = 1 << 53
_ROLES = {"tool.call": "assistant", "tool.result": "tool"}
_EVENT = f"INSERT INTO events VALUES ({', '.join('?' * 15)})"
_CHUNK = "INSERT INTO blocks VALUES (?, ?, ?, ?, ?)"


class Indexer:
    """Adds events to the index."""

    def __init__(self, index: IndexWriter) -> None:
        self._index = index
        self.events: int = index.written("SELECT coalesce(max(value), 0) FROM facts WHERE name = 'events'")[0][0]
        """Events indexed, ever."""
        # The number of a removed chunk is never used again: other machines know chunks by their numbers.
        self._chunks: int = index.written(LAST_CHUNK)[0][0]
        self._ids = EventIds(index)
        self._runs = Runs(index)

    def index(self, events: Iterable[Event], files: list[KeptFile]) -> None:
        """Index the merged events of one batch, which come from these files, all in one format.

        An event that another witness of the run reported before is not added again.
        """
        batch = _Batch(self._index, self._runs, files)
        for event in events:
            run, merge = batch.run(event.run_id)
            if merge is None:
                self._add(batch, run, event)
            elif (new := merge.add(event)) is not None:
                self._add(batch, run, new)
                merge.set_number(run.last_seq)
        self._write(batch)
        for run_id, merge in batch.merges.items():
            self._settle(batch.runs[run_id], merge)
        self._note()

    def index_again(self, events: Iterable[Event], file: KeptFile) -> None:
        """Index all events of the runs in a file, in place of those that it gave before."""
        by_run: dict[str, list[Event]] = {}
        for event in events:
            by_run.setdefault(event.run_id, []).append(event)
        for run_id, own_events in by_run.items():
            run = self._runs.load(run_id, file.about.format, agent_of(file.about.format))
            witnesses = witnesses_of(self._index, run.id)
            own = witnesses.get(name_of([file])) or Witness(name_of([file]))
            old = OldRun(self._index, run.id)
            missing = own.missing(run.last_seq)
            others = [old.event(seq) for seq in old.places if is_in(seq, missing)]
            again = self._write_anew(run, old, merged([own_events, others]))
            for each in {**witnesses, own.name: own}.values():
                each.upto, each.unreported = again.last_seq, []
                each.last = {source: row.last_seq for source, row in again.sources.items()}
                each.write(self._index, run.id)
        self._note()

    def _note(self) -> None:
        self._index.note("events", self.events)
        self._index.note("blocks", self._chunks)

    def _write(self, batch: _Batch) -> None:
        for run in batch.runs.values():
            self._close_chunk(run)
        batch.write()

    def _settle(self, run: RunRow, merge: WitnessMerge) -> None:
        before = dict(merge.witness.last)
        if not merge.is_out_of_order:
            merge.settle(run.last_seq)
            merge.witness.write(self._index, run.id)
            return
        old = OldRun(self._index, run.id)
        ordered = merge.order([seq for seq in old.places if seq <= merge.last_before], before)
        merge.settle(run.last_seq)
        self._write_anew(run, old, map(merge.rewriting(), map(old.event, ordered)))
        numbers = merge.numbers(ordered)
        for each in (merge.witness, *merge.others):
            each.renumbered(numbers, len(ordered), run.last_seq)
            each.write(self._index, run.id)

    def _write_anew(self, run: RunRow, old: OldRun, events: Iterable[Event]) -> RunRow:
        """Index the events of a run again, in another order; returns the new run."""
        old.remove()
        self._ids.look_again()
        count = self.events
        batch = _Batch(self._index, self._runs, [])
        again = batch.runs[run.run_id] = run.emptied()
        for event in events:
            self._add(batch, again, unnumbered(event))
        self._write(batch)
        old.remove_chunks()
        self.events = count
        return again

    def _add(self, batch: _Batch, run: RunRow, event: Event) -> None:
        if not run.last_seq < event.seq < _LAST_SEQ:
            if event.seq > 0:
                event = unnumbered(event)
            force_setattr(event, "seq", run.last_seq + 1)
        event, line = bare(event)
        ms = batch.ms_of(event.timestamp)
        self.events += 1
        event_id = self._id_of(run, event, ms)
        payload = event.payload
        role, name, call_id, message_id, subtype, error = _ROLES.get(event.type, "system"), None, None, None, None, 0
        if isinstance(payload, MessagePayload):
            role, message_id, subtype = payload.role, payload.message_id, "chunk" if payload.is_chunk else None
        elif isinstance(payload, ToolPayload):
            name, call_id = batch.calls.add(run, event, payload, event_id, ms), payload.call_id
            error = int(payload.error is not None)
        elif isinstance(payload, UsagePayload):
            message_id = payload.message_id
        elif isinstance(payload, SystemPayload):
            subtype = payload.subtype
        call = batch.model_calls.add(run, event, name, message_id)
        if call is not None and isinstance(payload, UsagePayload):
            batch.usage.add(run, event, payload, event_id, ms, call)
        error |= event.type == "error"
        run.errors += event.type == "error"  # a failed call is counted with its pair
        chunk, number = self._in_chunk(run, event.seq, line)
        first = (event_id, run.id, event.seq, event.source, event.type, role, event.told_at)
        rest = (name, call_id, message_id, subtype, error, event.child_run_id, chunk, number)
        self._index.add(_EVENT, (*first, *rest))
        if text := event_text(event):
            self._index.add_words(event_id, text)
        run.add(event, ms)
        if self._index.is_full:
            self._index.flush()
            self._ids.forget()

    def _id_of(self, run: RunRow, event: Event, ms: int | None) -> int:
        """Take an event's id; one that only has the time of its file does not move the events after it to that time."""
        if event.told_at:
            run.last_id = self._ids.take(ms, run.last_id)
            return run.last_id
        return self._ids.take(None if run.last_id else ms, run.last_id)

    def _in_chunk(self, run: RunRow, seq: int, line: bytes) -> tuple[int, int]:
        """Add a line to the run's chunk; returns the chunk's id, and the line's number in it."""
        if run.lines and run.size + len(line) > CHUNK_BYTES:
            self._close_chunk(run)
        if not run.lines:
            self._chunks += 1
            run.chunk, run.chunk_first = self._chunks, seq
        run.lines.append(line)
        run.size += len(line)
        return run.chunk, len(run.lines) - 1

    def _close_chunk(self, run: RunRow) -> None:
        if run.lines:
            self._index.add(_CHUNK, (run.chunk, run.id, run.chunk_first, run.last_seq, packed(run.lines)))
            run.lines, run.size = [], 0


class _Batch:
    """What one batch collects beside its events."""

    def __init__(self, index: IndexWriter, runs: Runs, files: list[KeptFile]) -> None:
        self._index = index
        self._runs = runs
        self._witness = name_of(files) if files else ""
        self._format = files[0].about.format if files else ""
        self._mains = {file.about.run_id: file.about for file in files if file.about.main is None}
        self.runs: dict[str, RunRow] = {}
        self.merges: dict[str, WitnessMerge] = {}
        """By run id, for runs that have other witnesses."""
        self._alone: list[tuple[RunRow, Witness]] = []
        self.calls = CallRows(index)
        self.usage = UsageRows(index)
        self.model_calls = ModelCallRows(index)
        self._text = ""
        self._ms: int | None = None

    def run(self, run_id: str) -> tuple[RunRow, WitnessMerge | None]:
        """The run with that id, and the merge of this witness into it where it has other witnesses."""
        run = self.runs.get(run_id)
        if run is None:
            run = self.runs[run_id] = self._runs.load(run_id, self._format, agent_of(self._format))
            self._introduce(run)
        return run, self.merges.get(run_id)

    def _introduce(self, run: RunRow) -> None:
        others = {} if run.is_new else witnesses_of(self._index, run.id)
        witness = others.pop(self._witness, None) or Witness(self._witness)
        leads = rank_of(self._format) < rank_of(run.format)
        if leads:
            run.format, run.agent = self._format, agent_of(self._format)
        if run.run_id in self._mains:
            run.take_about(self._mains[run.run_id], takes_over=leads)
        if others:
            self.merges[run.run_id] = WitnessMerge(self._index, run, witness, others.values())
        else:
            self._alone.append((run, witness))

    def ms_of(self, timestamp: str) -> int | None:
        if timestamp != self._text:
            self._text = timestamp
            self._ms = milliseconds_of(timestamp)
        return self._ms

    def write(self) -> None:
        self.calls.write()
        self.usage.write()
        self.model_calls.write()
        for run, witness in self._alone:
            witness.upto = run.last_seq
            witness.last |= {source: each.last_seq for source, each in run.sources.items()}
            witness.write(self._index, run.id)
        for run in self.runs.values():
            run.write(self._index)
            sum_calls(self._index, run)
            if run.has_usage:
                sum_tokens(self._index, run)
