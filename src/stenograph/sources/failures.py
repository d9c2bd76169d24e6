"""What a format raises, as an error that names it: one broken package must not end what the others need."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from stenograph.errors import FormatFailed, StenographError
from stenograph.formats.base import FormatSpec
from stenograph.sources.container import DAMAGED


@contextmanager
def named_failures(spec: FormatSpec | None, path: object) -> Iterator[None]:
    """Raise `FormatFailed` for whatever a format's function raises on a file, but for what says that it is damaged."""
    is_contained = spec is not None and spec.layout is not None and spec.layout.runs is not None
    damaged: tuple[type[Exception], ...] = (OSError, sqlite3.Error, *(DAMAGED if is_contained else ()))
    try:
        yield
    except StenographError:
        raise
    except damaged:
        raise
    except Exception as error:
        raise FormatFailed("" if spec is None else spec.name, error, str(path)) from error
