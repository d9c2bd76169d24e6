"""What happened in a replay: each turn, result, miss and other request, and the totals."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


class TurnGiven(Struct, frozen=True, kw_only=True, tag_field="kind", tag="turn"):
    """A recorded answer was given."""

    lane: str
    turn: int
    how: str
    """How it was found: `call ids`, `texts` or `prompt`."""
    retry: bool = False
    """Whether it had been given before."""


class SummaryGiven(Struct, frozen=True, kw_only=True, tag_field="kind", tag="summary"):
    """The recorded summary was given to an agent that had its context summarised."""

    lane: str


class ResultCompared(Struct, frozen=True, kw_only=True, tag_field="kind", tag="result"):
    """A tool answered."""

    lane: str
    turn: int
    call_id: str
    name: str
    same: bool
    diff: list[str] | None = None


class RequestMissed(Struct, frozen=True, kw_only=True, tag_field="kind", tag="miss"):
    """No recorded answer was found."""

    why: str
    last_user: str
    nearest_lane: str | None = None
    nearest_turn: int | None = None


class OtherRequest(Struct, frozen=True, kw_only=True, tag_field="kind", tag="other"):
    """A request that is not part of a conversation."""

    path: str
    status: int


Entry = TurnGiven | SummaryGiven | ResultCompared | RequestMissed | OtherRequest


class ReplayReport(Struct, frozen=True, kw_only=True):
    """The entries and totals of a replay."""

    recorded_turns: int
    served_turns: int
    """How many different turns were given."""
    recorded_results: int
    same_results: int
    different_results: int
    misses: int
    unsupported: tuple[str, ...]
    entries: tuple[Entry, ...]

    @property
    def unasked_turns(self) -> int:
        """Recorded turns that no request asked for."""
        return self.recorded_turns - self.served_turns

    @property
    def missing_results(self) -> int:
        """Recorded results whose calls were not answered this time."""
        return self.recorded_results - self.same_results - self.different_results

    def is_equal(self, *, allow_diff: bool = False) -> bool:
        """Whether the run matched the recorded one; with `allow_diff` results may differ."""
        return not (self.misses or self.unasked_turns or (self.different_results and not allow_diff))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        found: dict[str, Any] = {
            "equal": self.is_equal(),
            "turns": {"recorded": self.recorded_turns, "served": self.served_turns, "unasked": self.unasked_turns},
            "results": {
                "recorded": self.recorded_results,
                "same": self.same_results,
                "different": self.different_results,
                "missing": self.missing_results,
            },
            "misses": self.misses,
            "unsupported": list(self.unsupported),
            "entries": msgspec.to_builtins(self.entries),
        }
        return found

    def lines(self) -> list[str]:
        """For a person: the sums, then every difference and miss."""
        verdict = "the run was the recorded one" if self.is_equal() else "the run was not the recorded one"
        results = f"{self.same_results} equal, {self.different_results} different, {self.missing_results} missing"
        found = [
            f"replay: {verdict}",
            f"  turns   {self.served_turns} of {self.recorded_turns} served, {self.unasked_turns} not asked for",
            f"  results {results}",
            f"  misses  {self.misses}",
        ]
        found += [f"  not replayed: {each}" for each in self.unsupported]
        for entry in self.entries:
            if isinstance(entry, RequestMissed):
                found.append(f"  miss: {entry.why}")
            elif isinstance(entry, ResultCompared) and not entry.same:
                found.append(f"  different: {entry.name} (turn {entry.turn} of {entry.lane})")
                found += [f"    {line}" for line in entry.diff or ()]
        return found
