"""Which tools a model's tokens went to.

Theory of operation. A model call asks for tools, or for none. What it took is shared evenly by the tools it asked for,
and belongs to `(no tool)` where it asked for none; so the shares add up to all tokens. A call of a model is, in what
one source says, everything up to the next tool result or the next message to it; its usage stands in that stretch, or
names the message that the tools came with.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from msgspec.structs import asdict

from stenograph.fold.prices import Cost, Prices, Terms
from stenograph.fold.usage import Usage
from stenograph.model.payload import TOKEN_COUNTS
from stenograph.query.scope import Scope

NO_TOOL = "(no tool)"
_ANSWERS = ("message.user", "tool.result")
_HEARD = ("message.user", "message.assistant", "tool.call", "tool.result", "token.usage")


@dataclass(slots=True)
class _Report:
    """A row of usage that counts."""

    scope: str
    terms: Terms
    usage: Usage
    reported: float | None
    """Dollars, where the source itself names them."""


@dataclass(slots=True)
class _Stretch:
    """What a source says between two answers to it."""

    tools: list[str] = field(default_factory=list)
    reports: list[_Report] = field(default_factory=list)
    is_over: bool = False


class _Run:
    """The stretches of one run."""

    def __init__(self) -> None:
        self.stretches: list[_Stretch] = []
        self._current: dict[str, _Stretch] = {}
        self._of_message: dict[str, _Stretch] = {}

    def hear(self, source: str, type: str, tool: str | None, message_id: str | None, report: _Report | None) -> None:
        """Take the next event into account."""
        if type in _ANSWERS:
            if source in self._current:
                self._current[source].is_over = True
            return
        stretch = self._home(source, type, message_id)
        if type == "tool.call":
            stretch.tools.append(tool or "")
        elif report is not None:
            stretch.reports.append(report)

    def _home(self, source: str, type: str, message_id: str | None) -> _Stretch:
        stretch = self._of_message.get(message_id) if message_id else None
        if stretch is None:
            stretch = self._current.get(source)
            # Some agents tell the usage only after the tools have answered.
            if stretch is None or (stretch.is_over and type != "token.usage"):
                stretch = _Stretch()
                self.stretches.append(stretch)
        self._current[source] = stretch
        if message_id:
            self._of_message[message_id] = stretch
        return stretch


def tokens_of_tools(
    index: sqlite3.Connection, scope: Scope, prices: Prices
) -> Iterator[tuple[str, str | None, Usage, Cost]]:
    """Tokens by tool and model, with their cost."""
    for stretch in _stretches(index, scope):
        names = stretch.tools or [NO_TOOL]
        for report in stretch.reports:
            usage = report.usage
            length = None if report.scope == "call" else 0
            cost = prices.cost(report.terms, usage, input_of_call=length, reported=report.reported)
            share = Cost(None if cost.dollars is None else cost.dollars / len(names), cost.is_partial)
            for number, name in enumerate(names):
                yield name, report.terms.model, _share(usage, number, len(names)), share


def _share(usage: Usage, number: int, of: int) -> Usage:
    """One part of as many; what does not divide evenly goes to the first ones, so that nothing is lost."""
    if of == 1:
        return usage
    parts = {name: (total + of - 1 - number) // of for name, total in asdict(usage).items()}
    return Usage(**parts)


def _stretches(index: sqlite3.Connection, scope: Scope) -> Iterator[_Stretch]:
    reports = _reports(index, scope)
    condition, parameters = scope.of_runs()
    query = f"""
        SELECT events.run, events.id, events.source, events.type, events.tool_name, events.message_id
        FROM main.events AS events JOIN main.runs AS runs ON runs.id = events.run
        WHERE events.type IN {_HEARD} AND {condition} ORDER BY events.run, events.seq
    """
    for _, events in groupby(index.execute(query, parameters), key=itemgetter(0)):
        run = _Run()
        for _, event, source, kind, tool, message_id in events:
            run.hear(source, kind, tool, message_id, reports.pop(event, None))
        yield from run.stretches
    yield _Stretch(reports=list(reports.values()))


def _reports(index: sqlite3.Connection, scope: Scope) -> dict[int, _Report]:
    """What counts, by the event that told it."""
    condition, parameters = scope.of_moments("counted.at_ms")
    query = f"""
        SELECT counted.event, counted.scope, counted.model, counted.speed, counted.service_tier, counted.cost_usd,
          {", ".join(f"counted.{name}" for name in TOKEN_COUNTS)}
        FROM counted JOIN main.runs AS runs ON runs.id = counted.run WHERE {condition}
    """
    found: dict[int, _Report] = {}
    for event, kind, model, speed, tier, reported, *tokens in index.execute(query, parameters):
        usage = Usage(**dict(zip(TOKEN_COUNTS, tokens, strict=True)), records=1)
        found[event] = _Report(kind, Terms(model, speed, tier), usage, reported)
    return found
