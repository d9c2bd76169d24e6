"""Events and runs without secrets, block by block, for who sends no more than that.

A run is looked at whole before anything of it is sent, so what is secret in one event is masked in all of them; and it
is masked from its beginning on, so a secret that a stream cut in two is found where blocks meet.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from stenograph.archive.index.block import Block, events_of, line_of
from stenograph.archive.reader import IndexReader
from stenograph.model.event import Event
from stenograph.redact.stream import is_chunk
from stenograph.runs.mask import RunMask

_RUNS_AT_HAND = 64
_STREAM_ENDS = 600.0
"""Seconds after which a stream that says no more is taken for one that has ended."""
_PLAIN = (
    "run_id",
    "parent_run_id",
    "forked_from",
    "agent",
    "format",
    "started_at",
    "ended_at",
    "status",
)
"""Columns of `runs` that say which run it is: programs join by them."""


class MaskedRuns:
    """The runs of an index, masked."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self._runs: dict[str, _MaskedRun] = {}

    def ready(self, blocks: list[Block]) -> list[Block]:
        """Those of some blocks that may be sent: nothing behind a stream that still goes on, for half a secret in it
        would not be known as one."""
        for number, block in enumerate(blocks):
            if self._is_in_stream(block):
                return blocks[:number]
        return blocks

    def _is_in_stream(self, block: Block) -> bool:
        query = "SELECT last_seq, ended_ms FROM runs WHERE run_id = ?"
        last_seq, ended_ms = self._reader.index.execute(query, (block.run_id,)).fetchone()
        if block.last_seq != last_seq or ended_ms is None or ended_ms < (time.time() - _STREAM_ENDS) * 1000:
            return False
        return is_chunk(events_of(block.data)[-1])

    def lines(self, block: Block) -> list[bytes]:
        """The events of a block, masked."""
        run = self._runs.pop(block.run_id, None)
        if run is None or run.revision != block.revision or not run.reaches(block):
            run = _MaskedRun(self._reader, block)
        self._runs[block.run_id] = run
        while len(self._runs) > _RUNS_AT_HAND:
            self._runs.pop(next(iter(self._runs)))
        return [line_of(event) for event in run.events_of(block)]

    def row(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row of `runs`, masked."""
        run = self._runs.get(row["run_id"])
        mask = RunMask() if run is None else run.mask
        names = [name for name in row if name not in (*_PLAIN, "evidence")]
        (values,) = mask.rows(names, [[row[name] for name in names]])
        proof = _masked(msgspec.json.decode(row["evidence"]), mask)
        return {**row, **dict(zip(names, values, strict=True)), "evidence": msgspec.json.encode(proof).decode()}


def _masked(value: Any, mask: RunMask) -> Any:
    """Every text in what was JSON, masked."""
    if isinstance(value, dict):
        return {key: _masked(each, mask) for key, each in value.items()}
    if isinstance(value, list):
        return [_masked(each, mask) for each in value]
    return mask.text(value) if isinstance(value, str) else value


class _MaskedRun:
    """One run, masked from its beginning as far as was asked for."""

    def __init__(self, reader: IndexReader, block: Block) -> None:
        number = reader.index.execute("SELECT id, last_seq FROM runs WHERE run_id = ?", (block.run_id,)).fetchone()
        self._last: int = number[1]
        self.revision = block.revision
        self.mask = RunMask()
        self.mask.learn(lambda: reader.events(number[0]))
        self._events: Iterator[Event] = self.mask.events(reader.events(number[0]))
        self._next = 1

    def reaches(self, block: Block) -> bool:
        """Whether the block is behind what was masked so far, and before the end of the run as it was then."""
        return self._next <= block.first_seq and block.last_seq <= self._last

    def events_of(self, block: Block) -> Iterator[Event]:
        for event in self._events:
            self._next = event.seq + 1
            if event.seq >= block.first_seq:
                yield replace(event, run_id=block.run_id)
            if event.seq >= block.last_seq:
                return
