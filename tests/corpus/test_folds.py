"""The folds over transcripts that nobody here made: all counters agree, and every tool is in a table or named here."""

from __future__ import annotations

from pathlib import Path

import pytest

from counters import of_bundle, of_pages, of_totals, of_trees
from shared_folder import SHARED
from stenograph.errors import StenographError
from stenograph.fold.actions import action
from stenograph.fold.agent_tables import tables_of
from stenograph.fold.calls import pair_calls
from stenograph.fold.status import STATUSES, RunStatus
from stenograph.fold.totals import totals_of
from stenograph.model import Event
from stenograph.sources.conversion import convert

pytestmark = pytest.mark.corpus
LARGEST = 3_000_000
HOSTS_OWN = ("mcp__", "tiny__")
"""Tools of MCP servers: nobody's table can name them."""
TITLES = {"list files"}


def _runs() -> list[list[Event]]:
    found: list[list[Event]] = []
    for path in sorted((SHARED / "captures").rglob("*.json*")):
        if path.stat().st_size > LARGEST:
            continue
        runs: dict[str, list[Event]] = {}
        try:
            for event in convert(path, keep_raw=False):
                runs.setdefault(event.run_id, []).append(event)
        except StenographError:
            continue  # not a transcript
        found += runs.values()
    return found


def test_folds_over_captures(tmp_path: Path) -> None:
    """Counters, tools and statuses of every capture."""
    runs = _runs()
    assert runs
    for number, events in enumerate(runs):
        truth = of_totals(totals_of(events))
        folder = tmp_path / str(number)
        folder.mkdir()
        own = [event for event in events if event.child_run_id is None]
        told = of_trees(events) | of_pages(events)
        assert not {name: each for name, numbers in told.items() if (each := truth.differences(numbers))}
        bundled = of_bundle(own, folder)
        truth = of_totals(totals_of(own))
        assert not {name: each for name, numbers in bundled.items() if (each := truth.differences(numbers))}
        status = RunStatus()
        for event in events:
            status.add(event)
        assert status.verdict().status in STATUSES
        for pair in pair_calls(events):
            if pair.call is None or pair.name.startswith(HOSTS_OWN) or pair.name in TITLES:
                continue
            origin = pair.call.origin
            assert pair.name in tables_of(None if origin is None else origin.adapter).tools, pair.name
            assert action(pair).kind
