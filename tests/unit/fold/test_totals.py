"""The totals of a run are those of the folds, and of a count by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden_cases import CASES, name_of
from stenograph.fold.calls import pair_calls
from stenograph.fold.messages import count_messages
from stenograph.fold.totals import Totals, totals_of
from stenograph.fold.units import units
from stenograph.fold.usage import usage_totals
from stenograph.model import Event, decode


def test_an_empty_run_has_nothing() -> None:
    """And says so by numbers."""
    assert totals_of([]) == Totals()


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_totals_are_those_of_the_folds(case: Path) -> None:
    """Of every golden case, run by run."""
    runs: dict[str, list[Event]] = {}
    for line in (case / "expected.jsonl").read_bytes().splitlines():
        event = decode(line)
        runs.setdefault(event.run_id, []).append(event)
    for events in runs.values():
        pairs = [pair for pair in pair_calls(events) if pair.call is not None]
        strays = [pair for pair in pair_calls(events) if pair.call is None]
        totals = totals_of(events)
        assert totals.messages == count_messages(events)
        assert totals.turns == sum(unit.number > 0 for unit in units(events))
        assert totals.tool_calls == len(pairs)
        assert totals.failed_calls == sum(pair.error is not None for pair in pairs)
        assert totals.open_calls == sum(pair.result is None for pair in pairs)
        errors = sum(event.type == "error" for event in events)
        assert totals.errors == errors + totals.failed_calls + sum(pair.error is not None for pair in strays)
        assert totals.subagents == len({event.source for event in events} - {"main"})
        assert totals.usage == usage_totals(events)
        assert totals.tokens == totals.usage.total
