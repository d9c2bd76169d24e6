"""What a sync costs at full size, counted by the kernel: nothing for what is unchanged, little for what has grown."""

from __future__ import annotations

from pathlib import Path

import pytest

from archive_cases import claude_line, rows, session_path, synced, written
from file_reads import needs_strace, traced_sync

SUBAGENTS = 99
LONG = 4 << 20


@needs_strace
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("sessions", [10, pytest.param(100, marks=pytest.mark.scale)])
def test_idle_sync_over_ten_thousand_files_reads_no_byte(tmp_path: Path, sessions: int) -> None:
    """A hundred sessions with a hundred files each, all kept: not one of them is even opened."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    for number in range(sessions):
        main = session_path(home, f"0f1e2d3c-4b5a-4978-8695-{number:012}")
        written(main, claude_line(number, session=main.stem))
        for each in range(SUBAGENTS):
            path = main.with_suffix("") / "subagents" / f"agent-a{each}.jsonl"
            written(path, claude_line(each, session=main.stem, isSidechain=True, agentId=f"a{each}"))
    assert synced(home, archive).new == sessions * (SUBAGENTS + 1)
    summary, read = traced_sync(archive, "--home", home, tmp_path / "logs")
    assert (summary["unchanged"], summary["bytes_read"], summary["bytes_written"]) == (sessions * (SUBAGENTS + 1), 0, 0)
    assert not read


@needs_strace
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("lines", [8, pytest.param(125, marks=pytest.mark.scale)])
def test_a_kilobyte_more_of_500_megabytes_reads_64_kib(tmp_path: Path, lines: int) -> None:
    """The end of what was kept and what is new are read, and only the new event is indexed."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    path = written(session_path(home), claude_line(1))
    # What was in a file that a prompt mentioned: of the harness's words the index holds little, so this takes seconds.
    file_line = claude_line(3, type="attachment", attachment={"type": "file", "content": "@@"})
    before, _, after = file_line.partition(b"@@")
    with path.open("ab") as file:
        for _ in range(lines):
            file.writelines((before, b"x" * LONG, after))
    assert path.stat().st_size > lines * 4_000_000
    synced(home, archive)
    (events,) = rows(archive, "SELECT count(*) FROM events")[0]
    written(path, claude_line(4, "user", "z" * 650))
    summary, read = traced_sync(archive, "--home", home, tmp_path / "logs")
    path.unlink()
    assert (summary["grown"], summary["events"]) == (1, 1)
    assert rows(archive, "SELECT count(*) FROM events")[0] == (events + 1,)
    assert summary["bytes_read"] == read.total() <= 65536
