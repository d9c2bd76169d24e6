"""The facts of a run that a page needs before it begins."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stenograph.fold.agent_tables import name_of_agent
from stenograph.fold.prices import Cost
from stenograph.fold.span import Span
from stenograph.fold.status import Verdict
from stenograph.fold.totals import Totals
from stenograph.fold.usage import Usage
from stenograph.render.figures import day

Key = tuple[str, str]
"""A run id with a call id or a source."""


class UnitFacts(Struct, frozen=True, kw_only=True):
    """The facts of a unit for its heading."""

    number: int
    """1, 2, 3 …; 0 for what came before the first message."""
    title: str
    """The beginning of the prompt, on one line."""
    span: Span
    calls: int
    errors: int
    """Failed calls and error events."""
    usage: Usage
    cost: Cost = Cost(None)
    """Its cost, where prices are given."""
    idle: float | None = None
    """Seconds between the previous unit and this one."""


class SourceFacts(Struct, frozen=True, kw_only=True):
    """The facts of a subagent for its heading."""

    span: Span
    calls: int
    last: int
    """The ordinal of its last event."""
    task: str = ""
    """Its task, on one line."""
    usage: Usage = Usage()
    cost: Cost = Cost(None)
    """Its cost, where prices are given."""


class PageFacts(Struct, frozen=True, kw_only=True):
    """The facts of a run that a page needs before it begins."""

    run_id: str
    name: str
    agents: tuple[str, ...]
    """The adapters that recorded it."""
    models: tuple[str, ...]
    cwd: str | None
    """The agent's folder, when an event names it."""
    span: Span
    verdict: Verdict | None
    """The status of the run; None for a part of one."""
    events: int
    totals: Totals
    cost: Cost
    """Its cost, where prices are given."""
    units: tuple[UnitFacts, ...]
    sources: dict[Key, SourceFacts]
    """All but `main`."""
    spawned: dict[Key, int]
    """By call: the ordinal of the last event of the subagents that it spawned."""
    unanswered: frozenset[int]
    """Calls without a result."""
    late: frozenset[int]
    """Calls whose result came before them or after their unit, so that it is elsewhere on the page."""
    failed: frozenset[int]
    """Calls whose result is an error."""
    orphans: frozenset[tuple[int, str]]
    """Tool blocks, by message and tool id, that no `tool.call` or `tool.result` repeats."""
    parallel: dict[int, tuple[int, int]] = {}
    """Calls that were made together, before any of them was answered: the position of each, and how many there are."""
    answers: dict[int, Any] = {}
    """The results of questions to a person, by the call."""
    asides: int = 0
    """Machine events (`names.is_aside`)."""

    @property
    def agent_names(self) -> tuple[str, ...]:
        """The agents' names for people."""
        return tuple(dict.fromkeys(map(name_of_agent, self.agents)))

    @property
    def status(self) -> str:
        """The status for people, with its reason; empty where it is not known."""
        verdict = self.verdict
        return "" if verdict is None or not self.events else f"{verdict.status}: {verdict.reason}"

    @property
    def counts(self) -> list[tuple[str, str]]:
        """Its numbers for people, each with its name, without zeros."""
        totals = self.totals
        numbers = [
            ("Messages", totals.messages),
            ("Tool calls", totals.tool_calls),
            ("Failed calls", totals.failed_calls),
            ("Calls without a result", totals.open_calls),
            ("Subagents", totals.subagents),
        ]
        return [(name, f"{number:,}") for name, number in numbers if number]

    @property
    def title(self) -> str:
        """The title of the run: its first prompt, else its name, else its agent and folder, else its id."""
        asked = next((unit.title for unit in self.units if unit.number and unit.title), "")
        name = "" if self.name == self.run_id else self.name
        return asked or name or self._place or self.run_id or "An empty run"

    @property
    def _place(self) -> str:
        if not self.agent_names:
            return ""
        where = f" in {self.cwd}" if self.cwd else ""
        when = f", {day(self.span.started_at)}" if self.span.started_at else ""
        return f"{self.agent_names[0]}{where}{when}"


def on_a_line(text: str, length: int) -> str:
    """The beginning of a text on one line, with an ellipsis where something is left out."""
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length and len(text) <= 4 * length else line[: length - 1].rstrip() + "…"
