"""Every golden case against every format: its own takes it, and no other would."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile

import pytest

from detection_matrix import Takers, wrong_takers
from golden_cases import CASES, FOLDER, input_of

RELATED = {"scout": {"openai_chat"}}
"""By folder, formats beside its own that may be as sure: a row of a Scout table holds messages of the chat API."""


@pytest.mark.parametrize("folder", sorted({case.parent.name for case in CASES}))
def test_no_format_takes_the_file_of_another(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its own path its format takes it; under any other name that one does or none."""
    takers, wrong, unread = Takers(monkeypatch), {}, []
    allowed = frozenset({folder, *RELATED.get(folder, ())})
    for case in (case for case in CASES if case.parent.name == folder):
        taken_here = set()
        for number, path in enumerate(_files(case)):
            elsewhere = tmp_path / f"550e8400-e29b-41d4-a716-{number:012}{path.suffix}"
            copyfile(path, elsewhere)
            for place in (path, elsewhere):
                taken, scores = takers.of(place)
                taken_here |= {taken} if place == path else set()
                if found := wrong_takers(taken, scores, allowed):
                    wrong[str(path.relative_to(FOLDER))] = found
        unread += [] if folder in taken_here else [case.name]
    assert wrong == {}
    assert unread == []


def _files(case: Path) -> list[Path]:
    """Every file of a case, those beside its transcripts included."""
    found = input_of(case)
    return [found] if found.is_file() else sorted(path for path in found.rglob("*") if path.is_file())
