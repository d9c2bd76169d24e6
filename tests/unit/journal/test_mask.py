"""The masking hook: it sees every event first, and what it refuses does not exist."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from stenograph import Event, InvalidEvent, Recorder, read_events, start_run
from stenograph.model import Origin, SystemPayload

NOTE = {"subtype": "note", "text": "secret"}


def hide(event: Event) -> Event:
    if isinstance(event.payload, SystemPayload) and event.payload.text:
        return replace(event, payload=replace(event.payload, text=event.payload.text.replace("secret", "[masked]")))
    return event


def test_a_mask_sees_every_event_before_disk_and_subscribers(root: Path) -> None:
    """What it returns is what is written, published and returned; the secret is nowhere."""
    seen: list[tuple[str, int, Any]] = []
    on_disk: list[bytes] = []

    def mask(event: Event) -> Event:
        seen.append((event.type, event.seq, event.payload))
        on_disk.append(recorder.path.read_bytes())
        return hide(event)

    with Recorder(root, mask=mask) as recorder:
        live = recorder.subscribe()
        returned = [recorder.record("system.event", NOTE), recorder.record("error", {"message": "m"})]
    stored = list(read_events(recorder.path))
    assert returned == stored == list(live)
    assert [each[:2] for each in seen] == [("system.event", 0), ("error", 0)]
    assert seen[0][2].text == "secret"
    assert on_disk[0] == b""
    assert stored[0].payload.text == "[masked]"
    assert b"secret" not in recorder.path.read_bytes()


def test_a_mask_that_raises_stops_the_event(root: Path) -> None:
    """Nothing is written or published, `record` raises what the mask raised, and no number is used up."""

    def mask(event: Event) -> Event:
        if event.type == "error":
            raise RuntimeError("cannot mask this")
        return event

    with Recorder(root, mask=mask) as recorder:
        live = recorder.subscribe()
        first = recorder.record("system.event", NOTE)
        before = recorder.path.read_bytes()
        with pytest.raises(RuntimeError, match="cannot mask this"):
            recorder.record("error", {"message": "m"})
        assert recorder.path.read_bytes() == before
        second = recorder.record("system.event", NOTE)
        assert second.seq == 2
        assert recorder.stats().failed == 1
    assert list(live) == [first, second]


def change(**changes: Any) -> Callable[[Event], Event]:
    return lambda event: replace(event, **changes)


OTHER = "550e8400-e29b-41d4-a716-446655440000"


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (lambda event: None, "returned NoneType"),
        (lambda event: "masked", "returned str"),
        (lambda event: event.payload, "returned SystemPayload"),
        (change(run_id=OTHER), "changed one of run_id"),
        (change(parent_run_id=OTHER), "parent_run_id"),
        (change(child_run_id=OTHER), "child_run_id"),
        (change(type="error", payload=None), "changed one of run_id"),
        (change(payload="masked"), "does not take this payload"),
        (change(payload=SystemPayload(subtype=5)), "does not take this payload"),  # type: ignore[arg-type]
        (change(path=5), "does not fit"),
        (change(iteration=-1), "does not fit"),
        (change(timestamp=None), "does not fit"),
        (change(raw=b"x"), "does not fit"),
        (change(origin=Origin(line="x")), "origin does not fit"),  # type: ignore[arg-type]
    ],
)
def test_a_mask_may_change_what_an_event_says_and_nothing_else(
    root: Path, mask: Callable[[Event], Any], message: str
) -> None:
    """Anything that is no event of this run and type is refused, and nothing is written."""
    with Recorder(root, mask=mask) as recorder:
        with pytest.raises(InvalidEvent, match=message):
            recorder.record("system.event", NOTE)
        assert recorder.path.read_bytes() == b""
        assert recorder.stats().seq == 0


def test_a_mask_may_change_place_origin_and_raw(root: Path) -> None:
    """All that an event says may be masked; it is then stored as it is live."""
    mask = change(path="p", iteration=2, timestamp="t", origin=Origin(), raw="[masked]")
    with Recorder(root, mask=mask) as recorder:
        event = recorder.record("system.event", NOTE, raw="secret", origin={"file": "secret"})
        assert list(read_events(recorder.path)) == [event]
    assert (event.path, event.iteration, event.timestamp, event.origin, event.raw) == ("p", 2, "t", None, "[masked]")


def test_a_masks_number_is_not_believed(root: Path) -> None:
    """The recorder numbers events, whatever a mask put there."""
    with Recorder(root, mask=change(seq=77)) as recorder:
        assert recorder.record("system.event", NOTE).seq == 1


def test_nothing_is_masked_unless_asked_for(root: Path) -> None:
    """Without a mask the journal is verbatim."""
    with Recorder(root) as recorder:
        recorder.record("system.event", {"subtype": "note", "text": "password=hunter2 sk-live-0123456789abcdef"})
    assert b"password=hunter2 sk-live-0123456789abcdef" in recorder.path.read_bytes()


def test_runs_and_the_runs_they_call_share_the_mask(root: Path) -> None:
    """A mask given to `start_run` sees all events of the run and of its sub-workflows."""
    types: list[str] = []

    def mask(event: Event) -> Event:
        types.append(event.type)
        return hide(event)

    with start_run("a", root=root, mask=mask) as run, run.call_workflow("b") as child:
        child.system("note", "secret")
    assert b"[masked]" in child.path.read_bytes()
    assert types == [
        "run.started",
        "step.call_workflow.started",
        "run.started",
        "system.event",
        "run.completed",
        "step.call_workflow.completed",
        "run.completed",
    ]
