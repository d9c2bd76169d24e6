"""Events as HTML for the served page: the renderer of the exported page, for a part of a run."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from stenograph.fold.units import begins_unit
from stenograph.model.event import Event
from stenograph.model.payload import ToolPayload
from stenograph.query.prices import load_prices
from stenograph.render.first_pass import page_facts_of
from stenograph.render.html.escape import line
from stenograph.render.html.page_writer import HtmlPageWriter, unit_figures
from stenograph.render.layout import PageLayout
from stenograph.render.page_facts import SourceFacts, UnitFacts

LONGEST = 20_000
"""Characters of an output that a page shows; the page of the raw event has all of it."""


class ServedPageWriter(HtmlPageWriter):
    """The exported page's form for a page that may begin in the middle of a run."""

    def __init__(self, offset: int, *, is_fragment: bool = False) -> None:
        """`offset` is added to the number of each unit; a fragment has no frame around a unit that goes on."""
        super().__init__()
        self._offset = offset
        self._is_fragment = is_fragment

    def unit(self, facts: UnitFacts) -> tuple[str, str]:
        """A unit by its number in the run; the first one may be the rest of a unit."""
        number = facts.number + self._offset
        if facts.number or (not self._offset and not self._is_fragment):
            return super().unit(msgspec.structs.replace(facts, number=number))
        if self._is_fragment:
            return "", ""
        link = f'<a href="?unit={number}"><b>Prompt {number}</b> goes on</a>'
        return f'<section class="unit" id="unit-{number}-on"><h2>{link}{unit_figures(facts)}</h2>\n', "</section>\n"

    def subagent(self, event: Event, facts: SourceFacts | None, *, continued: bool) -> tuple[str, str]:
        """With the name of its source, so that later fragments find their place."""
        if self._is_fragment:
            return "", ""
        head, tail = super().subagent(event, facts, continued=continued)
        return head.replace("<details ", f'<details data-source="{line(event.source)}" ', 1), tail


def rendered(events: Sequence[Event], first_unit: int, *, is_live: bool = False, is_fragment: bool = False) -> str:
    """The HTML of some events in a row. `first_unit` is the unit of the first; `is_live`: a call may still end."""
    if not events:
        return ""
    shown = [shortened(event) for event in events]
    page_facts = page_facts_of(shown, load_prices())
    if is_live:
        page_facts = msgspec.structs.replace(
            page_facts, late=page_facts.late | page_facts.unanswered, unanswered=frozenset()
        )
    offset = first_unit - 1 if begins_unit(events[0]) else first_unit
    return "".join(PageLayout(page_facts, ServedPageWriter(offset, is_fragment=is_fragment)).text(shown))


def units_on(events: Sequence[Event], first_unit: int) -> Sequence[UnitFacts]:
    """The units that begin among the events, with their numbers in the run."""
    offset = first_unit - 1 if events and begins_unit(events[0]) else first_unit
    found = page_facts_of(events, load_prices()).units
    return [msgspec.structs.replace(unit, number=unit.number + offset) for unit in found if unit.number or not offset]


def shortened(event: Event) -> Event:
    """The event with as much of its output as a page can hold."""
    payload = event.payload
    if not isinstance(payload, ToolPayload) or not isinstance(payload.output, str) or len(payload.output) <= LONGEST:
        return event
    left_out = len(payload.output) - LONGEST
    text = f"{payload.output[:LONGEST]}\n… {left_out:,} more characters; the raw event has them"
    return msgspec.structs.replace(event, payload=msgspec.structs.replace(payload, output=text))


def frame_of(event: Event) -> str:
    """The frame of a subagent, by its first event, with nothing inside."""
    return "".join(ServedPageWriter(0).subagent(event, None, continued=False))
