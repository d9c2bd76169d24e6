"""The prices in force: the table that is shipped, and the user's own file over it.

`tools/update-prices` makes the table.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from stenograph import config
from stenograph.errors import SourceError, unreadable
from stenograph.fold.prices import Price, Prices


class _Table(Struct, frozen=True, kw_only=True):
    """A file of prices; its other keys are for people."""

    models: dict[str, Price]
    date: str = ""


def load_prices(file: str | os.PathLike[str] | None = None) -> Prices:
    """The table that is shipped, and over it a file of the same form: the given one, or the configuration's."""
    shipped = _shipped()
    own = file or config.value("prices.file")
    if not own:
        return Prices(shipped.models, shipped.date)
    table = _read(Path(own))
    models = {name.lower(): price for name, price in table.models.items()}
    return Prices(shipped.models | models, table.date or shipped.date)


@cache
def _shipped() -> _Table:
    return msgspec.json.decode(Path(__file__).with_name("prices.json").read_bytes(), type=_Table)


def _read(path: Path) -> _Table:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Table)
    except OSError as error:
        raise unreadable(path, error) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} is not a table of prices: {error}; see docs/reference/sql.md", str(path)) from error
