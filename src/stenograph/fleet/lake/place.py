"""Where the tables of a lake are: two Delta Lake tables below the URL of a store, and their conditions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stenograph.errors import MissingExtra, SourceError, StoreError
from stenograph.fleet.lake.tables import schema_of

if TYPE_CHECKING:
    import pyarrow
    from deltalake import DeltaTable, WriterProperties

FOLDER = "lake"
_ROW_GROUP = 131_072
"""Rows: smaller groups take more room, larger ones more memory."""
_LONGEST_MESSAGE = 300
_MADE_WITH = "stenograph.columns"
"""A property of a table: with how many columns it was made."""


def table_url(url: str, table: str) -> str:
    """The URL of a table (`events` or `runs`) of a store."""
    return f"{url.rstrip('/')}/{FOLDER}/{table}"


def open_table(url: str, table: str) -> DeltaTable | None:
    """The current table; None if there is none yet. Raises `SourceError`."""
    deltalake = lake_library()
    place = table_url(url, table)
    try:
        found: DeltaTable = deltalake.DeltaTable(place)
    except deltalake.exceptions.TableNotFoundError:
        return None
    except deltalake.exceptions.DeltaError as error:
        raise SourceError(f"cannot read the table {place}: {first_line(error)}", url) from error
    except OSError as error:
        raise SourceError(f"cannot read the table {place}: {first_line(error)}", url) from error
    return found


def make_table(url: str, table: str, *, by_day: bool = True) -> DeltaTable:
    """The current table, created if needed: `events` by day, unless said otherwise. Raises `StoreError`."""
    deltalake = lake_library()
    place = table_url(url, table)
    partitions = ["day"] if table == "events" and by_day else None
    with writing(url):
        found: DeltaTable = deltalake.DeltaTable.create(
            place,
            schema=schema_of(table),
            mode="ignore",
            partition_by=partitions,
            configuration={_MADE_WITH: str(len(schema_of(table)))},
            raise_if_key_not_exists=False,
        )
    return found


def is_uniform(table: DeltaTable) -> bool:
    """Whether no column was added since the table was made, so that all of its files have the same ones."""
    return table.metadata().configuration.get(_MADE_WITH) == str(len(table.schema().fields))


@contextmanager
def writing(url: str) -> Iterator[None]:
    """Raise what the library refuses as one sentence; a conflict with another commit is raised unchanged."""
    deltalake = lake_library()
    try:
        yield
    except deltalake.exceptions.CommitFailedError:
        raise
    except (deltalake.exceptions.DeltaError, OSError) as error:
        raise StoreError(f"cannot write the lake of {url}: {first_line(error)}", url) from error


def append(table: DeltaTable, rows: pyarrow.Table, url: str, commit: Any = None) -> None:
    """Add rows to a table by one commit on the given version; missing columns are added to it."""
    deltalake = lake_library()
    with writing(url):
        deltalake.write_deltalake(
            table,
            rows,
            mode="append",
            schema_mode="merge",
            writer_properties=how_written(),
            commit_properties=commit,
        )


def how_written() -> WriterProperties:
    """How Parquet files are written."""
    from deltalake import WriterProperties

    return WriterProperties(compression="ZSTD", compression_level=3, max_row_group_size=_ROW_GROUP)


def lake_library() -> Any:
    """The library of Delta Lake. Raises `MissingExtra`."""
    try:
        import deltalake
        import deltalake.exceptions
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtra(error.name or "deltalake", "lake") from error
    return deltalake


def first_line(error: Exception) -> str:
    """What a library says, on one line."""
    return str(error).strip().partition("\n")[0][:_LONGEST_MESSAGE]
