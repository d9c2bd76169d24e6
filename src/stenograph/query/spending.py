"""Tokens and what they cost, added up from the rows of the index that count."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

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
    """For what has a price."""
    is_priced: bool = False
    """Whether anything has one."""
    cost_is_partial: bool = False
    """Whether a part has no price, so that the dollars are the least it can have cost."""
    unpriced: set[str] = field(default_factory=set)
    """Models without a price; the empty name is what no model was named for."""

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
        """The same for programs."""
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


def spent(
    index: sqlite3.Connection,
    key: str,
    condition: str,
    parameters: Parameters,
    prices: Prices,
    period: Period = _ALWAYS,
) -> Iterator[tuple[Any, str | None, Usage, Cost]]:
    """Tokens by a key and by model, with their cost; `key` and `condition` speak of `counted` and `runs`.

    The price of a call may depend on how long its input is. The pre-aggregated sums are not split by input length, so
    long calls are subtracted from them and priced separately.
    """
    bounds = prices.thresholds
    terms, numbers = _TERMS.replace("counted.", ""), ", ".join(_NUMBERS)
    counted = summed("counted", f"run, quarter, {terms}, 0 AS step, {numbers}", period)
    if bounds:
        step = " + ".join(f"(input_tokens > {bound})" for bound in bounds)
        negated = ", ".join(f"-{name}" for name in _NUMBERS)
        long = f"main.counted_told WHERE scope = 'call' AND {_longer_than(bounds[0])} AND {moments_in(period)}"
        counted = f"""
            {counted} UNION ALL SELECT run, quarter, {terms}, 0, {negated} FROM {long}
            UNION ALL SELECT run, quarter, {terms}, {step}, {numbers} FROM {long}
        """
    query = f"""
        SELECT {key}, {_TERMS}, counted.step, {_SUMS}
        FROM ({counted}) AS counted JOIN main.runs AS runs ON runs.id = counted.run
        WHERE {condition} GROUP BY 1, 2, 3, 4, 5, 6
    """
    for each in index.execute(query, parameters):
        if each[-1]:  # of a group of long calls nothing is left among the short ones
            yield _priced(each, prices, bounds)


def _longer_than(bound: int) -> str:
    """A condition that SQLite sees its index in, where that holds all such calls."""
    return f"input_tokens > {bound}" + (f" AND input_tokens > {LONG_INPUT}" if bound >= LONG_INPUT else "")


def _priced(row: tuple[Any, ...], prices: Prices, bounds: tuple[int, ...]) -> tuple[Any, str | None, Usage, Cost]:
    key, model, speed, tier, has_cost, step, *tokens, nanodollars, records = row
    usage = Usage(**dict(zip(TOKEN_COUNTS, tokens, strict=True)), records=records)
    reported = nanodollars / NANODOLLARS if has_cost else None
    length = bounds[step - 1] + 1 if step else 0
    return key, model, usage, prices.cost(Terms(model, speed, tier), usage, input_of_call=length, reported=reported)
