"""The lake: loading, asking 5 million events of many machines, and building on engines. All in processor time."""

from __future__ import annotations

import importlib.util
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.measure import Row, Spent, in_child, median_spent, spent_by
from bench.query import CALLS, SESSIONS, make_index
from bench.tree import make_tree
from stenograph.archive.index.tables import QUARTER_HOUR
from stenograph.fleet.store.sent_events import SUMS

DAYS = 32
"""Copies of the sample, each on a day and a machine of its own."""
LOADED_PER_SECOND = 15_000
_LOAD = """
import sys, time
from stenograph.archive.store.home import home_of
from stenograph.fleet.lake.load import load
from stenograph.fleet.lake.place import lake_library
from stenograph.fleet.store.objects import open_store
from stenograph.fleet.store.push import push
import duckdb, deltalake, pyarrow
store = open_store(sys.argv[2])
push(home_of(sys.argv[1]), store)
began = time.process_time()
loaded = load(store)
print(loaded.events / (time.process_time() - began))
"""
_IMPORTS = (
    "import duckdb, numpy, pyarrow, deltalake, stenograph.cli.program, stenograph.cli.commands.{},"
    " stenograph.fleet.lake.stored_run, stenograph.fleet.lake.scratch, stenograph.fleet.lake.searching"
)
"""What a command loads before it asks."""
_BUILD = """
import sys
from stenograph.fleet.lake import build as building, engines
if __name__ == "__main__":
    if sys.argv[3] == "here":
        building.mapped = lambda engine, chunks, **_: map(engines.run_chunk, chunks)
    built = building.build(sys.argv[1], sys.argv[2], on=sys.argv[3], workers=2, chunk_bytes=8 << 20)
    print(built.bytes / 1e6)
"""


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    home, url = folder / "lake-archive", f"file://{folder}/lake-store"
    make_index(home, SESSIONS, CALLS)
    (home / "kept").mkdir(exist_ok=True)
    rate = float(in_child(_LOAD, str(home), url))
    count = make_large(Path(folder / "lake-store"), url)
    asked = [*_asked(url, count)]
    shutil.rmtree(folder / "lake-store")
    shutil.rmtree(home)
    loaded = Row(
        "events loaded per second and core",
        f"≥ {LOADED_PER_SECOND:,}",
        f"{rate:,.0f}",
        "",
        rate >= LOADED_PER_SECOND,
    )
    return [loaded, *asked, *_built(folder)]


