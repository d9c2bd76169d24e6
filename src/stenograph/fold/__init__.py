"""Events folded into larger things: messages, units, pairs of calls, usage, trees, what was left open. No I/O."""

from stenograph.fold.actions import Action, Change, action
from stenograph.fold.calls import CallPair, CallPairs, pair_calls
from stenograph.fold.messages import Message, count_messages, messages
from stenograph.fold.open_ends import OpenEnd, OpenEnds, open_ends
from stenograph.fold.status import STATUSES, Life, RunStatus, Verdict
from stenograph.fold.totals import Totals, TotalsCounter, totals_of
from stenograph.fold.tree import RunNode, StepNode, step_tree
from stenograph.fold.units import Unit, begins_unit, units
from stenograph.fold.usage import Usage, UsageCounter, UsageTotals, usage_totals

__all__ = [
    "STATUSES",
    "Action",
    "CallPair",
    "CallPairs",
    "Change",
    "Life",
    "Message",
    "OpenEnd",
    "OpenEnds",
    "RunNode",
    "RunStatus",
    "StepNode",
    "Totals",
    "TotalsCounter",
    "Unit",
    "Usage",
    "UsageCounter",
    "UsageTotals",
    "Verdict",
    "action",
    "begins_unit",
    "count_messages",
    "messages",
    "open_ends",
    "pair_calls",
    "step_tree",
    "totals_of",
    "units",
    "usage_totals",
]
