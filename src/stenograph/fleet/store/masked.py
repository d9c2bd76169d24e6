"""Events and runs without secrets, block by block, for `steno push --events-only`.

A run is read whole before anything of it is sent, so a secret in one event is masked in all that are sent from then
on. A sender that continues reads only what is new. A secret that a stream cut in two is found where blocks meet:
masking begins some events before a block, and nothing is sent of a stream that is still growing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from stenograph.archive.index.chunk import Chunk, events_of, line_of
from stenograph.archive.reader import IndexReader
from stenograph.bundle.secrets import machine_mask
from stenograph.model.event import Event
from stenograph.redact.event import EventMask
from stenograph.redact.stream import is_chunk, mask_events

_RUNS_AT_HAND = 64
_CONTEXT = 256
"""Events before a block with which masking begins."""
_STREAM_ENDS = 600.0
"""Seconds after which a quiet stream counts as ended."""
_PLAIN = ("run_id", "parent_run_id", "forked_from", "agent", "format", "started_at", "ended_at", "status")
"""Columns of `runs` that say which run it is: programs join by them."""


class MaskedRuns:
    """The runs of an index, masked; what was learned about them is kept between pushes."""

    def __init__(self) -> None:
        self._runs: dict[str, _MaskedRun] = {}

    def ready(self, reader: IndexReader, blocks: list[Chunk]) -> list[Chunk]:
        """Those of some blocks that may be sent: none after a stream that is still growing, since half a secret in it
        would not be found."""
        for number, block in enumerate(blocks):
            if _is_in_stream(reader, block):
                return blocks[:number]
        return blocks

    def lines(self, reader: IndexReader, block: Chunk) -> list[bytes]:
        """The events of a block, masked."""
        run = self._runs.pop(block.run_id, None)
        if run is None or not run.goes_on_with(block):
            run = _MaskedRun(block)
        self._runs[block.run_id] = run
        while len(self._runs) > _RUNS_AT_HAND:
            self._runs.pop(next(iter(self._runs)))
        return [line_of(event) for event in run.events_of(block, reader)]

    def row(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row of `runs`, masked."""
        run = self._runs.get(row["run_id"])
        texts = (machine_mask() if run is None else run.mask).texts
        masked = {
            name: texts.value(name, cell) if isinstance(cell, str) and name not in (*_PLAIN, "evidence") else cell
            for name, cell in row.items()
        }
        masked |= {name: _masked(cell, texts.text) for name, cell in row.items() if isinstance(cell, list)}
        proof = _masked(msgspec.json.decode(row["evidence"]), texts.text)
        return {**masked, "evidence": msgspec.json.encode(proof).decode()}

    def rest(self) -> None:
        """Close what is open of an index: it is closed now."""
        for run in self._runs.values():
            run.rest()


def _is_in_stream(reader: IndexReader, block: Chunk) -> bool:
    """Whether a block ends in a stream that may grow: the run's last event is a recent piece of one."""
    query = "SELECT id, last_seq, ended_ms FROM runs WHERE run_id = ?"
    number, last_seq, ended_ms = reader.index.execute(query, (block.run_id,)).fetchone()
    if ended_ms is None or ended_ms < (time.time() - _STREAM_ENDS) * 1000:
        return False
    return is_chunk(events_of(block.data)[-1]) and all(map(is_chunk, reader.events(number, last_seq)))


def _masked(value: Any, text: Any) -> Any:
    """Every text in what was JSON, masked."""
    if isinstance(value, dict):
        return {key: _masked(each, text) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(each, text) for each in value]
    return text(value) if isinstance(value, str) else value


class _MaskedRun:
    """One run, masked as far as needed."""

    def __init__(self, block: Chunk) -> None:
        self.mask: EventMask = machine_mask()
        self._revision = block.revision
        self._next = max(1, block.first_seq - _CONTEXT)
        self._learned = 0
        self._events: Iterator[Event] = iter(())
        self._end = 0
        """The last event that these give."""

    def goes_on_with(self, block: Chunk) -> bool:
        """Whether the block is after what was masked so far."""
        return self._revision == block.revision and self._next <= block.first_seq

    def events_of(self, block: Chunk, reader: IndexReader) -> Iterator[Event]:
        """The events of a block."""
        if block.last_seq > self._end:
            self._look(block, reader)
        for event in self._events:
            self._next = event.seq + 1
            if event.seq >= block.first_seq:
                yield replace(event, run_id=block.run_id)
            if event.seq >= block.last_seq:
                return

    def _look(self, block: Chunk, reader: IndexReader) -> None:
        """Learn what is new in the run, and continue masking."""
        query = "SELECT id, last_seq FROM runs WHERE run_id = ?"
        number, self._end = reader.index.execute(query, (block.run_id,)).fetchone()
        self.mask.learn(reader.events(number, self._learned + 1, self._end))
        self._learned = self._end
        unmasked = ((event, None) for event in reader.events(number, self._next, self._end))
        self._events = (event for event, _ in mask_events(unmasked, self.mask))

    def rest(self) -> None:
        """Start over with the next block."""
        self._events, self._end = iter(()), 0
