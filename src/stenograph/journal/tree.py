"""A run with every run it called, from the journals in one folder."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from stenograph.errors import InvalidRunId, SourceError
from stenograph.fold.tree import RunNode, StepNode, step_tree
from stenograph.journal.place import SUFFIX, Root, find_journal
from stenograph.journal.reader import read_events
from stenograph.liveness import Liveness
from stenograph.model.ids import check_run_id


def run_tree(root: Root, run_id: str) -> RunNode:
    """The tree of a run: steps, iterations, sub-workflows to any depth. A run without a journal is `missing`."""
    return tree_of(find_journal(run_id, root))


def tree_of(journal: Path) -> RunNode:
    """The tree of the run in a journal; the journals of the runs it called are beside it."""
    return _grown(journal, frozenset())


def missing_runs(node: RunNode) -> list[str]:
    """The ids of all runs in a tree that have no journal."""
    if node.status == "missing":
        return [node.run_id]
    return [run_id for step in _all_steps(node.steps) if step.child for run_id in missing_runs(step.child)]


def _all_steps(steps: tuple[StepNode, ...]) -> list[StepNode]:
    return [each for step in steps for each in (step, *_all_steps(step.steps))]


def _grown(journal: Path, above: frozenset[str]) -> RunNode:
    node = step_tree(read_events(journal), Liveness().of([journal], is_journal=True))
    above |= {node.run_id}
    steps = tuple(_with_children(step, journal.parent, above) for step in node.steps)
    return replace(node, steps=steps, journal=str(journal))


def _with_children(step: StepNode, folder: Path, above: frozenset[str]) -> StepNode:
    steps = tuple(_with_children(each, folder, above) for each in step.steps)
    child = step.child
    if child is not None and child.run_id not in above:  # a run that calls itself would never end
        child = _child(child, folder, above)
    return replace(step, steps=steps, child=child)


def _child(child: RunNode, folder: Path, above: frozenset[str]) -> RunNode:
    try:
        return _grown(folder / f"{check_run_id(child.run_id)}{SUFFIX}", above)
    except (InvalidRunId, SourceError):
        return child
