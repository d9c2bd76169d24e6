"""Events folded into larger things: the tree of steps, what was left open. No I/O."""

from stenograph.fold.open_ends import OpenEnd, OpenEnds, open_ends
from stenograph.fold.tree import RunNode, StepNode, step_tree

__all__ = ["OpenEnd", "OpenEnds", "RunNode", "StepNode", "open_ends", "step_tree"]
