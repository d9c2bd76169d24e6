"""What tokens cost: a dated table of list prices, and a file of one's own over it.

A model that the table does not have costs nothing that we could know: its cost is None, never zero.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from stenograph import config
from stenograph.errors import SourceError, unreadable
from stenograph.fold.usage import Usage

_MILLION = 1_000_000
_PROVIDER = re.compile(r"^(?:.*/)?(?:(?:us|eu|apac|global|jp|au)\.)?(?:(?:anthropic|openai|google)\.)?")
_VARIANT = re.compile(
    r"(?:\[\w+\]|-v\d+(?::\d+)?|[@-](?:20\d{6}|20\d\d-\d\d-\d\d|\d\d-\d{4}|\d\d-\d\d)|-latest|-preview|-exp|-0)$"
)


class Rate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars for a million tokens of each kind."""

    input: float
    """Neither read from a cache nor written to one."""
    output: float
    """Reasoning included."""
    cache_read: float | None = None
    """None where a cache is no cheaper."""
    cache_write: float | None = None
    """None where writing to a cache costs what input does."""

    def cost(self, usage: Usage) -> float:
        """What these tokens cost, in dollars."""
        read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
        fresh = max(0, usage.input_tokens - read - written)
        read_rate = self.input if self.cache_read is None else self.cache_read
        write_rate = self.input if self.cache_write is None else self.cache_write
        told = fresh * self.input + read * read_rate + written * write_rate + usage.output_tokens * self.output
        return told / _MILLION


class LongRate(Rate, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What holds for a whole call when its input is long."""

    above: int
    """Input tokens, cached ones included."""


class Price(Rate, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model costs."""

    long: LongRate | None = None


class _Table(Struct, frozen=True, kw_only=True):
    """A file of prices; what else stands in it is for people."""

    models: dict[str, Price]
    date: str = ""


class Prices:
    """Prices by model; `date` is the day on which they were looked up."""

    def __init__(self, models: dict[str, Price], date: str) -> None:
        self.date = date
        self._models = models
        self._found: dict[str, Price | None] = {}

    @property
    def thresholds(self) -> tuple[int, ...]:
        """The sizes of input at which some price changes, in ascending order."""
        return tuple(sorted({price.long.above for price in self._models.values() if price.long is not None}))

    def price(self, model: str | None) -> Price | None:
        """The price of a model by any of the names that agents and gateways give it; None when it has none."""
        if not model:
            return None
        if model not in self._found:
            self._found[model] = next((self._models[name] for name in _names(model) if name in self._models), None)
        return self._found[model]

    def cost(self, model: str | None, usage: Usage, *, input_of_call: int | None = None) -> float | None:
        """Dollars for the tokens of one call, or of calls that are all as long as `input_of_call`; None if unknown."""
        price = self.price(model)
        if price is None:
            return None
        size = usage.input_tokens if input_of_call is None else input_of_call
        rate = price.long if price.long is not None and size > price.long.above else price
        return rate.cost(usage)


def load_prices(file: str | os.PathLike[str] | None = None) -> Prices:
    """The table that is shipped, and over it a file of the same form: the one given, or the configuration's."""
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
        raise SourceError(f"{path} is no table of prices: {error}; see docs/reference/sql.md", str(path)) from error


def _names(model: str) -> list[str]:
    """The names to look for, from the one given to what is left without provider, date and variant."""
    name = model.lower()
    names = [name]
    for shorter in (_PROVIDER, *[_VARIANT] * 4):
        name = shorter.sub("", name, count=1)
        names.append(name)
    # Gateways write claude-sonnet-4.6 for what Anthropic writes with a hyphen.
    return names + [name.replace(".", "-") for name in names if name.startswith("claude")]
