"""The archive as commands open it: what is wrong with its index is told in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from stenograph.errors import SourceError

if TYPE_CHECKING:
    from stenograph.archive import IndexReader


@contextmanager
def damage_told() -> Iterator[None]:
    """Say in one sentence what is wrong with an index that cannot be read."""
    import sqlite3

    from zstandard import ZstdError

    try:
        yield
    except (sqlite3.DatabaseError, ZstdError) as error:
        raise SourceError(f"the index of the archive cannot be read: {error}; run: steno sync --rebuild") from error


@contextmanager
def open_archive() -> Iterator[IndexReader]:
    """The archive of this machine; raises `RunNotFound` where there is none, `SourceError` where it cannot be read."""
    from stenograph.archive import IndexReader

    with damage_told(), IndexReader() as archive:
        yield archive
