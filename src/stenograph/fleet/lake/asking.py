"""Read-only SQL over a lake, with limits."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stenograph.errors import InvalidQuery
from stenograph.fleet.lake.reading import Lake
from stenograph.query.sql import Limits

if TYPE_CHECKING:
    import duckdb

    from stenograph.fold.prices import Prices

_AT_ONCE = 1000
_ADDS_UP = re.compile(r"\b(runs|usage)\b", re.IGNORECASE)
"""Views that add up tokens."""


class Answer:
    """The columns of a result, and its rows: iterate it once."""

    def __init__(self, columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> None:
        self.columns = columns
        self._rows = rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._rows


def ask(lake: Lake, statement: str, prices: Prices, limits: Limits) -> Answer:
    """What one SELECT over the views gives. Raises `InvalidQuery` for anything else, or beyond a limit."""
    rows = _rows(lake, statement, prices, limits)
    columns = next(rows)
    return Answer(columns, rows)


def _rows(lake: Lake, statement: str, prices: Prices, limits: Limits) -> Iterator[tuple[Any, ...]]:
    import duckdb

    is_late = False
    _check(statement)
    with lake.connected(prices=prices, tokens=_ADDS_UP.search(statement) is not None) as connection:
        _fence(connection, lake)

        def stop() -> None:
            nonlocal is_late
            is_late = True
            connection.interrupt()

        timer = threading.Timer(limits.seconds or 1e9, stop)
        timer.daemon = True
        timer.start()
        try:
            result = connection.execute(statement)
            yield tuple(column[0] for column in result.description or ())
            count = size = 0
            while some := result.fetchmany(_AT_ONCE):
                for row in some:
                    count += 1
                    size += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
                    if limits.rows is not None and count > limits.rows:
                        raise InvalidQuery(
                            f"the result has more than {limits.rows:,} rows; add LIMIT, or count and group"
                        )
                    if limits.bytes is not None and size > limits.bytes:
                        raise InvalidQuery(f"the result has more than {limits.bytes:,} bytes; select fewer columns")
                    yield row
        except duckdb.Error as error:
            if is_late:
                raise InvalidQuery(
                    f"the query took more than {limits.seconds:g} s; ask for less, or --timeout"
                ) from error
            raise InvalidQuery(f"the query does not run: {_first_line(error)}; --schema lists what there is") from error
        finally:
            timer.cancel()


def _check(statement: str) -> None:
    import duckdb

    try:
        found = duckdb.extract_statements(statement)
    except duckdb.Error as error:
        raise InvalidQuery(f"the query does not run: {_first_line(error)}") from error
    if len(found) != 1 or found[0].type != duckdb.StatementType.SELECT:
        raise InvalidQuery("only one SELECT is allowed; it cannot write, attach or load anything")


def _fence(connection: duckdb.DuckDBPyConnection, lake: Lake) -> None:
    """Let a statement read the files of the tables and no other file, and change no setting."""
    connection.execute("SET allowed_paths = ?", [lake.local_files()])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
