"""Events folded into larger things: messages, units, pairs of calls, usage, trees, what was left open. No I/O."""

from stenograph.fold.calls import CallPair, pair_calls
from stenograph.fold.messages import Message, count_messages, messages
from stenograph.fold.open_ends import OpenEnd, OpenEnds, open_ends
from stenograph.fold.tree import RunNode, StepNode, step_tree
from stenograph.fold.units import Unit, units
from stenograph.fold.usage import Usage, UsageCounter, UsageTotals, usage_totals

__all__ = [
    "CallPair",
    "Message",
    "OpenEnd",
    "OpenEnds",
    "RunNode",
    "StepNode",
    "Unit",
    "Usage",
    "UsageCounter",
    "UsageTotals",
    "count_messages",
    "messages",
    "open_ends",
    "pair_calls",
    "step_tree",
    "units",
    "usage_totals",
]
