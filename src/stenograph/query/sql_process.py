"""SQL in a process that can be killed: one function of SQLite may run for ever without checking the clock.

Theory of operation. The child opens the database, runs the statement within the limits, and sends rows
through a pipe. The parent counts only the time for which it waits, as the limit does. When the child has not ended the
statement a moment after its time is up, it is killed.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import Any, Self

from stenograph.errors import InvalidQuery, SourceError, StenographError
from stenograph.query.sql import Limits, Row, run_sql

_GRACE = 0.5
"""Seconds after which a child that should have stopped is killed."""
_BATCH = 256
_LENGTH = 8
_CHUNK = 1 << 20

Opening = Callable[[], AbstractContextManager[sqlite3.Connection]]


class SqlProcess:
    """The result of a query: `columns`, and the rows, fetched while it is iterated; iterate it once, in a `with`.

    Raises what `run_sql` raises, and what opening the database does.
    """

    def __init__(self, opening: Opening, sql: str, limits: Limits, *, only_views: bool = False) -> None:
        """`opening` returns the connection, in the child."""
        self._limits = limits
        self._left = None if limits.seconds is None else limits.seconds + _GRACE
        self._pipe, end = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # other threads: the child needs none of their locks
            self._child = os.fork()
        if not self._child:
            os.close(self._pipe)
            _run_child(end, opening, sql, limits, only_views)
        os.close(end)
        try:
            self.columns: tuple[str, ...] = self._next()
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[Row]:
        while (rows := self._next()) is not None:
            yield from rows

    def _next(self) -> Any:
        value = pickle.loads(self._read(int.from_bytes(self._read(_LENGTH), "big")))
        if isinstance(value, BaseException):
            raise value
        return value

    def _read(self, length: int) -> bytes:
        pieces: list[bytes] = []
        while length:
            began = time.monotonic()
            ready, _, _ = select.select([self._pipe], [], [], self._left)
            if self._left is not None:
                self._left = max(0.0, self._left - (time.monotonic() - began))
            if not ready:
                self.close()
                seconds = self._limits.seconds
                raise InvalidQuery(f"the query took longer than {seconds:g} s and was stopped; narrow it")
            piece = os.read(self._pipe, min(length, _CHUNK))
            if not piece:
                raise SourceError("the query ended without an answer, perhaps for lack of memory; narrow it")
            pieces.append(piece)
            length -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """End the child, whatever it is doing; may be called twice."""
        if self._child:
            with suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)
            os.close(self._pipe)
            self._child = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _run_child(pipe: int, opening: Opening, sql: str, limits: Limits, only_views: bool) -> None:
    """Run the statement, send its rows, and end the process; nothing of the parent is flushed or cleaned up."""
    try:
        try:
            with opening() as connection:
                result = run_sql(connection, sql, limits, only_views=only_views)
                _send(pipe, result.columns)
                batch: list[Row] = []
                for row in _errors_last(pipe, batch, result):
                    batch.append(row)
                    if len(batch) == _BATCH:
                        _send(pipe, batch)
                        batch.clear()
                _send(pipe, batch)
                _send(pipe, None)
        except StenographError as error:
            _send(pipe, error)
    except BaseException:  # noqa: BLE001  # the end of the pipe informs the parent
        os._exit(1)
    os._exit(0)


def _errors_last(pipe: int, batch: list[Row], rows: Iterator[Row] | Any) -> Iterator[Row]:
    """The rows up to an error, which is raised after the parent got them."""
    try:
        yield from rows
    except StenographError:
        _send(pipe, batch)
        raise


def _send(pipe: int, value: Any) -> None:
    data = pickle.dumps(value)
    view = memoryview(len(data).to_bytes(_LENGTH, "big") + data)
    while view:
        view = view[os.write(pipe, view) :]
