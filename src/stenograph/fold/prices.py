"""What tokens cost, given a table of prices by model.

A model that the table does not have has an unknown cost: None, never zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from stenograph.fold.usage import Usage, usage_of
from stenograph.model.payload import UsagePayload

_MILLION = 1_000_000
_PROVIDER = re.compile(r"^(?:.*/)?(?:(?:us|eu|apac|global|jp|au)\.)?(?:(?:anthropic|openai|google)\.)?")
_VARIANT = re.compile(
    r"(?:\[\w+\]|-v\d+(?::\d+)?|[@-](?:20\d{6}|20\d\d-\d\d-\d\d|\d\d-\d{4}|\d\d-\d\d)|@default|-latest|-preview|-exp|-0)$"
)
_USUAL = {"", "standard", "default", "auto", "on_demand", "standard_only"}
"""Words of vendors for the tier and the speed that list prices are for."""
_OTHER_WORDS = {"fast": "priority", "batches": "batch"}
"""What Codex calls the priority tier, and another word for a batch."""


class Rate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars for a million tokens of each kind."""

    input: float
    """Neither read from a cache nor written to one."""
    output: float
    """Reasoning included."""
    cache_read: float | None = None
    """None where reading from a cache costs as much as input."""
    cache_write: float | None = None
    """None where writing to a cache costs what input does."""
    cache_write_1h: float | None = None
    """For an hour; None where the duration makes no difference."""

    def cost(self, usage: Usage) -> float:
        """What these tokens cost, in dollars."""
        read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
        hour = min(usage.cache_creation_1h_input_tokens, written)
        fresh = max(0, usage.input_tokens - read - written)
        read_rate = self.input if self.cache_read is None else self.cache_read
        write_rate = self.input if self.cache_write is None else self.cache_write
        hour_rate = write_rate if self.cache_write_1h is None else self.cache_write_1h
        cached = read * read_rate + (written - hour) * write_rate + hour * hour_rate
        return (fresh * self.input + cached + usage.output_tokens * self.output) / _MILLION


class LongRate(Rate, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rate of a whole call whose input is long."""

    above: int
    """Input tokens, cached ones included."""


class TierRate(Rate, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a service tier costs."""

    long: LongRate | None = None


class Price(TierRate, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model costs."""

    tiers: dict[str, TierRate] = {}
    """Other service tiers: `batch`, `flex`, `priority` …"""
    fast: float | None = None
    """How many times as much each token costs at the speed `fast`."""


class Terms(NamedTuple):
    """What the price of a call depends on beside its tokens, as the source names it."""

    model: str | None
    speed: str | None = None
    service_tier: str | None = None


class Cost(NamedTuple):
    """What something cost."""

    dollars: float | None
    """The cost of everything that has a price; None when nothing has."""
    is_partial: bool = False
    """Whether something has no price, or its tier or speed has none: then the cost is a lower bound."""


class Prices:
    """Prices by model; `date` is the day on which they were looked up."""

    def __init__(self, models: dict[str, Price], date: str) -> None:
        self.date = date
        self._models = models
        self._found: dict[str, Price | None] = {}

    @property
    def thresholds(self) -> tuple[int, ...]:
        """The sizes of input at which some price changes, in ascending order."""
        return tuple(sorted({long.above for price in self._models.values() for long in _long_rates(price)}))

    def price(self, model: str | None) -> Price | None:
        """The price of a model under any of the names that agents and gateways use; None when it has none."""
        if not model:
            return None
        if model not in self._found:
            self._found[model] = next((self._models[name] for name in names_of(model) if name in self._models), None)
        return self._found[model]

    def total(self, reports: Iterable[UsagePayload]) -> Cost:
        """The cost of reports together; `UsageCounter.counting` gives those that count."""
        dollars, is_partial = None, False
        for report in reports:
            terms = Terms(report.model, report.speed, report.service_tier)
            length = None if report.scope == "call" else 0
            cost = self.cost(terms, usage_of(report), input_of_call=length, reported=report.cost_usd)
            is_partial |= cost.is_partial
            dollars = dollars if cost.dollars is None else (dollars or 0.0) + cost.dollars
        return Cost(dollars, is_partial)

    def cost(
        self, terms: Terms, usage: Usage, *, input_of_call: int | None = None, reported: float | None = None
    ) -> Cost:
        """The cost of the tokens of one call, or of calls that are all as long as `input_of_call`.

        A cost that the source itself reports counts as it is; agents report 0 where they know no price.
        """
        if reported:
            return Cost(reported)
        price = self.price(terms.model)
        if price is None:
            return Cost(None, is_partial=bool(usage.input_tokens or usage.output_tokens))
        size = usage.input_tokens if input_of_call is None else input_of_call
        rate, is_known = _rate(price, (terms.service_tier or "").lower(), size)
        speed = (terms.speed or "").lower()
        times = price.fast if speed == "fast" else None
        is_known &= times is not None or speed in _USUAL
        return Cost(rate.cost(usage) * (times or 1), is_partial=not is_known)


def _rate(price: Price, tier: str, size: int) -> tuple[Rate, bool]:
    """The rate of a call of this size, and whether it is the one that was asked for."""
    tier = tier if tier in price.tiers else _OTHER_WORDS.get(tier, tier)
    is_known = tier in price.tiers or tier in _USUAL
    chosen: TierRate = price.tiers.get(tier, price)
    if chosen.long is not None and size > chosen.long.above:
        return chosen.long, is_known
    is_beyond = chosen.long is None and price.long is not None and size > price.long.above
    return chosen, is_known and not is_beyond


def _long_rates(price: Price) -> Iterator[LongRate]:
    for each in (price, *price.tiers.values()):
        if each.long is not None:
            yield each.long


def names_of(model: str) -> list[str]:
    """The names to look up, from the given one to what is left without provider, date and variant."""
    name = model.lower()
    names = [name]
    for shorter in (_PROVIDER, *[_VARIANT] * 4):
        name = shorter.sub("", name, count=1)
        names.append(name)
    # Gateways write claude-sonnet-4.6 for what Anthropic writes with a hyphen.
    return names + [name.replace(".", "-") for name in names if name.startswith("claude")]