def make_large(store: Path, url: str) -> int:
    """Make the one archive of a lake into those of many machines, each on another day; how many events there are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from stenograph.fleet.lake.place import append, make_table
    from stenograph.fleet.lake.reading import Lake

    lake = Lake(url)
    events = lake.events.to_pyarrow_table()
    known = lake.runs.to_pyarrow_table()
    shutil.rmtree(store / "lake")
    begin = pc.min(pc.cast(events["time"], pa.int64())).as_py()
    length = pc.max(pc.cast(events["time"], pa.int64())).as_py() - begin + 1

    def put(table: Any, name: str, values: Any) -> Any:
        return table.set_column(table.schema.get_field_index(name), name, values)

    for number in range(DAYS):
        first = int(datetime(2026, 6, 1, tzinfo=UTC).timestamp() * 1e6) + number * 86_400_000_000
        day = datetime.fromtimestamp(first / 1e6, UTC).date().isoformat()
        passed = pc.divide(pc.cast(pc.subtract(pc.cast(events["time"], pa.int64()), begin), pa.float64()), length)
        moved = pc.add(pc.cast(pc.multiply(passed, 86_000_000_000.0), pa.int64(), safe=False), first)
        copy = put(events, "run_id", pc.binary_replace_slice(events["run_id"], 32, 36, f"{number:04x}"))
        copy = put(copy, "time", pc.cast(moved, events.schema.field("time").type))
        copy = put(copy, "day", pa.array([day] * len(events)))
        copy = put(copy, "archive", pa.array([f"machine-{number}"] * len(events)))
        for key in ("usage_key", "report_key"):
            copy = put(copy, key, pc.bit_wise_xor(events[key], pa.scalar((number + 1) << 50, pa.int64())))
        append(make_table(url, "events"), copy.sort_by([("run_id", "ascending"), ("seq", "ascending")]), url)
        runs = [_moved(run, number, first // 1000, day) for run in known.to_pylist()]
        append(make_table(url, "runs"), pa.Table.from_pylist(runs, known.schema), url)
    return len(events) * DAYS


def _moved(run: dict[str, Any], number: int, first_ms: int, day: str) -> dict[str, Any]:
    return {
        **run,
        "archive": f"machine-{number}",
        "host": f"machine-{number}",
        "run_id": f"{run['run_id'][:32]}{number:04x}",
        "started_ms": first_ms,
        "ended_ms": first_ms + 86_000_000,
        "started_at": f"{day}T00:00:00Z",
        "ended_at": f"{day}T23:53:20Z",
        **{name: _sums_on(run[name], first_ms // QUARTER_HOUR) for name in SUMS},
    }


def _sums_on(sums: str, begin: int) -> str:
    """What a run added up, from another quarter of an hour on."""
    rows = json.loads(sums)
    first = min((row[0] for row in rows), default=0)
    return json.dumps([[begin + row[0] - first, *row[1:]] for row in rows])


def _asked(url: str, count: int) -> list[Row]:
    run = "00000005-0000-4000-8000-00000000000a"
    day = ("--since", "2026-06-11T00:00:00+00:00", "--until", "2026-06-12T00:00:00+00:00")
    jobs = (
        ("`ls --store` of a day", 0.3, ("ls", *day)),
        ("`show --store` of a run", 0.2, ("show", run, "--json")),
        ("`stats --store --by model` of everything", 1.0, ("stats", "--by", "model")),
        ("`search --store` of a day", 1.0, ("search", "tarfile", *day)),
    )
    found = []
    for name, most, words in jobs:
        imports = median_spent(lambda words=words: spent_by("-c", _IMPORTS.format(words[0])), 3)  # type: ignore[misc]
        spent = median_spent(lambda words=words: spent_by("-m", "stenograph", *words, "--store", url), 3)  # type: ignore[misc]
        own = max(0.0, spent.processor - imports.processor)
        measured = f"{own:.2f} s; {spent.processor:.2f} s with imports, {spent.seconds:.1f} s by the clock"
        job = f"{name}, {count / 1e6:.1f} M events, {DAYS} machines"
        found.append(Row(job, f"< {most} s beyond imports", measured, "", own < most))
    return found


def _built(folder: Path) -> list[Row]:
    """What a build costs on each engine that is installed, beside what it costs in one process; start-up aside."""
    home = folder / "lake-transcripts"
    make_tree(home)
    small = folder / "lake-small"
    (small / "project").mkdir(parents=True)
    first = next(home.rglob("*.jsonl"))
    shutil.copy(first, small / "project" / first.name)

    def cost(engine: str, source: Path) -> Spent:
        target = folder / "lake-built"
        shutil.rmtree(target, ignore_errors=True)
        return spent_by("-c", _BUILD, f"file://{source}", f"file://{target}", engine)

    size = sum(path.stat().st_size for path in home.rglob("*.jsonl")) / 1e6
    begun, ended = cost("here", small), cost("here", home)
    found = []
    for engine, module in (("processes", "os"), ("dask", "distributed"), ("ray", "ray"), ("spark", "pyspark")):
        if importlib.util.find_spec(module) is None:
            continue
        few, many = cost(engine, small), cost(engine, home)
        if engine in ("ray", "spark"):  # their workers' processor time is not counted: two cores by the clock, if quiet
            took, alone, how = (
                2 * (many.seconds - few.seconds),
                ended.seconds - begun.seconds,
                "two quiet cores by the clock",
            )
        else:
            took, alone, how = many.processor - few.processor, ended.processor - begun.processor, "by processor time"
        measured = f"{size / took:.1f} of {size / alone:.1f} MB/s per core, {how}"
        job = f"`lake build --on {engine}` beyond start-up"
        found.append(Row(job, "≥ 50 % of in-process", measured, "", alone / took >= 0.5))
    shutil.rmtree(home)
    shutil.rmtree(folder / "lake-built", ignore_errors=True)
    return found
