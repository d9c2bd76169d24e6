"""A unit is one user message with everything up to the next one."""

from __future__ import annotations

from collections.abc import Iterator

from stenograph.fold.units import Unit, units
from stenograph.model import Event, MessagePayload, Origin


def event(seq: int, type: str = "system.event", source: str | None = None, run_id: str = "r") -> Event:
    payload = MessagePayload(role="user", blocks=()) if type == "message.user" else None
    return Event(
        seq=seq,
        run_id=run_id,
        type=type,
        path="",
        iteration=0,
        timestamp="t",
        origin=Origin(source=source),
        payload=payload,
    )


def shape(found: Iterator[Unit]) -> list[tuple[str, int, list[int]]]:
    return [(unit.run_id, unit.number, [event.seq for event in unit.events]) for unit in found]


def test_each_prompt_begins_a_unit() -> None:
    """Everything up to the next prompt belongs to it, the prompt first."""
    events = [event(1, "message.user"), event(2), event(3, "message.user"), event(4)]
    found = list(units(events))
    assert shape(iter(found)) == [("r", 1, [1, 2]), ("r", 2, [3, 4])]
    assert found[0].prompt is events[0]


def test_what_came_before_anybody_spoke_is_number_zero() -> None:
    """Nothing is lost, and the numbers of prompts are not moved."""
    found = list(units([event(1), event(2, "message.user")]))
    assert shape(iter(found)) == [("r", 0, [1]), ("r", 1, [2])]
    assert found[0].prompt is None


def test_a_subagents_prompt_begins_none() -> None:
    """It is part of the unit that spawned it."""
    events = [event(1, "message.user"), event(2, "message.user", "subagent:a"), event(3)]
    assert shape(units(events)) == [("r", 1, [1, 2, 3])]


def test_interleaved_runs_have_units_of_their_own() -> None:
    """A child run does not cut its parent's unit."""
    events = [
        event(1, "message.user"),
        event(2, "message.user", run_id="child"),
        event(3),
        event(4, run_id="child"),
        event(5, "message.user"),
    ]
    assert shape(units(events)) == [("r", 1, [1, 3]), ("r", 2, [5]), ("child", 1, [2, 4])]


def test_a_unit_comes_as_soon_as_the_next_one_begins() -> None:
    """Units stream: the rest of the run need not be there yet."""
    stream = units(iter([event(1, "message.user"), event(2, "message.user")]))
    assert next(stream).number == 1


def test_no_events_no_units() -> None:
    """An empty run has none."""
    assert list(units([])) == []
