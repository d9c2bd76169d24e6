"""Parquet tables, read by pyarrow (`stenograph[parquet]`), which is loaded when a file needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from stenograph.errors import SourceError
from stenograph.formats.layout import Contents, State

MAGIC = b"PAR1"


@contextmanager
def opened_table(path: Path) -> Iterator[Contents]:
    """The rows of a table. Raises `SourceError` for a table that cannot be read, and without pyarrow."""
    library = _pyarrow(path)
    try:
        with library.ParquetFile(str(path)) as table:
            yield _Table(table)
    except SourceError:
        raise
    except (OSError, ValueError) as error:  # pyarrow's own errors are these, too
        raise SourceError(f"cannot read {path}: {error}; check that the file is whole", str(path)) from error


def head_of_table(path: Path) -> list[Any]:
    """A record by which a table's program is recognized: with the names of its columns."""
    with opened_table(path) as table:
        assert isinstance(table, _Table)
        return [{"container": "parquet", "columns": table.columns}]


class _Table:
    """A table as contents with one unnamed value: its rows."""

    def __init__(self, table: Any) -> None:
        self.names: tuple[str, ...] = ("",)
        self.columns = [str(name) for name in table.schema_arrow.names]
        self._table = table

    def read(self, name: str) -> Any:
        return [row for batch in self._table.iter_batches() for row in batch.to_pylist()]

    def state(self, name: str) -> State | None:
        return None


def _pyarrow(path: Path) -> Any:
    try:
        return import_module("pyarrow.parquet")
    except ImportError:
        # Not `MissingExtra`: a folder may hold such a file among others, which are still read.
        reason = "pyarrow is not installed; in a checkout, run: pip install '.[parquet]'"
        raise SourceError(f"cannot read {path}: {reason}", str(path)) from None
