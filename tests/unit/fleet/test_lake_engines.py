"""The pool of processes of `steno lake build`: a worker may die at any moment."""

from __future__ import annotations

import concurrent.futures
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from stenograph.errors import StoreError
from stenograph.fleet.lake import engines
from stenograph.fleet.lake.engines import Chunk, mapped

CHUNKS = [
    Chunk(name=name, keys=(name,), source="file:///in", target="file:///out", redact=False, is_whole=True)
    for name in ("a", "b", "c")
]


class Pools:
    """Makes pools of threads, of which the first ones break when they are given their second chunk."""

    def __init__(self, broken: int) -> None:
        self.made = 0
        self.broken = broken

    def __call__(self, workers: int, mp_context: object) -> ThreadPoolExecutor:
        self.made += 1
        return BreakingPool(workers) if self.made <= self.broken else ThreadPoolExecutor(workers)


class BreakingPool(ThreadPoolExecutor):
    """A pool one of whose workers died while chunks were still being given to it."""

    given = 0

    def submit(self, *arguments: Any, **more: Any) -> Future[Any]:
        self.given += 1
        if self.given > 1:
            raise BrokenProcessPool
        return super().submit(*arguments, **more)


@pytest.fixture
def pools(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Pools:
    """What makes the pools of a build; a chunk is its name."""
    made = Pools(request.param)
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", made)
    monkeypatch.setattr(engines, "run_chunk", lambda chunk: chunk.name)
    return made


@pytest.mark.parametrize("pools", [0, 1, 3], indirect=True)
def test_a_worker_that_dies_while_chunks_are_given_out_is_replaced(pools: Pools) -> None:
    """The next pool does what is left; each chunk is done once for the caller."""
    assert sorted(map(str, mapped("processes", CHUNKS, workers=2, address=None))) == ["a", "b", "c"]
    assert pools.made == pools.broken + 1


@pytest.mark.parametrize("pools", [100], indirect=True)
def test_workers_that_always_die_end_the_build(pools: Pools) -> None:
    """With one line that says what to do."""
    with pytest.raises(StoreError, match="give them more memory, or use fewer"):
        list(mapped("processes", CHUNKS, workers=2, address=None))
