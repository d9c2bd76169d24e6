"""What failed in a run, and which files it read and changed: as many as the totals say."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden_cases import CASES, name_of, run_of
from stenograph.fold.explain import FileFacts, explain
from stenograph.fold.failures import failures
from stenograph.fold.files import FileUse, files
from stenograph.fold.status import NOT_KNOWN
from stenograph.fold.totals import totals_of
from stenograph.query.prices import load_prices


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_as_much_failed_and_changed_as_everywhere_else(case: Path) -> None:
    """The errors of the totals, and the changed files of the explanation, each with its lines."""
    events = run_of(case)
    found = failures(events)
    assert len(found) == totals_of(events).errors
    assert [each.seq for each in found] == sorted(each.seq for each in found)
    told = explain(events, load_prices(), NOT_KNOWN)
    found_files = files(events)
    changed = {each.path: _numbers(each) for each in found_files if each.changes}
    assert changed == {each.path: _numbers(each) for each in told.files}
    assert all(each.reads or each.changes or each.failed for each in found_files)


def _numbers(each: FileUse | FileFacts) -> tuple[object, ...]:
    return each.changes, each.added, each.removed, each.kinds


def test_goldens_have_some_of_each() -> None:
    """So that the comparison above compares something."""
    runs = [run_of(case) for case in CASES]
    assert sum(len(failures(events)) for events in runs) > 50
    uses = [use for events in runs for use in files(events)]
    assert sum(use.reads for use in uses) > 20
    assert sum(use.changes for use in uses) > 20
    assert sum(use.failed for use in uses) > 5
