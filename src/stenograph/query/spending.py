"""Tokens and what they cost, added up from the rows of the index that count."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stenograph.fold.usage import Usage
from stenograph.query.prices import Prices
from stenograph.query.scope import Parameters


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


_SUMS = """
    sum(counted.input_tokens), sum(counted.output_tokens), sum(counted.cache_read_input_tokens),
    sum(counted.cache_creation_input_tokens), sum(counted.reasoning_output_tokens), count(*)
"""
_CALLS = "(SELECT * FROM main.usage WHERE scope = 'call') AS counted"
_OTHERS = "(SELECT * FROM main.counted WHERE scope != 'call') AS counted"


def with_runs(table: str, name: str, *terms: str) -> str:
    """What stands after FROM: a table of that name, and its runs where a term speaks of them; else the join costs."""
    is_needed = any("runs." in term for term in terms)
    return f"{table} JOIN main.runs AS runs ON runs.id = {name}.run" if is_needed else table


def spent(
    index: sqlite3.Connection, key: str, condition: str, parameters: Parameters, prices: Prices
) -> Iterator[tuple[Any, str | None, Usage, float | None]]:
    """Tokens by a key and by model, with their cost in dollars; `key` and `condition` speak of `counted` and `runs`.

    The price of a call may depend on how long its input is, so long calls are added up by that, too. Most are not, and
    the index has them in order (`usage_sums`).
    """
    bounds = prices.thresholds
    first = bounds[0] if bounds else 1 << 62
    length = " + ".join(f"(counted.input_tokens > {bound})" for bound in bounds) or "0"
    for table, step, those in (
        (_CALLS, "0", f"counted.input_tokens <= {first}"),
        (_CALLS, length, f"counted.input_tokens > {first}"),
        (_OTHERS, "0", "1"),
    ):
        query = f"""
            SELECT {key}, counted.model, {step}, {_SUMS} FROM {with_runs(table, "counted", key, condition)}
            WHERE {those} AND {condition} GROUP BY {"1, 2" if step == "0" else "1, 2, 3"}
        """
        for each in index.execute(query, parameters):
            yield _priced(each, prices, bounds)


def _priced(
    row: tuple[Any, ...], prices: Prices, bounds: tuple[int, ...]
) -> tuple[Any, str | None, Usage, float | None]:
    key, model, step, into, out, read, created, reasoning, records = row
    usage = Usage(
        input_tokens=into,
        output_tokens=out,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=created,
        reasoning_output_tokens=reasoning,
        records=records,
    )
    return key, model, usage, prices.cost(model, usage, input_of_call=bounds[step - 1] + 1 if step else 0)
