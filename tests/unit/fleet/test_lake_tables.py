"""The tables of the lake: their names, and that the page about them has every column."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from stenograph.fleet.lake.rows import EventRows
from stenograph.fleet.lake.tables import EVENTS, RUNS, schema_of

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "lake.md"
LINE = (
    b'{"seq":1,"run_id":"550e8400-e29b-41d4-a716-446655440000","type":"error","path":"","iteration":0,'
    b'"timestamp":"2026-11-17T09:00:00Z","payload":{"message":"broken"}}'
)


@pytest.mark.parametrize(("table", "columns"), [("events", EVENTS), ("runs", RUNS)])
def test_the_page_has_every_column(table: str, columns: dict[str, tuple[str, str]]) -> None:
    """In their order, each with its type and meaning."""
    section = PAGE.read_text().partition(f"\n## {table}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+) \|$", section, re.MULTILINE)
    assert [(name, kind, about) for name, kind, about in rows] == [(n, k, a) for n, (k, a) in columns.items()]


@pytest.mark.parametrize("table", ["events", "runs"])
def test_column_names_need_no_quotes(table: str) -> None:
    """A column called `at` would be a syntax error in DuckDB."""
    connection = duckdb.connect()
    try:
        connection.register("t", schema_of(table).empty_table())
        connection.execute(f"SELECT {', '.join(schema_of(table).names)} FROM t ORDER BY 1")
    finally:
        connection.close()


def test_rows_are_made_without_pandas() -> None:
    """Arrow would ask it for aware times; they are given as numbers."""
    code = f"""
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ImportError(name)

sys.meta_path.insert(0, Refusing())
from stenograph.fleet.lake.rows import EventRows
rows = EventRows("a", "g", {{}})
rows.add({LINE!r})
table = rows.take()
assert str(table.schema.field("time").type) == "timestamp[us, tz=UTC]", table.schema
assert table.num_rows == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_event_without_a_time_is_in_the_partition_of_the_one_before() -> None:
    """So a run stays together; one that never had a time is in that of 1970."""
    rows = EventRows("a", "g", {})
    timeless = LINE.replace(b"2026-11-17T09:00:00Z", b"")
    for line in (timeless, LINE, timeless):
        rows.add(line)
    table = rows.take()
    assert table["day"].to_pylist() == ["1970-01-01", "2026-11-17", "2026-11-17"]
    assert [moment is None for moment in table["time"].to_pylist()] == [True, False, True]
