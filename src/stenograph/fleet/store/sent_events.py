"""Sends numbered events to a store: the blocks of an index, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from stenograph.archive.index.chunk import Chunk, packed
from stenograph.archive.index.tables import LONG_INPUT, SCHEMA
from stenograph.archive.reader import IndexReader
from stenograph.clock import utc_now
from stenograph.fleet.store.keys import (
    Generation,
    events_folder,
    generation_of,
    generations_folder,
    piece_key,
    start_of,
)
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.pieces import Forked, Raced
from stenograph.fleet.store.segment import SegmentHeader, packed_segment, read_segment, sent_block
from stenograph.model.payload import TOKEN_COUNTS
from stenograph.version import __version__

if TYPE_CHECKING:
    from stenograph.fleet.store.masked import MaskedRuns

SEGMENT_BYTES = 1 << 20
"""A segment is closed when its blocks have this many bytes."""
_OURS_ALONE = ("id", "last_id")
"""Columns of `runs` that have a meaning only in this index."""

INPUT_STEP = 1000
"""Tokens: long model calls are added up by their input in such steps, because prices change at multiples of it."""
_TERMS = "quarter, model, scope, speed, service_tier, has_cost"
_SUMMED = (*TOKEN_COUNTS, "nanodollars", "calls")
_ADDED = ", ".join(f"sum({name})" for name in _SUMMED)
SUMS = {
    "usage_sums": f"SELECT {_TERMS}, {', '.join(_SUMMED)} FROM usage_sums WHERE run = ?",
    "long_sums": f"""
        SELECT {_TERMS}, (call_input + {INPUT_STEP - 1}) / {INPUT_STEP} AS steps, {_ADDED} FROM usage_told
        WHERE run = ? AND scope = 'call' AND call_input > {LONG_INPUT} GROUP BY {_TERMS}, steps
    """,
    "calls_sums": "SELECT quarter, name, calls, answered, failed, timed, duration_us FROM calls_sums WHERE run = ?",
}
"""What the index has added up of a run, by quarters of an hour: model calls, the long ones among them, tool calls."""
_RUNS = """
    WITH wanted (run) AS (SELECT id FROM runs WHERE run_id IN (SELECT value FROM json_each(?)))
    SELECT *, (SELECT count(*) FROM sources WHERE run = runs.id AND source <> 'main') AS subagents,
      (SELECT coalesce(sum(timed), 0) FROM calls_sums WHERE run = runs.id) AS timed_calls,
      (SELECT coalesce(sum(duration_us), 0) FROM calls_sums WHERE run = runs.id) AS tool_us
    FROM runs WHERE id IN (
        SELECT run FROM wanted
        UNION SELECT other.run FROM usage_shared AS mine JOIN usage_shared AS other USING (key) WHERE mine.run IN wanted
        UNION SELECT run FROM calls WHERE copy_of IN wanted)
    ORDER BY run_id
