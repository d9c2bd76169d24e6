"""`steno watch`: mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--otlp", "nowhere"], "http://127.0.0.1:4318"),
        (["--otlp", "http://h", "--header", "x"], "name=value"),
        (["--otlp", "http://h", "--vocabulary", "x", "--content", "full"], "genai, openinference"),
        (["--redact"], "--otlp URL"),
    ],
)
def test_mistakes_are_told_before_anything_begins(steno: Any, tmp_path: Path, options: list[str], word: str) -> None:
    """A wrong address, a header without a value, a word that is unknown, options without --otlp."""
    done = steno("watch", "--home", tmp_path, "--archive", tmp_path / "archive", *options)
    assert (done.code, word in done.err, done.out) == (2, True, "")
    assert not (tmp_path / "archive").exists()
