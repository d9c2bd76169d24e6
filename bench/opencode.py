"""OpenCode: the rows of a database to canonical events."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.measure import Row, median_pairs
from stenograph.formats.registry import formats
from stenograph.sources import convert

GOLDEN = Path(__file__).parent.parent / "tests" / "golden" / "opencode"
CASES = ("cjk", "fail", "long-output", "slow", "subagent", "text", "tools")
GOAL, PARTS = 20_000, 40_000
LONG = 20
"""Golden sessions have about ten parts, real ones hundreds."""
TABLES = {
    "session": ("id", "parent_id", "directory", "title", "version", "agent", "model", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "message_id", "session_id", "time_created", "time_updated", "data"),
    "event": ("id", "aggregate_id", "seq", "type", "data"),
    "event_sequence": ("aggregate_id", "seq"),
    "project": ("id",),
}
INDEXES = """
CREATE INDEX of_session ON message (session_id, time_created, id);
CREATE INDEX of_message ON part (message_id, id);
CREATE INDEX by_session ON part (session_id);
"""


def rows(folder: Path) -> list[Row]:
    """Every measurement of OpenCode."""
    path = folder / "opencode.db"
    parts = make(path)
    spec = formats()["opencode"]
    on_processor: list[float] = []

    def ours() -> float:
        began, busy = time.perf_counter(), time.process_time()
        for _ in convert(path, spec, keep_raw=False):
            pass
        on_processor.append(parts / (time.process_time() - busy))
        return parts / (time.perf_counter() - began)

    def plain() -> float:
        began = time.perf_counter()
        with closing(sqlite3.connect(path)) as connection:
            for table in ("message", "part"):
                for (data,) in connection.execute(f"SELECT data FROM {table} ORDER BY id"):
                    json.loads(data)
        return parts / (time.perf_counter() - began)

    rate, limit, ratio = median_pairs(ours, plain, pairs=5)
    busy_rate = sorted(on_processor)[len(on_processor) // 2]
    size = f"{parts} parts, {path.stat().st_size / 1e6:.0f} MB"
    return [
        Row(
            f"opencode's database to events, without raw ({size})",
            f"≥ {GOAL} parts/s",
            f"{rate:.0f} parts/s, {busy_rate:.0f} by processor time, {ratio:.2f} x a loop of `json.loads`",
            f"sqlite3 and json.loads {limit:.0f} parts/s",
            busy_rate >= GOAL,
        )
    ]


def make(path: Path) -> int:
    """A database whose sessions are as long as real ones: golden ones over and over; how many parts it has."""
    once = [json.loads(line) for name in CASES for line in (GOLDEN / name / "input.jsonl").read_bytes().splitlines()]
    once = [row for row in once if row["table"] != "event"]
    in_one = sum(row["table"] == "part" for row in once)
    copies = 1 + PARTS // in_one
    with closing(sqlite3.connect(path)) as connection, connection:
        for name, (key, *columns) in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({', '.join([f'{key} TEXT PRIMARY KEY', *columns])})")
        for row in (row for number in range(copies) for row in _renamed(once, number)):
            columns = TABLES[row["table"]]
            connection.execute(
                f"INSERT OR IGNORE INTO {row['table']} VALUES ({', '.join('?' * len(columns))})",
                [json.dumps(row[name]) if isinstance(row.get(name), dict) else row.get(name) for name in columns],
            )
        connection.executescript(INDEXES)
    return copies * in_one


def _renamed(once: list[dict[str, Any]], number: int) -> Iterator[dict[str, Any]]:
    """The rows under ids of their own; a session goes on for as many copies as make it a long one."""
    marks = {"message": f"x{number}", "part": f"x{number}", "session": f"x{number // LONG}"}
    for row in once:
        names = {"id": row["table"], "parent_id": "session", "session_id": "session", "message_id": "message"}
        yield {**row, **{name: f"{row[name]}{marks[table]}" for name, table in names.items() if row.get(name)}}
