"""The tree of a run as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from stenograph.fold.tree import RunNode, StepNode
from stenograph.render.control_chars import on_one_line
from stenograph.render.figures import duration

_STATUS = {"finished": "✓", "failed": "✗", "interrupted": "■", "running": "…", "waiting": "…", "unknown": "?"}
_NOT_ENDED = ("running", "waiting", "unknown")


def tree_lines(node: RunNode) -> Iterator[str]:
    """One line per run and step, drawn as a tree."""
    yield _run_text(node)
    yield from _branches(node.steps, "")


def _branches(steps: tuple[StepNode, ...], indent: str) -> Iterator[str]:
    for step in steps:
        is_last = step is steps[-1]
        yield f"{indent}{'└─' if is_last else '├─'} {_step_text(step)}"
        below = indent + ("   " if is_last else "│  ")
        child_steps = step.child.steps if step.child is not None else ()
        if step.child is not None:
            yield f"{below}{'└─' if not step.steps else '├─'} {_run_text(step.child)}"
            yield from _branches(child_steps, below + ("   " if not step.steps else "│  "))
        yield from _branches(step.steps, below)


def _run_text(node: RunNode) -> str:
    if node.status == "missing":
        return f"? run {on_one_line(node.run_id)} ({on_one_line(node.name)}): its journal is not here"
    words = [_STATUS[node.status], on_one_line(node.name), "run", on_one_line(node.run_id)]
    parts = [" ".join(word for word in words if word)]
    parts += _counts(node.messages, node.tool_calls)
    return ", ".join(parts + _ending(node.status, node.error, node.started_at, node.ended_at))


def _step_text(step: StepNode) -> str:
    turn = f" #{step.iteration}" if step.iteration else ""
    parts = [f"{_STATUS[step.status]} {on_one_line(step.name)}{turn} ({on_one_line(step.kind)}{_spawned_by(step)})"]
    parts += _counts(step.messages, step.tool_calls)
    return ", ".join(parts + _ending(step.status, step.error, step.started_at, step.ended_at))


def _spawned_by(step: StepNode) -> str:
    """The call that spawned a subagent, by its id and the number of its event."""
    if step.call_id is None:
        return ""
    seq = "" if step.call_seq is None else f", seq {step.call_seq}"
    return f", call {on_one_line(step.call_id)}{seq}"


def _counts(messages: int, tool_calls: int) -> list[str]:
    counted = [(messages, "message"), (tool_calls, "tool call")]
    return [f"{number} {noun}{'s' if number > 1 else ''}" for number, noun in counted if number]


def _ending(status: str, error: str | None, started_at: str | None, ended_at: str | None) -> list[str]:
    if status in _NOT_ENDED:
        return ["waiting" if status == "waiting" else "not ended"]
    took = _seconds_between(started_at, ended_at)
    parts = [] if took is None or took < 0 else [duration(took)]
    return [*parts, f"failed: {on_one_line(error)}"] if error else parts


def _seconds_between(start: str | None, end: str | None) -> float | None:
    try:
        return (datetime.fromisoformat(end or "") - datetime.fromisoformat(start or "")).total_seconds()
    except (ValueError, TypeError):
        return None
