"""The steps of one run as a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec import Struct

from stenograph.fold.calls import CallPairs
from stenograph.fold.messages import MessageCounter
from stenograph.fold.status import FAILED, FINISHED, NOT_KNOWN, RUNNING, UNKNOWN, Life, RunStatus
from stenograph.model.event import Event
from stenograph.model.payload import LifecyclePayload

MISSING = "missing"
"""The status of a called run that is not available; all others are those of `fold.status`."""
DEEPEST = 100
"""Steps nested deeper than this are put beside their parent instead of below it: readers of a tree recurse."""


class StepNode(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One execution of a step; a loop has one node per iteration."""

    name: str
    kind: str
    path: str
    iteration: int
    status: str
    """`finished` or `failed`; of a step that has not ended `running` when the run lives, else `unknown`."""
    error: str | None = None
    started_at: str
    ended_at: str | None = None
    messages: int
    tool_calls: int
    steps: tuple[StepNode, ...] = ()
    child: RunNode | None = None
    """The sub-workflow that the step called."""
    call_id: str | None = None
    """The tool call that spawned it: of a subagent or a thread, where the agent says so."""
    call_seq: int | None = None
    """The number of the event of that call, in the run that made it; absent where that run is not available."""


class RunNode(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run with its steps, and the runs they called."""

    run_id: str
    parent_run_id: str | None = None
    name: str
    status: str
    """One of `fold.status.STATUSES`, or `missing` when its journal is not there."""
    status_reason: str | None = None
    error: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    events: int = 0
    messages: int
    """Outside any step."""
    tool_calls: int
    steps: tuple[StepNode, ...] = ()
    journal: str | None = None
    """The path of its journal."""


@dataclass(slots=True, eq=False)  # parallel steps may have equal fields and are still different steps
class _Draft:
    """A step while its events are still coming."""

    name: str
    kind: str
    path: str
    iteration: int
    started_at: str
    iterations: tuple[int, ...] | None = None
    child_run_id: str | None = None
    status: str = ""
    """Empty while it has not ended."""
    error: str | None = None
    ended_at: str | None = None
    messages: int = 0
    tool_calls: int = 0
    steps: list[_Draft] = field(default_factory=list)
    depth: int = 0
    siblings: list[_Draft] = field(default_factory=list)

    def node(self, unended: str) -> StepNode:
        child = None
        if self.child_run_id is not None:
            child = RunNode(run_id=self.child_run_id, name=self.name, status=MISSING, messages=0, tool_calls=0)
        return StepNode(
            name=self.name,
            kind=self.kind,
            path=self.path,
            iteration=self.iteration,
            status=self.status or unended,
            error=self.error,
            started_at=self.started_at,
            ended_at=self.ended_at,
            messages=self.messages,
            tool_calls=self.tool_calls,
            steps=tuple(step.node(unended) for step in self.steps),
            child=child,
        )


def step_tree(events: Iterable[Event], life: Life = NOT_KNOWN) -> RunNode:
    """The steps of one run. A called run is there by its id, as `missing`: the caller that has the files fills it in.

    `life` is what is known of the process that writes the run.
    """
    return _TreeBuilder(events).node(life)


class _TreeBuilder:
    """Builds the tree of one run, event by event."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.run_id = ""
        self.parent_run_id: str | None = None
        self.name = ""
        self._status = RunStatus()
        self.error: str | None = None
        self.started_at: str | None = None
        self.ended_at: str | None = None
        self.events = 0
        self._messages = MessageCounter()
        self._pairs = CallPairs()
        self.root = _Draft("", "", "", 0, "")
        self.open: list[_Draft] = []
        for event in events:
            self._add(event)

    def node(self, life: Life) -> RunNode:
        verdict = self._status.verdict(life)
        unended = RUNNING if life.is_alive else UNKNOWN
        return RunNode(
            run_id=self.run_id,
            parent_run_id=self.parent_run_id,
            name=self.name,
            status=verdict.status,
            status_reason=verdict.reason,
            error=self.error,
            started_at=self.started_at,
            ended_at=self.ended_at,
            events=self.events,
            messages=self.root.messages,
            tool_calls=self.root.tool_calls,
            steps=tuple(step.node(unended) for step in self.root.steps),
        )

    def _add(self, event: Event) -> None:
        self.events += 1
        self._status.add(event)
        self.run_id = self.run_id or event.run_id
        self.parent_run_id = self.parent_run_id or event.parent_run_id
        payload = event.payload if isinstance(event.payload, LifecyclePayload) else None
        match event.type:
            case "run.started":
                self.name = payload.name if payload else ""
                self.started_at = event.timestamp
            case "run.completed":
                self.error = payload.error if payload else None
                self.ended_at = event.timestamp
            case "step.started" | "step.call_workflow.started":
                self._begin(event, payload)
            case "step.completed" | "step.call_workflow.completed":
                self._end(event, payload)
            case "message.user" | "message.assistant" if self._messages.is_new(event):
                self._owner(_place_of(event)).messages += 1
            case "tool.call" | "tool.result" if (joined := self._pairs.add(event, event.seq)) is not None:
                self._owner(_place_of(event)).tool_calls += joined.change.calls

    def _begin(self, event: Event, payload: LifecyclePayload | None) -> None:
        name = payload.name if payload else event.path.rpartition(".")[2]
        step = _Draft(
            name=name,
            kind=payload.kind if payload else "",
            path=event.path,
            iteration=event.iteration,
            started_at=event.timestamp,
            iterations=event.iterations,
            child_run_id=event.child_run_id,
        )
        # A name may hold dots, so the parent's path is the part before the name, not before the last dot.
        parent_path = event.path[: -len(name) - 1] if name and event.path.endswith(f".{name}") else ""
        owner = self._owner((parent_path, *_outer(event)))
        is_too_deep = owner.depth == DEEPEST
        step.depth = DEEPEST if is_too_deep else owner.depth + 1
        step.siblings = owner.siblings if is_too_deep else owner.steps
        step.siblings.append(step)
        self.open.append(step)

    def _end(self, event: Event, payload: LifecyclePayload | None) -> None:
        place = _place_of(event)
        step = self._open_step(place)
        if step is None or (step.path, step.iteration, step.iterations) != place:
            return
        self.open.remove(step)
        step.error = payload.error if payload else None
        step.status = FAILED if step.error else FINISHED
        step.ended_at = event.timestamp

    def _owner(self, place: _Place) -> _Draft:
        return (self._open_step(place) if place[0] else None) or self.root

    def _open_step(self, place: _Place) -> _Draft | None:
        """The innermost open step at a path; where several are open, that of the same iterations, or iteration."""
        path, iteration, iterations = place
        found = [step for step in self.open if step.path == path]
        turn = [step for step in found if step.iteration == iteration]
        same = [step for step in turn if step.iterations == iterations]
        return (same or turn or found or [None])[-1]  # type: ignore[list-item]


_Place = tuple[str, int, tuple[int, ...] | None]
"""Path, iteration, and the iterations of all steps on the path where they differ."""


def _place_of(event: Event) -> _Place:
    return event.path, event.iteration, event.iterations


def _outer(event: Event) -> tuple[int, tuple[int, ...] | None]:
    """The iteration of the step around a step that begins, and those of all steps around it where they differ."""
    outer = (event.iterations or ())[:-1]
    if not outer:
        return event.iteration, None
    return outer[-1], outer if len(set(outer)) > 1 else None