"""
"""Copied history counts where it came from, so one run may change the sums of another."""


class Reached(NamedTuple):
    """How far the events of an archive are in a store."""

    generation: Generation
    following: int
    """The first block that is not there yet."""


class SentEvents:
    """The events of an archive: which of them the store has in the newest generation, and which not."""

    def __init__(
        self,
        reader: IndexReader,
        archive: str,
        store: Objects,
        *,
        masked: MaskedRuns | None = None,
        reached: Reached | None = None,
    ) -> None:
        """With `masked`, their secrets are masked. `reached` is how far this process sent them before; where that is
        not known, the store is asked.

        Raises `Forked` where another machine numbers events under this archive's id.
        """
        self._reader = reader
        self._archive = archive
        self._store = store
        if reached is not None and reached.generation.index_name != reader.index_name:
            reached = None
        generation = (
            reached.generation if reached else _generation(store, archive, reader.index_name, masked is not None)
        )
        self.generation = generation
        self._folder = events_folder(archive, generation)
        self._masked = masked
        self._next = reached.following if reached else self._resume()

    @property
    def reached(self) -> Reached:
        """How far they are sent."""
        return Reached(self.generation, self._next)

    def _resume(self) -> int:
        """The number of the first block that the store lacks."""
        starts = [start for entry in self._store.entries(self._folder) if (start := start_of(entry.key)) is not None]
        if not starts:
            return 1
        key = piece_key(self._folder, max(starts))
        header = read_segment(self._store.get(key), key).header
        with self._reader.snapshot():
            ours = {block.id: sent_block(block, 0) for block in self._reader.chunks(header.first, SEGMENT_BYTES)}
            last = self._reader.last_chunk()
        for block in header.blocks:
            mine = ours.get(block.id)
            if mine is not None and _place(mine) != _place(block):
                raise Forked(f"block {block.id} has events of another run")
        if header.last > last:
            raise Forked(f"there are {header.last} blocks of events, and {last} here")
        return header.last + 1

    def behind(self) -> int:
        """How many bytes of events the store lacks, compressed."""
        query = "SELECT coalesce(sum(length(lines)), 0) FROM blocks WHERE id >= ?"
        total: int = self._reader.index.execute(query, (self._next,)).fetchone()[0]
        return total

    def segments(self) -> Iterator[tuple[str, bytes, int]]:
        """The keys and bytes of what the store lacks, and how many events each holds."""
        while True:
            with self._reader.snapshot():
                if self._reader.index_name != self.generation.index_name:
                    raise Raced  # the index was rebuilt meanwhile, and this is another generation
                blocks = self._reader.chunks(self._next, SEGMENT_BYTES)
                if self._masked is not None:
                    blocks = self._mask(self._masked, blocks)
                goal = self._reader.last_chunk()
                runs = self._runs({block.run_id for block in blocks})
            if not blocks:
                return
            yield self._segment(blocks, goal, runs)
            self._next = blocks[-1].id + 1

    def _mask(self, masked: MaskedRuns, blocks: list[Chunk]) -> list[Chunk]:
        reader = self._reader
        return [replace(block, data=packed(masked.lines(reader, block))) for block in masked.ready(reader, blocks)]

    def _segment(self, blocks: list[Chunk], goal: int, runs: list[dict[str, Any]]) -> tuple[str, bytes, int]:
        sent = tuple(sent_block(block) for block in blocks)
        header = SegmentHeader(
            archive=self._archive,
            generation=self.generation.name,
            program=__version__,
            schema=SCHEMA,
            first=self._next,
            last=blocks[-1].id,
            goal=goal,
            made_at=utc_now(),
            masked=self.generation.is_masked,
            blocks=sent,
            runs=tuple(runs),
        )
        data = packed_segment(header, [block.data for block in blocks])
        return piece_key(self._folder, self._next), data, sum(block.lines for block in sent)

    def _runs(self, run_ids: set[str]) -> list[dict[str, Any]]:
        """The rows of these runs, and of those whose sums depend on them, by column; with their sums."""
        index = self._reader.index
        rows = index.execute(_RUNS, (msgspec.json.encode(sorted(run_ids)).decode(),))
        names = [column[0] for column in rows.description]
        found = []
        for row in rows.fetchall():
            said = dict(zip(names, row, strict=True))
            sums = {name: index.execute(query, (said["id"],)).fetchall() for name, query in SUMS.items()}
            found.append({name: value for name, value in said.items() if name not in _OURS_ALONE} | sums)
        return found if self._masked is None else [self._masked.row(row) for row in found]


def _generation(store: Objects, archive: str, index: str, is_masked: bool) -> Generation:
    """The generation to continue, or a new one for a rebuilt index.

    Raises `Forked` where a newer one is not of our index although ours is there: so two machines send at the same time.
    """
    found = generations(store, archive)
    newest = max(found, default=None)
    if newest is not None and newest.index_name == index and newest.is_masked == is_masked:
        return newest
    if newest is not None and newest.index_name != index and any(each.index_name == index for each in found):
        raise Forked("another machine made the newest events")
    return Generation(1 if newest is None else newest.number + 1, index, is_masked)


def generations(store: Objects, archive: str) -> list[Generation]:
    """The generations of an archive's events, the one that counts last."""
    return sorted(each for name in store.folders(generations_folder(archive)) if (each := generation_of(name)))


def _place(block: Any) -> tuple[str, int, int, int]:
    return block.run_id, block.revision, block.first_seq, block.last_seq
