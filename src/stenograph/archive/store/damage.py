"""An index that cannot be read: one error message that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from zstandard import ZstdError

from stenograph.errors import SourceError


@contextmanager
def readable_index() -> Iterator[None]:
    """Raise `SourceError` for errors of SQLite and of decompression."""
    try:
        yield
    except (sqlite3.DatabaseError, ZstdError) as error:
        raise SourceError(f"the index of the archive cannot be read: {error}; run: steno sync --rebuild") from error
