"""Optional dependencies, which are imported where they are used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stenograph.errors import MissingExtra


@contextmanager
def needing(module: str) -> Iterator[None]:
    """Around the import of a package of the extra with that name; raises `MissingExtra` if it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise MissingExtra(module, module) from error
