"""Entry ids over every real transcript that we have: unique, the same from the agent's file and from the archive."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from archive_of_goldens import converted, make_archive
from golden_cases import CASES, input_of, name_of
from stenograph.archive import IndexReader
from stenograph.sources.conversion import convert
from stenograph.transcript import entries


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_ids_are_unique_in_a_real_transcript(case: Path) -> None:
    """Whatever lines its events come from, and however many come from one."""
    made = Counter(entry.entry_id for entry in entries(convert(input_of(case))))
    assert [each for each, number in made.items() if number > 1] == []


def test_the_archive_has_the_ids_of_the_agents_files(tmp_path: Path) -> None:
    """Every run of the golden sessions, whatever numbers the archive gives."""
    home, sessions = make_archive(tmp_path)
    expected: dict[str, set[str]] = defaultdict(set)
    for entry in entries(converted(sessions)):
        expected[str(entry.run_id)].add(str(entry.entry_id))
    with IndexReader(home) as archive:
        for run_id, ids in expected.items():
            told = [str(entry.entry_id) for entry in entries(archive.events(archive.find_run(run_id)[0]))]
            assert len(told) == len(set(told))
            assert set(told) == ids
