"""An index that cannot be read: said in one sentence, with the way out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from zstandard import ZstdError

from stenograph.errors import SourceError


@contextmanager
def readable_index() -> Iterator[None]:
    """Raise `SourceError` for what SQLite and the compression refuse."""
    try:
        yield
    except (sqlite3.DatabaseError, ZstdError) as error:
        raise SourceError(f"the index of the archive cannot be read: {error}; run: steno sync --rebuild") from error
