"""Tokens and their cost, added up from the rows of the index that count."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from stenograph.archive.index.tables import LONG_INPUT, NANODOLLARS
from stenograph.fold.prices import Cost, Prices, Terms
from stenograph.fold.usage import Usage
from stenograph.model.payload import TOKEN_COUNTS
from stenograph.query.kept_sums import moments_in, summed
from stenograph.query.period import Period
from stenograph.query.scope import Parameters

_ALWAYS = Period()


@dataclass(slots=True)
class Spending:
    """A sum of model calls."""

    usage: Usage = field(default_factory=Usage)
    dollars: float = 0.0
    """The cost of what has a price."""
    is_priced: bool = False
    """Whether anything has one."""
    cost_is_partial: bool = False
    """Whether a part has no price, so that the dollars are a lower bound."""
    unpriced: set[str] = field(default_factory=set)
    """Models without a price; the empty name is usage without a model."""

    def add(self, model: str | None, usage: Usage, cost: Cost) -> None:
        """Take the tokens of one model into account."""
        self.usage += usage
        self.cost_is_partial |= cost.is_partial
        if cost.dollars is None:
            self.unpriced.add(model or "")
        else:
            self.is_priced = True
            self.dollars += cost.dollars

    @property
    def cost_usd(self) -> float | None:
        """Dollars for what has a price; None when nothing has."""
        return round(self.dollars, 6) if self.is_priced else None

    def fields(self) -> dict[str, Any]:
        """The sums as JSON fields."""
        usage = self.usage
        return {
            "input_tokens": usage.input_tokens,
            "cache_read_input_tokens": usage.cache_read_input_tokens,
            "cache_creation_input_tokens": usage.cache_creation_input_tokens,
            "cache_creation_1h_input_tokens": usage.cache_creation_1h_input_tokens,
            "output_tokens": usage.output_tokens,
            "reasoning_output_tokens": usage.reasoning_output_tokens,
            "model_calls": usage.records,
            "cost_usd": self.cost_usd,
            "cost_is_partial": self.cost_is_partial,
            "unpriced_models": sorted(self.unpriced),
        }


_TERMS = "counted.model, counted.speed, counted.service_tier, counted.has_cost"
_NUMBERS = (*TOKEN_COUNTS, "nanodollars", "calls")
_SUMS = ", ".join(f"sum(counted.{name})" for name in _NUMBERS)


class Summed(Struct, frozen=True):
    """A table of sums that the index keeps."""

    table: str
    keys: str
    """Its columns beside those that all have."""
    count: str
    """The column that is zero where nothing is left."""


BY_CALL = Summed("counted", "", "calls")
BY_TOOL = Summed("counted_shares", "tool, ", "shares")


def spent(
    index: sqlite3.Connection,
    key: str,
    condition: str,
    parameters: Parameters,
    prices: Prices,
    period: Period = _ALWAYS,
    kept: Summed = BY_CALL,
) -> Iterator[tuple[Any, str | None, Usage, Cost]]:
    """Tokens by a key and by model, with their cost; `key` and `condition` refer to `counted` and `runs`.

    The price of a call may depend on how long its input is. The pre-aggregated sums are not split by input length, so
    long calls are subtracted from them and priced separately.
    """
    bounds = prices.thresholds
    numbers = ", ".join(dict.fromkeys((*_NUMBERS, kept.count)))
    columns = f"run, quarter, {kept.keys}{_TERMS.replace('counted.', '')}"
    counted = summed(kept.table, f"{columns}, 0 AS step, {numbers}", period)
    if bounds:
        step = " + ".join(f"(call_input > {bound})" for bound in bounds)
        negated = ", ".join(f"-{name}" for name in numbers.split(", "))
        long = f"main.{kept.table}_told WHERE scope = 'call' AND {_longer_than(bounds[0])} AND {moments_in(period)}"
        counted = f"""
            {counted} UNION ALL SELECT {columns}, 0, {negated} FROM {long}
            UNION ALL SELECT {columns}, {step}, {numbers} FROM {long}
        """
    query = f"""
        SELECT {key}, {_TERMS}, counted.step, {_SUMS}
        FROM ({counted}) AS counted JOIN main.runs AS runs ON runs.id = counted.run
        WHERE {condition} GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(counted.{kept.count})
    """
    # A group of only long calls has no rows left among the short ones.
    return (_priced(each, prices, bounds) for each in index.execute(query, parameters))


def _longer_than(bound: int) -> str:
    """A condition for which SQLite can use its index of long calls, where that holds all such calls."""
    return f"call_input > {bound}" + (f" AND call_input > {LONG_INPUT}" if bound >= LONG_INPUT else "")


def _priced(row: tuple[Any, ...], prices: Prices, bounds: tuple[int, ...]) -> tuple[Any, str | None, Usage, Cost]:
    key, model, speed, tier, has_cost, step, *tokens, nanodollars, records = row
    usage = Usage(**dict(zip(TOKEN_COUNTS, tokens, strict=True)), records=records)
    reported = nanodollars / NANODOLLARS if has_cost else None
    length = bounds[step - 1] + 1 if step else 0
    return key, model, usage, prices.cost(Terms(model, speed, tier), usage, input_of_call=length, reported=reported)
