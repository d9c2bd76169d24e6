"""Events into the index, one batch at a time.

The same events in the same batches give the same rows, ids included: that is what makes an index that was maintained
equal to one that is made again. So nothing here reads a clock, a file or anything that is not in the packs.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import force_setattr

from stenograph.archive.index.block import BLOCK_BYTES, LAST_BLOCK, bare, packed, unnumbered
from stenograph.archive.index.call_rows import CallRows, sum_calls
from stenograph.archive.index.event_ids import EventIds
from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.model_call_rows import ModelCallRows
from stenograph.archive.index.run_draft import RunDraft, Runs
from stenograph.archive.index.usage_rows import UsageRows, sum_tokens
from stenograph.archive.index.words import event_text
from stenograph.archive.keep.old_run import OldRun
from stenograph.archive.keep.telling import Telling
from stenograph.archive.keep.witness import Witness, agent_of, is_in, name_of, rank_of, witnesses_of
from stenograph.archive.store.kept_file import KeptFile
from stenograph.model.event import Event
from stenograph.model.moment import milliseconds_of
from stenograph.model.payload import MessagePayload, SystemPayload, ToolPayload, UsagePayload
from stenograph.sources.merge import merged

_LAST_SEQ = 1 << 53
_ROLES = {"tool.call": "assistant", "tool.result": "tool"}
_EVENT = f"INSERT INTO events VALUES ({', '.join('?' * 15)})"
_BLOCK = "INSERT INTO blocks VALUES (?, ?, ?, ?, ?)"


class Indexer:
    """Adds events to the index."""

    def __init__(self, index: IndexWriter) -> None:
        self._index = index
        self.events: int = index.written("SELECT coalesce(max(value), 0) FROM facts WHERE name = 'events'")[0][0]
        """Events indexed, ever."""
        # The number of a block that was removed is never another's: other machines know blocks by their numbers.
        self._blocks: int = index.written(LAST_BLOCK)[0][0]
        self._ids = EventIds(index)
        self._runs = Runs(index)

    def index(self, events: Iterable[Event], files: list[KeptFile]) -> None:
        """Index the merged events of one batch, which come from these files, all in one format.

        What another witness of a run has told already is in it once.
        """
        batch = _Batch(self._index, self._runs, files)
        for event in events:
            run, telling = batch.run(event.run_id)
            if telling is None:
                self._add(batch, run, event)
            elif (new := telling.hear(event)) is not None:
                self._add(batch, run, new)
                telling.numbered(run.last_seq)
        self._write(batch)
        for run_id, telling in batch.tellings.items():
            self._settle(batch.runs[run_id], telling)
        self._note()

    def index_again(self, events: Iterable[Event], file: KeptFile) -> None:
        """Index all events of the runs that a file tells of, in place of what it told of them before."""
        by_run: dict[str, list[Event]] = {}
        for event in events:
            by_run.setdefault(event.run_id, []).append(event)
        for run_id, told in by_run.items():
            run = self._runs.load(run_id, file.about.format, agent_of(file.about.format))
            witnesses = witnesses_of(self._index, run.id)
            own = witnesses.get(name_of([file])) or Witness(name_of([file]))
            old = OldRun(self._index, run.id)
            missing = own.missing(run.last_seq)
            others = [old.event(seq) for seq in old.places if is_in(seq, missing)]
            again = self._write_anew(run, old, merged([told, others]))
            for each in {**witnesses, own.name: own}.values():
                each.upto, each.untold = again.last_seq, []
                each.last = {source: speaker.last_seq for source, speaker in again.speakers.items()}
                each.write(self._index, run.id)
        self._note()

    def _note(self) -> None:
        self._index.note("events", self.events)
        self._index.note("blocks", self._blocks)

    def _write(self, batch: _Batch) -> None:
        for run in batch.runs.values():
            self._close_block(run)
        batch.write()

    def _settle(self, run: RunDraft, telling: Telling) -> None:
        before = dict(telling.witness.last)
        if not telling.is_out_of_order:
            telling.settle(run.last_seq)
            telling.witness.write(self._index, run.id)
            return
        old = OldRun(self._index, run.id)
        ordered = telling.order([seq for seq in old.places if seq <= telling.began], before)
        telling.settle(run.last_seq)
        self._write_anew(run, old, map(telling.rewriting(), map(old.event, ordered)))
        numbers = telling.numbers(ordered)
        for each in (telling.witness, *telling.others):
            each.renumbered(numbers, len(ordered), run.last_seq)
            each.write(self._index, run.id)

    def _write_anew(self, run: RunDraft, old: OldRun, events: Iterable[Event]) -> RunDraft:
        """Index the events of a run again, in another order; the run as it is then."""
        old.remove()
        self._ids.look_again()
        count = self.events
        batch = _Batch(self._index, self._runs, [])
        again = batch.runs[run.run_id] = run.anew()
        for event in events:
            self._add(batch, again, unnumbered(event))
        self._write(batch)
        old.remove_blocks()
        self.events = count
        return again

    def _add(self, batch: _Batch, run: RunDraft, event: Event) -> None:
        if not run.last_seq < event.seq < _LAST_SEQ:
            if event.seq > 0:
                event = unnumbered(event)
            force_setattr(event, "seq", run.last_seq + 1)
        event, line = bare(event)
        ms = batch.ms_of(event.timestamp)
        self.events += 1
        event_id = run.last_id = self._ids.take(ms, run.last_id)
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
        block, number = self._in_block(run, event.seq, line)
        told = (event_id, run.id, event.seq, event.source, event.type, role, event.told_at)
        row = (*told, name, call_id, message_id, subtype, error, event.child_run_id, block, number)
        self._index.add(_EVENT, row)
        if text := event_text(event):
            self._index.add_words(event_id, text)
        run.add(event, ms)
        if self._index.is_full:
            self._index.flush()
            self._ids.forget()

    def _in_block(self, run: RunDraft, seq: int, line: bytes) -> tuple[int, int]:
        """Put a line into the run's block; the block's id, and the line's number in it."""
        if run.lines and run.size + len(line) > BLOCK_BYTES:
            self._close_block(run)
        if not run.lines:
            self._blocks += 1
            run.block, run.block_first = self._blocks, seq
        run.lines.append(line)
        run.size += len(line)
        return run.block, len(run.lines) - 1

    def _close_block(self, run: RunDraft) -> None:
        if run.lines:
            self._index.add(_BLOCK, (run.block, run.id, run.block_first, run.last_seq, packed(run.lines)))
            run.lines, run.size = [], 0


