"""What a run began and did not end."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from stenograph.fold.calls import CallPairs, PairState
from stenograph.model.event import Event
from stenograph.model.payload import LifecyclePayload


class OpenEnd(Struct, frozen=True, kw_only=True):
    """A run, step or tool call without its end, or an end without its beginning."""

    kind: str
    """`open_run`, `open_step`, `open_call`, `stray_step` or `stray_result`."""
    seq: int
    what: str


class OpenEnds:
    """Collects what was begun, event by event; `remaining()` says what has not ended."""

    def __init__(self) -> None:
        self._run: OpenEnd | None = None
        self._steps: dict[tuple[str, int, tuple[int, ...] | None], list[OpenEnd]] = {}
        self._pairs = CallPairs()
        self._uses: dict[int, PairState] = {}
        """Pairs that lack a call or a result, by identity."""
        self._strays: list[OpenEnd] = []

    def add(self, event: Event) -> None:
        """Take the next event of the run into account."""
        payload = event.payload
        key = (event.path, event.iteration, event.iterations)
        match event.type:
            case "run.started":
                name = payload.name if isinstance(payload, LifecyclePayload) else ""
                self._run = OpenEnd(kind="open_run", seq=event.seq, what=name or event.run_id)
            case "run.completed":
                self._run = None
            case "step.started" | "step.call_workflow.started":
                step = OpenEnd(kind="open_step", seq=event.seq, what=_step_text(event))
                self._steps.setdefault(key, []).append(step)
            case "step.completed" | "step.call_workflow.completed":
                if begun := self._steps.get(key):
                    begun.pop()
                else:
                    self._strays.append(OpenEnd(kind="stray_step", seq=event.seq, what=_step_text(event)))
            case "tool.call" | "tool.result":
                self._pair(event)

    def _pair(self, event: Event) -> None:
        joined = self._pairs.add(event, event.seq)
        if joined is None:
            return
        pair = joined.pair
        if pair.has_call and pair.has_result:
            self._uses.pop(id(pair), None)
        else:
            self._uses[id(pair)] = pair

    def remaining(self) -> list[OpenEnd]:
        """What is open or stray so far, in order of position."""
        steps = [step for begun in self._steps.values() for step in begun]
        run = [] if self._run is None else [self._run]
        return sorted([*run, *steps, *map(_use, self._uses.values()), *self._strays], key=lambda end: end.seq)


def open_ends(events: Iterable[Event]) -> list[OpenEnd]:
    """What the events of one run began and did not end."""
    ends = OpenEnds()
    for event in events:
        ends.add(event)
    return ends.remaining()


def _use(pair: PairState) -> OpenEnd:
    kind, seq = ("open_call", pair.call) if pair.has_call else ("stray_result", pair.result)
    return OpenEnd(kind=kind, seq=seq, what=f"{pair.name} ({pair.call_id})")


def _step_text(event: Event) -> str:
    return f"{event.path}[{event.iteration}]" if event.iteration else event.path
