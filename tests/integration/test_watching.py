"""What `steno watch` does when one of many files changes: no more than that file asks for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from archive_cases import claude_line, rows, session_path, subagent_path, synced, written
from file_reads import READS, STATUSES, needs_strace, traced, tracing
from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import roots_of, transcript_of
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store

FILES = 200
ONE = """
import sys
from pathlib import Path
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import roots_of
home, archive, changed = sys.argv[1:]
with Store(home_of(Path(archive))) as store:
    summary = sync(store, roots_of({}, Path(home), Path(archive)), only={changed})
print(summary.bytes_read, summary.events)
"""


def many_sessions(home: Path) -> list[Path]:
    """Small sessions, ten to a project."""
    found = []
    for number in range(FILES):
        path = session_path(home, f"0f1e2d3c-4b5a-4978-8695-{number:012}")
        place = path.parents[1] / f"project-{number // 10}" / path.name
        found.append(written(place, claude_line(number, session=path.stem)))
    return found


def touched(home: Path, archive: Path, *paths: Path) -> Summary:
    """A sync that is told which files changed."""
    with Store(home_of(archive)) as store:
        return sync(store, roots_of({}, home, archive), only={str(path) for path in paths})


@needs_strace
def test_one_changed_file_costs_one_look(tmp_path: Path) -> None:
    """Of two hundred files one is looked at, and little more than its new bytes is read."""
    home, archive, logs = tmp_path / "home", tmp_path / "archive", tmp_path / "logs"
    paths = many_sessions(home)
    synced(home, archive)
    written(paths[7], claude_line(1000, session=paths[7].stem))
    command = [*tracing(logs, f"{READS},{STATUSES},getdents64"), sys.executable, "-c", ONE]
    done = subprocess.run([*command, str(home), str(archive), str(paths[7])], capture_output=True, check=True)
    read, events = map(int, done.stdout.split())
    calls = [call for call in traced(logs) if call[1].startswith(f"{home}/.claude/projects/")]
    assert {path for _, path, _ in calls} == {str(paths[7])}
    assert sum(int(result) for name, _, result in calls if "read" in name) == read <= 65536
    # Two of them are for a second look at a short beginning that does not name its branch and model so far.
    assert len([name for name, _, _ in calls if "stat" in name]) <= 6
    assert events == 1


def test_what_changed_is_all_there_is_to_do(tmp_path: Path) -> None:
    """Growth, a new file, another name, a deletion: told of the paths, a sync does what one over everything would."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    grown, renamed, deleted, *_ = many_sessions(home)
    synced(home, archive)
    written(grown, claude_line(1000, session=grown.stem))
    fresh = written(session_path(home), claude_line(1))
    other = renamed.with_name("other.jsonl")
    renamed.rename(other)
    deleted.unlink()
    summary = touched(home, archive, grown, fresh, renamed, other, deleted)
    assert (summary.grown, summary.new, summary.moved, summary.gone) == (1, 1, 1, 1)
    again = synced(home, archive)
    assert (again.new, again.grown, again.moved, again.gone, again.events) == (0, 0, 0, 0, 0)


def test_a_subagent_waits_for_the_word_on_its_parent(tmp_path: Path) -> None:
    """A sidecar that is being written is worth a moment: when it has its name, the subagent is kept with its parent."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    written(session_path(home), claude_line(1), claude_line(2, "call"))
    path = written(subagent_path(home), claude_line(3, "assistant", isSidechain=True, agentId="a1"))
    half = path.with_name("agent-a1.meta.json.tmp.123")
    half.write_text("{")
    assert synced(home, archive).new == 1
    half.unlink()
    left = written(subagent_path(home, "a2"), claude_line(4, "assistant", isSidechain=True, agentId="a2"))
    half = left.with_name("agent-a2.meta.json.tmp.123")
    half.write_text("{")
    os.utime(half, (1_000_000, 1_000_000))
    assert touched(home, archive, left).new == 1  # whoever wrote that sidecar never came to its end
    sidecar = path.with_suffix(".meta.json")
    sidecar.write_text(json.dumps({"toolUseId": "toolu_00000002"}))
    told = transcript_of(str(sidecar))
    assert told is not None
    assert touched(home, archive, Path(told)).new == 1
    query = "SELECT parent_call_id FROM sources WHERE source = 'subagent:a1'"
    assert rows(archive, query) == [("toolu_00000002",)]


def test_the_command_looks_at_what_changed(tmp_path: Path) -> None:
    """Live: a change in one file is kept by a look at that file, in an old folder as in a new one."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    paths = many_sessions(home)
    command = [sys.executable, "-m", "stenograph", "watch", "--home", str(home), "--json"]
    environment = {**os.environ, "STENOGRAPH_HOME": str(archive)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        try:
            assert json.loads(running.stdout.readline())["new"] == FILES
            path = written(paths[0].parents[1] / "new" / f"{paths[0].stem[:-1]}x.jsonl", claude_line(1))
            kept = 0
            while not kept:  # a new folder is a reason to look everywhere
                kept = json.loads(running.stdout.readline())["new"]
            numbers = iter(range(2, 1000))
            while True:  # the time to look everywhere may come in between
                written(path, claude_line(next(numbers)))
                summary = json.loads(running.stdout.readline())
                if summary["events"] and not summary["unchanged"]:
                    break
            assert summary["grown"] == 1
        finally:
            running.terminate()
    assert running.returncode == 0
