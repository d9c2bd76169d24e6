"""What every kind of page writes, whatever it is written in."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct

from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload, ToolPayload
from stenograph.render.outline import SourceFacts, UnitFacts


class CallFacts(Struct, frozen=True, kw_only=True):
    """What is known of a call when its head is written."""

    failed: bool
    answered: bool
    spawns: bool
    """Whether subagents of it follow."""
    parallel: tuple[int, int] | None = None
    """Which one it is, of how many that were called together."""
    answer: Any = None
    """What a person answered, of a question that has its result."""


class Skin(Protocol):
    """How one kind of page writes things. Every text it returns is complete in itself, or the end of one before."""

    def unit(self, facts: UnitFacts) -> tuple[str, str]:
        """The beginning and the end of a unit."""

    def message(self, event: Event, payload: MessagePayload, anchor: str, untold: frozenset[str]) -> str:
        """What somebody said; `untold` are the ids of tool blocks that stand nowhere else."""

    def call(self, event: Event, payload: ToolPayload, anchor: str, facts: CallFacts) -> tuple[str, str, str]:
        """The beginning of a call's head, the rest up to its result and its subagents, and the end.

        The outcome stands between the first two.
        """

    def outcome(self, call: Event, payload: ToolPayload) -> str:
        """What the head of a call says of its result."""

    def witness(self, event: Event, payload: ToolPayload, anchor: str) -> str:
        """The same call as another reporter tells it."""

    def result(self, event: Event, payload: ToolPayload, anchor: str, name: str, call: Event) -> str:
        """The answer to a call, below it."""

    def stray(self, event: Event, payload: ToolPayload, anchor: str, name: str, call_anchor: str) -> str:
        """The answer to a call that stands somewhere else, or nowhere."""

    def subagent(self, event: Event, facts: SourceFacts | None, *, continued: bool) -> tuple[str, str]:
        """The beginning and the end of what a subagent did."""

    def loud(self, event: Event, anchor: str) -> str:
        """An event that must not be missed: an error, a notice, the beginning or end of a run or step."""

    def quiet(self, event: Event, anchor: str) -> tuple[str, str]:
        """An aside: its label, and its text."""

    def asides(self, group: list[tuple[str, str]]) -> str:
        """Asides that follow one another."""
