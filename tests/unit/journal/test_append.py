"""Appending events that somebody else made: a format, or another journal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from stenograph import Event, InvalidEvent, Recorder, read_events, start_run
from stenograph.model import LifecyclePayload, MessagePayload, Origin, TextBlock
from strategies import BRIEF, runs

CHILD = "11111111-2222-4333-8444-555555555555"


def message(**more: Any) -> Event:
    fields: dict[str, Any] = {
        "seq": 9,
        "run_id": CHILD,
        "type": "message.user",
        "path": "",
        "iteration": 0,
        "timestamp": "2026-01-01T00:00:00+02:00",
        "origin": Origin(adapter="claude_code", line=3),
        "payload": MessagePayload(role="user", blocks=(TextBlock(fidelity="agent_emitted", text="hi"),)),
        "raw": '{"a":1}',
    }
    return Event(**fields | more)


def test_everything_but_number_and_run_is_kept(root: Path) -> None:
    """The event goes to our run with the next number; its time, origin, payload and raw stay."""
    with Recorder(root, parent_run_id=CHILD) as recorder:
        recorder.record("system.event", {"subtype": "x"})
        stored = recorder.append(message())
    assert stored == message(seq=2, run_id=recorder.run_id, parent_run_id=CHILD)
    assert list(read_events(recorder.path))[1] == stored


@pytest.mark.parametrize(
    "event",
    [
        message(path=3),
        message(iteration=-1),
        message(timestamp=None),
        message(type=None),
        message(type="novel", payload=object()),
        message(payload=MessagePayload(role="assistant", blocks=())),
        message(raw=b"x"),
        message(child_run_id=5),
        {"type": "message.user"},
        None,
    ],
)
def test_what_does_not_fit_is_refused(root: Path, event: Any) -> None:
    """An event that no journal could hold raises, is counted, and uses up no number."""
    with Recorder(root) as recorder:
        with pytest.raises(InvalidEvent):
            recorder.append(event)
        assert recorder.append(message()).seq == 1
        assert recorder.stats().failed == 1


@given(runs())
@BRIEF
def test_a_run_can_be_copied_event_by_event(tmp_path_factory: pytest.TempPathFactory, run: list[Event]) -> None:
    """Appending any run's events gives equal events under the new run id; an origin that says nothing is none.

    Only what the end of a run says of the lines before it is that of the new journal.
    """
    with Recorder(tmp_path_factory.mktemp("root")) as recorder:
        stored = [recorder.append(event) for event in run]
    expected = [
        replace(
            event,
            seq=n,
            run_id=recorder.run_id,
            parent_run_id=None,
            origin=event.origin if event.origin != Origin() else None,
        )
        for n, event in enumerate(run, 1)
    ]
    assert list(read_events(recorder.path)) == stored
    assert [without_evidence(event) for event in stored] == [without_evidence(event) for event in expected]


def without_evidence(event: Event) -> Event:
    """An event that does not say which lines stand before it."""
    if not isinstance(event.payload, LifecyclePayload):
        return event
    return replace(event, payload=replace(event.payload, evidence=None))


def test_a_step_places_what_happened_in_it(root: Path) -> None:
    """On a run or a step the event gets the place where we are."""
    with start_run("r", root=root) as run:
        with run.step("plan", "agent", iteration=2) as step:
            run.append(message())
        step.append(message())
        run.append(message())
    events = [event for event in read_events(run.path) if event.type == "message.user"]
    assert [(event.path, event.iteration) for event in events] == [("plan", 2), ("plan", 2), ("", 0)]


def test_on_a_run_a_bad_event_is_counted(root: Path, lenient: None) -> None:
    """The run API never breaks its host."""
    with start_run("r", root=root) as run:
        assert run.append(message(payload=object())) is None
    assert run.lost == 1


def test_a_child_recorder_stands_beside(root: Path) -> None:
    """A child run has a journal in the same folder, names its parent and masks in the same way."""
    mask = lambda event: event  # noqa: E731
    with Recorder(root, mask=mask, durability="disk") as recorder, recorder.child(CHILD) as child:
        event = child.record("system.event", {"subtype": "x"})
        assert child.path == recorder.path.with_name(f"{CHILD}.jsonl")
        assert event.parent_run_id == recorder.run_id
        assert child.mask is mask
