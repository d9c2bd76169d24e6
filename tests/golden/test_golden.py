"""Golden cases: what real agents wrote, as events, line by line."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from golden_cases import CASES, input_of, name_of
from stenograph.model import encode
from stenograph.sources.conversion import convert
from stenograph.sources.detection import format_named


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_real_transcript_gives_the_events_it_always_gave(
    case: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Events are compared byte by byte with expected.jsonl; --update-golden rewrites it."""
    source = tmp_path / input_of(case).name
    if input_of(case).is_dir():
        shutil.copytree(input_of(case), source)
    else:
        shutil.copy(input_of(case), source)
    for path in [source, *source.rglob("*")]:
        os.utime(path, (0, 0))
    conversion = convert(source, None if source.is_dir() else format_named(case.parent.name), keep_raw=False)
    got = b"".join(encode(event) + b"\n" for event in conversion)
    expected = case / "expected.jsonl"
    if request.config.getoption("--update-golden"):
        expected.write_bytes(got)
    assert all(file.report.failed == 0 for file in conversion.files)
    assert got.decode().splitlines() == expected.read_text("utf-8").splitlines()
