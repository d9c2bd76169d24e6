"""The interface of page writers, one for each output format."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct

from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload, ToolPayload
from stenograph.render.page_facts import SourceFacts, UnitFacts


class CallFacts(Struct, frozen=True, kw_only=True):
    """What is known about a call when its head is written."""

    failed: bool
    answered: bool
    spawns: bool
    """Whether its subagents follow."""
    parallel: tuple[int, int] | None = None
    """Its position among the calls that were made together, and their number."""
    answer: Any = None
    """A person's answer, for a question that has its result."""


class PageWriter(Protocol):
    """Writes the parts of one kind of page. Every returned text is complete in itself, or the end of an earlier one."""

    def unit(self, facts: UnitFacts) -> tuple[str, str]:
        """The beginning and the end of a unit."""

    def message(self, event: Event, payload: MessagePayload, anchor: str, orphans: frozenset[str]) -> str:
        """A message; `orphans` are the ids of its tool blocks without a `tool.call` or `tool.result` event."""

    def call(self, event: Event, payload: ToolPayload, anchor: str, facts: CallFacts) -> tuple[str, str, str]:
        """The beginning of a call's head, the rest up to its result and its subagents, and the end.

        The outcome is between the first two.
        """

    def outcome(self, call: Event, payload: ToolPayload) -> str:
        """What the head of a call says about its result."""

    def other_report(self, event: Event, payload: ToolPayload, anchor: str) -> str:
        """The report of the same call by another reporter."""

    def result(self, event: Event, payload: ToolPayload, anchor: str, name: str, call: Event) -> str:
        """The answer to a call, below it."""

    def stray(self, event: Event, payload: ToolPayload, anchor: str, name: str, call_anchor: str) -> str:
        """A result whose call is somewhere else, or missing."""

    def subagent(self, event: Event, facts: SourceFacts | None, *, continued: bool) -> tuple[str, str]:
        """The beginning and the end of a subagent's part."""

    def notice(self, event: Event, anchor: str) -> str:
        """An event that must not be missed: an error, a notice, the beginning or end of a run or step."""

    def aside(self, event: Event, anchor: str) -> tuple[str, str]:
        """A machine event: its label, and its text."""

    def asides(self, group: list[tuple[str, str]]) -> str:
        """Adjacent asides as a group."""
