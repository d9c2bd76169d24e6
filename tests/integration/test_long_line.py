"""A line of 200 MB: what it costs in memory, measured where the system counts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from archive_cases import SESSION, claude_line, session_path

SIZE = 200 << 20
MOST = 6
BASE = 64 << 20
"""What a program takes that reads nothing."""


def _written(path: Path) -> Path:
    """A session with a short line and one of that size."""
    path.parent.mkdir(parents=True)
    begin, end = claude_line(2, "user", "@@").split(b"@@")
    piece = json.dumps("the quick brown fox jumps over it 12345 \n" * 1000)[1:-1].encode()
    with path.open("wb") as file:
        file.write(claude_line(1) + begin)
        for _ in range(SIZE // len(piece)):
            file.write(piece)
        file.write(end)
    return path


def _most_memory(*words: str, archive: Path) -> int:
    """The most bytes that a command, or one of the processes it started, had at once."""
    environment = {**os.environ, "STENOGRAPH_HOME": str(archive)}
    process = subprocess.Popen(
        [sys.executable, "-m", "stenograph", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    )
    _, code, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(code)
    assert process.stderr is not None
    assert process.returncode == 0, process.stderr.read()
    process.stderr.close()
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.scale
@pytest.mark.timeout(1800)
def test_a_line_of_200_mb_costs_at_most_six_times_its_size(tmp_path: Path) -> None:
    """To keep and index it, to find something in it, to show it as text and as a page, to convert and to bundle it."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    path = str(_written(session_path(home)))
    commands = [
        ("show", path),
        ("show", path, "--as", "html"),
        ("verify", path),
        ("convert", path),
        ("bundle", "create", path, "-o", str(tmp_path)),
        ("sync", "--home", str(home)),
        ("show", SESSION),
        ("search", "fox"),
    ]
    costs = {words: _most_memory(*words, archive=archive) for words in commands}
    assert {words: cost >> 20 for words, cost in costs.items() if cost > MOST * SIZE + BASE} == {}
