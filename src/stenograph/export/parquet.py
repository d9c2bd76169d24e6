"""Parquet: the views of `steno sql` (runs, events, messages …) as tables for pandas, DuckDB or Spark.

The run is indexed as the archive indexes it, so a table has the rows and columns of the view of its name. A column has
the same type in every file, so files of many runs are read as one table.
"""

from __future__ import annotations

import io
import sqlite3
import tempfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from stenograph.archive.reader import IndexReader
from stenograph.errors import MissingExtra
from stenograph.export.exporter import Exporter, Piece, SideFile
from stenograph.fold.conversation import block_kind, kind_of
from stenograph.fold.exchange import Notice, Turn, exchange
from stenograph.fold.losses import LossReport
from stenograph.model.block import AttachmentBlock
from stenograph.model.event import Event
from stenograph.query.archive_database import views_of
from stenograph.query.bundle_index import index_run
from stenograph.query.prices import load_prices
from stenograph.query.views import VIEWS

MAIN = "events"
"""The view in the main file; the others are files beside it."""
FLOATS = frozenset({"duration_s", "duration_ms", "cost_usd", "reported_cost_usd"})
INTEGERS = frozenset(
    """
    seq result_seq parts turns tools errors events messages tool_calls failed_calls open_calls subagents revision
    added removed exit_code is_error cost_is_partial copied_calls copied_tokens input_tokens
    cache_read_input_tokens cache_creation_input_tokens cache_creation_1h_input_tokens output_tokens
    reasoning_output_tokens
    """.split()  # noqa: SIM905  # easier to read than a list
)
"""Columns that hold whole numbers; those in neither set are texts."""


def write(events: Iterable[Event], report: LossReport, *, views: str) -> Iterator[Piece]:
    """The view `events`; with `views="all"` the other views as files beside it."""
    left = list(events)
    _account(left, report)
    run_id = left[0].run_id if left else ""
    with tempfile.TemporaryDirectory(prefix="stenograph-") as name:
        index_run(left, run_id, Path(name))
        with IndexReader(Path(name)) as reader, views_of(reader, load_prices(None)) as connection:
            for view in VIEWS:
                if view.name == MAIN:
                    yield _table(connection, view.name)
                elif views == "all":
                    yield SideFile(f"{run_id or 'run'}.{view.name}.parquet", _table(connection, view.name))


def _account(events: list[Event], report: LossReport) -> None:
    """Count what the tables hold: everything but the agent's own lines."""
    run = exchange(events)
    lines, first = run.lines
    report.drop("raw lines", first, lines)
    report.carry("stream chunks", run.chunks[0])
    report.carry("usage", len(run.loose_usage))
    report.carry("subagents", len(run.subagents))
    for thread in run.threads:
        for item in thread.items:
            if isinstance(item, Notice):
                report.carry(kind_of(item))
            else:
                _account_turn(item, report)


def _account_turn(turn: Turn, report: LossReport) -> None:
    report.carry(f"{turn.role} messages", int(turn.records > 0))
    report.carry("system prompts", int(turn.system_prompt is not None))
    report.carry("usage", len(turn.usages))
    of_results = [block for call in turn.calls for block in call.blocks if isinstance(block, AttachmentBlock)]
    blocks = [*turn.blocks, *of_results]
    for kind in filter(None, map(block_kind, blocks)):
        report.carry(kind)
    report.carry("calls", len(turn.calls))
    report.carry("results", sum(call.has_result for call in turn.calls))


def _table(connection: sqlite3.Connection, view: str) -> bytes:
    cursor = connection.execute(f"SELECT * FROM {view}")
    names = [each[0] for each in cursor.description]
    columns: list[list[Any]] = [list(each) for each in zip(*cursor, strict=True)] or [[] for _ in names]
    return parquet_bytes(dict(zip(names, columns, strict=True)), INTEGERS, FLOATS)


def parquet_bytes(columns: dict[str, list[Any]], integers: Collection[str], floats: Collection[str]) -> bytes:
    """A table as a Parquet file; columns in neither collection are texts. Raises `MissingExtra` without pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise MissingExtra("pyarrow", "parquet") from error
    types = dict.fromkeys(columns, pyarrow.string())
    types |= dict.fromkeys(integers, pyarrow.int64()) | dict.fromkeys(floats, pyarrow.float64())
    texts = columns.keys() - set(integers) - set(floats)
    arrays = {
        name: pyarrow.array(
            [_text(each) if name in texts and each is not None else each for each in values], types[name]
        )
        for name, values in columns.items()
    }
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(arrays), buffer, compression="zstd")
    return buffer.getvalue()


def _text(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.encode("utf-8", "replace").decode()


EXPORTER = Exporter(
    name="parquet",
    what="the views of steno sql as tables: pandas, Polars, DuckDB, Spark (needs stenograph[parquet])",
    suffix=".parquet",
    write=write,
    options={"views": ("all", "events")},
)