class _Batch:
    """What one batch gathers beside its events."""

    def __init__(self, index: IndexWriter, runs: Runs, files: list[KeptFile]) -> None:
        self._index = index
        self._runs = runs
        self._witness = name_of(files) if files else ""
        self._format = files[0].about.format if files else ""
        self._mains = {file.about.run_id: file.about for file in files if file.about.main is None}
        self.runs: dict[str, RunDraft] = {}
        self.tellings: dict[str, Telling] = {}
        """Of runs that have other witnesses."""
        self._alone: list[tuple[RunDraft, Witness]] = []
        self.calls = CallRows(index)
        self.usage = UsageRows(index)
        self.model_calls = ModelCallRows(index)
        self._text = ""
        self._ms: int | None = None

    def run(self, run_id: str) -> tuple[RunDraft, Telling | None]:
        """The run of that id, and what the batch tells of it where it has other witnesses."""
        run = self.runs.get(run_id)
        if run is None:
            run = self.runs[run_id] = self._runs.load(run_id, self._format, agent_of(self._format))
            self._introduce(run)
        return run, self.tellings.get(run_id)

    def _introduce(self, run: RunDraft) -> None:
        others = {} if run.is_new else witnesses_of(self._index, run.id)
        witness = others.pop(self._witness, None) or Witness(self._witness)
        leads = rank_of(self._format) < rank_of(run.format)
        if leads:
            run.format, run.agent = self._format, agent_of(self._format)
        if run.run_id in self._mains:
            run.know(self._mains[run.run_id], takes_over=leads)
        if others:
            self.tellings[run.run_id] = Telling(self._index, run, witness, others.values())
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
            witness.last |= {source: each.last_seq for source, each in run.speakers.items()}
            witness.write(self._index, run.id)
        for run in self.runs.values():
            run.write(self._index)
            sum_calls(self._index, run)
            if run.has_usage:
                sum_tokens(self._index, run)
