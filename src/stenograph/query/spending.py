"""Tokens and what they cost, added up from the rows of the index that count."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stenograph.archive.tables import LONG_INPUT
from stenograph.fold.usage import Usage
from stenograph.model.payload import TOKEN_COUNTS
from stenograph.query.kept_sums import moments_in, summed
from stenograph.query.period import Period
from stenograph.query.prices import Prices
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
    unpriced: set[str] = field(default_factory=set)
    """Models without a price; the empty name is what no model was named for."""

    def add(self, model: str | None, usage: Usage, dollars: float | None) -> None:
        """Take the tokens of one model into account."""
        self.usage += usage
        if dollars is None:
            self.unpriced.add(model or "")
        else:
            self.is_priced = True
            self.dollars += dollars

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
            "output_tokens": usage.output_tokens,
            "reasoning_output_tokens": usage.reasoning_output_tokens,
            "model_calls": usage.records,
            "cost_usd": self.cost_usd,
            "unpriced_models": sorted(self.unpriced),
        }


_TOKENS = ", ".join(TOKEN_COUNTS)
_SUMS = ", ".join(f"sum(counted.{name})" for name in (*TOKEN_COUNTS, "calls"))


def spent(
    index: sqlite3.Connection,
    key: str,
    condition: str,
    parameters: Parameters,
    prices: Prices,
    period: Period = _ALWAYS,
) -> Iterator[tuple[Any, str | None, Usage, float | None]]:
    """Tokens by a key and by model, with their cost in dollars; `key` and `condition` speak of `counted` and `runs`.

    The price of a call may depend on how long its input is. The kept sums do not know what that means, so long calls
    are taken out of them and added up by their length.
    """
    bounds = prices.thresholds
    counted = summed("counted", f"run, quarter, model, 0 AS step, {_TOKENS}, calls", period)
    if bounds:
        step = " + ".join(f"(input_tokens > {bound})" for bound in bounds)
        negated = ", ".join(f"-{name}" for name in (*TOKEN_COUNTS, "calls"))
        long = f"main.counted_told WHERE scope = 'call' AND {_longer_than(bounds[0])} AND {moments_in(period)}"
        counted = f"""
            {counted} UNION ALL SELECT run, quarter, model, 0, {negated} FROM {long}
            UNION ALL SELECT run, quarter, model, {step}, {_TOKENS}, calls FROM {long}
        """
    query = f"""
        SELECT {key}, counted.model, counted.step, {_SUMS}
        FROM ({counted}) AS counted JOIN main.runs AS runs ON runs.id = counted.run
        WHERE {condition} GROUP BY 1, 2, 3
    """
    for each in index.execute(query, parameters):
        yield _priced(each, prices, bounds)


def _longer_than(bound: int) -> str:
    """A condition that SQLite sees its index in, where that holds all such calls."""
    return f"input_tokens > {bound}" + (f" AND input_tokens > {LONG_INPUT}" if bound >= LONG_INPUT else "")


def _priced(
    row: tuple[Any, ...], prices: Prices, bounds: tuple[int, ...]
) -> tuple[Any, str | None, Usage, float | None]:
    key, model, step, *tokens, records = row
    usage = Usage(**dict(zip(TOKEN_COUNTS, tokens, strict=True)), records=records)
    return key, model, usage, prices.cost(model, usage, input_of_call=bounds[step - 1] + 1 if step else 0)
