"""The engines that run a build: processes of this machine, or an engine of the user's.

Each returns the parts of all chunks in any order, and retries a chunk whose worker died. Only keys and counts go
through it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from stenograph.errors import InvalidTarget, StoreError
from stenograph.fleet.lake.chunk import Part, chunk_job

ENGINES = ("processes", "dask", "ray", "spark")
_MOST_DEATHS = 5
"""How often one chunk is tried again after its worker died."""


class Chunk(Struct, frozen=True, kw_only=True):
    """The arguments of one call."""

    name: str
    keys: tuple[str, ...]
    source: str
    target: str
    redact: bool
    is_whole: bool


def run_chunk(chunk: Chunk) -> Part:
    """The call itself."""
    return chunk_job(
        chunk.keys, chunk.source, chunk.target, redact=chunk.redact, name=chunk.name, is_whole=chunk.is_whole
    )


def mapped(engine: str, chunks: Sequence[Chunk], *, workers: int | None, address: str | None) -> Iterator[Part]:
    """The parts of the chunks, in any order. Raises `InvalidTarget` for an engine that is not installed."""
    engines: dict[str, Callable[[Sequence[Chunk], int | None, str | None], Iterator[Part]]] = {
        "processes": _processes,
        "dask": _dask,
        "ray": _ray,
        "spark": _spark,
    }
    return engines[engine](chunks, workers, address)


def _processes(chunks: Sequence[Chunk], workers: int | None, address: str | None) -> Iterator[Part]:
    """A pool of processes; if a dead worker broke it, a new one does what is left."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool

    left = {chunk.name: chunk for chunk in chunks}
    deaths = 0
    while left:
        before = len(left)
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers or os.cpu_count() or 1, mp_context=context) as pool:
            try:
                waiting = {pool.submit(run_chunk, chunk): chunk.name for chunk in left.values()}
                for done in as_completed(waiting):
                    part = done.result()
                    del left[waiting[done]]
                    yield part
            except BrokenProcessPool as error:
                deaths = deaths + 1 if len(left) == before else 0
                if deaths > _MOST_DEATHS:
                    raise StoreError(
                        f"workers die before any chunk is done ({len(left)} are left); give them more memory, or "
                        "use fewer (--workers)"
                    ) from error
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _dask(chunks: Sequence[Chunk], workers: int | None, address: str | None) -> Iterator[Part]:
    try:
        import distributed
    except ImportError as error:
        raise _missing("dask", "dask[distributed]") from error
    options: dict[str, Any] = {"n_workers": workers, "threads_per_worker": 1} if address is None else {}
    library: Any = distributed  # which has no types
    with library.Client(address, dashboard_address=None, **options) as client:
        futures = client.map(run_chunk, list(chunks), pure=False, retries=_MOST_DEATHS)
        for future in library.as_completed(futures):
            yield future.result()


def _ray(chunks: Sequence[Chunk], workers: int | None, address: str | None) -> Iterator[Part]:
    try:
        import ray
    except ImportError as error:
        raise _missing("ray", "ray") from error
    ray.init(address=address, num_cpus=workers if address is None else None, include_dashboard=False)
    try:
        task = ray.remote(max_retries=_MOST_DEATHS)(run_chunk)
        waiting = [task.remote(chunk) for chunk in chunks]
        while waiting:
            done, waiting = ray.wait(waiting, num_returns=1)
            yield from ray.get(done)
    finally:
        ray.shutdown()


def _spark(chunks: Sequence[Chunk], workers: int | None, address: str | None) -> Iterator[Part]:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise _missing("spark", "pyspark") from error
    if address is None:  # workers on this machine run our Python
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    master = address or f"local[{workers or '*'},{_MOST_DEATHS}]"
    session = SparkSession.builder.master(master).appName("steno lake build").getOrCreate()
    try:
        spread = session.sparkContext.parallelize(list(chunks), len(chunks))
        yield from spread.map(run_chunk).collect()  # an iterator would do one chunk after the other
    finally:
        session.stop()


def _missing(engine: str, package: str) -> InvalidTarget:
    return InvalidTarget(f"{engine} is not installed here; run: pip install '{package}', or use --on processes")
