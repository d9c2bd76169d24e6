"""An archive with the sample run and golden sessions, in a folder that `steno serve` can be pointed at."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import page_sample
from golden_cases import input_of
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.model import encode

SAMPLE = page_sample.RUN_ID


def sample_archive(folder: Path, cases: Iterable[Path] = ()) -> Path:
    """Make `folder/archive` of the sample run and of golden cases; gives the folder."""
    sessions = folder / "sessions"
    sessions.mkdir(parents=True)
    with (sessions / f"{SAMPLE}.jsonl").open("wb") as journal:
        for event in page_sample.events():
            journal.write(encode(event).rstrip(b"\n") + b"\n")
    for case in cases:
        given, place = input_of(case), sessions / case.parent.name / case.name
        if given.is_dir():
            shutil.copytree(given, place)
        else:
            place.mkdir(parents=True)
            shutil.copy(given, place / f"{case.name}{given.suffix}")
    with Store(home_of(folder / "archive")) as store:
        summary = sync(store, [Root(sessions.resolve(), None)])
    assert summary.failed == 0, summary.problems
    return folder
