"""The golden cases, compared with an independent count: `tests/oracle` knows `json` and nothing of us."""

from __future__ import annotations

from pathlib import Path

import pytest

from comparison import count, different, oracle, parsed
from golden_cases import CASES, files_of, name_of
from stenograph.formats.registry import formats

FILES = [
    pytest.param(case.parent.name, path, id=f"{name_of(case)}-{path.name}")
    for case in CASES
    for path in files_of(case)
    if case.parent.name != "exchange"
]


@pytest.mark.parametrize(("name", "path"), FILES)
def test_an_independent_count_finds_the_same(name: str, path: Path) -> None:
    """Tools, failures, words and tokens of every real transcript that the project holds, in every format."""
    events, report = parsed(formats()[name], path)
    ours, theirs = count(events, report), oracle(name).count(path)
    assert {key: (ours[key], theirs[key]) for key in different(ours, theirs)} == {}
