"""Folders as they are: links, pipes, devices, what we may not read, what moves under our hands, clocks that jump."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from archive_cases import SESSION, claude_line, rows, session_path, subagent_path, synced, written
from stenograph.archive import IndexReader
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import roots_of
from stenograph.archive.store.home import home_of
from stenograph.archive.store.restore import restore_files
from stenograph.archive.writer import Store
from stenograph.sources import convert

NOBODY = 65534
SECRET = b"a secret that is in no folder of ours"
OTHER = "11111111-4b5a-4978-8695-a4b3c2d1e0f0"


def parked(number: int, name: str) -> bytes:
    """A result whose text is in a file of its own."""
    text = f"<persisted-output>\nOutput too large. Full output saved to: /x/tool-results/{name}\n\nfirst words"
    return claude_line(number, "result", text)


def kept_bytes(archive: Path, folder: Path) -> bytes:
    """All that an archive gives back."""
    with IndexReader(archive) as opened:
        for (run_id,) in rows(archive, "SELECT DISTINCT run_id FROM files"):
            restore_files(opened, run_id, folder / run_id)
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("link", ["file", "folder", "sidecar", "subagents", "session"])
def test_no_link_leads_out_of_the_roots(tmp_path: Path, link: str) -> None:
    """Neither that of a session or a subagent, nor of what belongs to them, nor of a folder on the way."""
    home, archive, outside = tmp_path / "home", tmp_path / "archive", tmp_path / "outside"
    outside.mkdir()
    written(session_path(home), claude_line(1), claude_line(2, "call"), parked(3, "b1.txt"))
    place = session_path(home).with_suffix("")
    (outside / "b1.txt").write_bytes(SECRET)
    agent = claude_line(4, "user", SECRET.decode(), isSidechain=True, agentId="a1")
    match link:
        case "file":
            (place / "tool-results").mkdir(parents=True)
            (place / "tool-results" / "b1.txt").symlink_to(outside / "b1.txt")
        case "folder":
            place.mkdir()
            (place / "tool-results").symlink_to(outside)
        case "sidecar":
            written(subagent_path(home), claude_line(4, isSidechain=True, agentId="a1"))
            subagent_path(home).with_suffix(".meta.json").symlink_to(outside / "b1.txt")
        case "subagents":
            written(outside / "agent-a1.jsonl", agent)
            place.mkdir()
            (place / "subagents").symlink_to(outside)
        case "session":
            written(outside / "tool-results" / "b1.txt", SECRET)
            written(outside / "subagents" / "agent-a1.jsonl", agent)
            place.symlink_to(outside)
    synced(home, archive)
    written(session_path(home), claude_line(9))
    synced(home, archive)
    assert SECRET not in kept_bytes(archive, tmp_path / "out")
    assert rows(archive, "SELECT rowid FROM words WHERE words MATCH 'secret'") == []


def test_an_id_in_a_transcript_is_no_path(tmp_path: Path) -> None:
    """A session that calls itself by a path makes us read nothing there."""
    home, archive, outside = tmp_path / "home", tmp_path / "archive", tmp_path / "outside"
    written(outside / "tool-results" / "b1.txt", SECRET)
    for number, name in enumerate((str(outside), "../../../outside", "..", f"{outside}/x/..")):
        path = session_path(home).with_name(f"not-a-uuid-{number}.jsonl")
        written(path, claude_line(1, session=name), parked(2, "b1.txt").replace(SESSION.encode(), name.encode()))
        assert SECRET.decode() not in str(list(convert(path)))
    synced(home, archive)
    assert SECRET not in kept_bytes(archive, tmp_path / "out")


def test_pipes_sockets_and_devices_are_passed_by(tmp_path: Path) -> None:
    """With the names of transcripts, sidecars, parked outputs and databases: nobody waits, and nothing fails."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    written(session_path(home), claude_line(1), claude_line(2, "call"), parked(3, "pipe.txt"))
    subagent = written(subagent_path(home), claude_line(4, isSidechain=True, agentId="a1"))
    results = session_path(home).with_suffix("") / "tool-results"
    results.mkdir()
    os.mkfifo(results / "pipe.txt")
    os.mkfifo(subagent.with_suffix(".meta.json"))
    os.mkfifo(session_path(home, OTHER))
    data = home / ".local" / "share" / "opencode"
    data.mkdir(parents=True)
    os.mkfifo(data / "opencode.db")
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(session_path(home).parent)
        listener.bind("socket.jsonl")
        os.chdir("/")
        if os.geteuid() == 0:
            os.mknod(session_path(home).with_name("zero.jsonl"), 0o666 | stat.S_IFCHR, os.makedev(1, 5))
        command = [sys.executable, "-m", "stenograph", "sync", "--home", str(home)]
        environment = {**os.environ, "STENOGRAPH_HOME": str(archive)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("2 new, 0 grown, 0 unchanged, "), done.stderr
    assert len(list(convert(session_path(home)))) == 6  # and nobody waits here, either


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that also somebody else than root can reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    subprocess.run(["chmod", "-R", "u+rwx", str(folder)], check=True)
    shutil.rmtree(folder)


AS_NOBODY = """
import os, sys, json
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from archive_cases import synced
home, archive = Path(sys.argv[1]), Path(sys.argv[2])
synced(home, Path(sys.argv[3]))  # so that everything is loaded before the rights are gone
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
summary = synced(home, archive)
print(json.dumps([summary.new, summary.unchanged, summary.gone, summary.failed, summary.problems]))
"""


def test_what_we_may_not_read_is_told_and_not_taken_for_gone(shared: Path) -> None:
    """A file, a folder without its list, and one without its files: each is a failure, the rest is kept."""
    home, archive = shared / "home", shared / "archive"
    place = session_path(home).parents[1]
    paths = [place / folder / f"{SESSION[:-1]}{number}.jsonl" for number, folder in enumerate(("a", "a", "b", "c"))]
    for number, path in enumerate(paths):
        written(path, claude_line(number, session=path.stem))
    archive.mkdir()
    for path in (home, *home.rglob("*"), archive):
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)

    def as_nobody() -> tuple[int, int, int, int, list[str]]:
        folders = str(shared / "warm"), str(Path(__file__).parents[1])
        command = [sys.executable, "-c", AS_NOBODY, str(home), str(archive), *folders]
        done = subprocess.run(command, capture_output=True, check=True, timeout=120)
        shutil.rmtree(shared / "warm")
        new, unchanged, gone, failed, problems = json.loads(done.stdout)
        return new, unchanged, gone, failed, problems

    paths[0].chmod(0)
    new, _, _, failed, problems = as_nobody()
    assert (new, failed) == (3, 1)
    assert problems == [f"cannot read {paths[0]}: Permission denied; check the path and its permissions"]
    paths[0].chmod(0o600)
    (place / "b").chmod(0)
    (place / "c").chmod(0o400)
    new, unchanged, gone, failed, problems = as_nobody()
    assert (new, unchanged, gone, failed) == (1, 1, 0, 2)
    assert {str(place / "b") in problem or str(paths[3]) in problem for problem in problems} == {True}
    (place / "b").chmod(0o700)
    (place / "c").chmod(0o700)
    assert as_nobody() == (0, 4, 0, 0, [])


def test_a_file_that_vanishes_under_our_hands_costs_only_itself(tmp_path: Path) -> None:
    """Between the look and the reading it is deleted: told, and the other sessions are kept."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    first, second = written(session_path(home), claude_line(1)), written(session_path(home, OTHER), claude_line(2))
    os.utime(first, (1, 1))  # the longest unchanged is read first

    def progress(done: int, of: int) -> None:
        if done == 0 and of:
            second.unlink()

    with Store(home_of(archive)) as store:
        summary = sync(store, roots_of({}, home, archive), progress)
    assert (summary.new, summary.failed) == (1, 1)
    assert summary.problems == [f"{second} does not exist; check the path"]
    again = synced(home, archive)
    assert (again.unchanged, again.failed) == (1, 0)


def test_files_that_grow_and_shrink_while_we_read_are_whole_in_the_end(tmp_path: Path) -> None:
    """An agent appends and rewrites as fast as it can; when it stops, what is kept is what is there."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    path = written(session_path(home), claude_line(1))
    stop = threading.Event()

    def write() -> None:
        number = 2
        while not stop.is_set():
            written(path, claude_line(number))
            if number % 50 == 0:
                os.truncate(path, 100)
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(15):
            assert synced(home, archive).failed == 0
    finally:
        stop.set()
        writer.join()
    synced(home, archive)
    assert synced(home, archive).bytes_read == 0
    assert kept_bytes(archive, tmp_path / "out") == path.read_bytes()


@pytest.mark.parametrize("moment", [-(1 << 31), 0, 1, 1 << 33, 1 << 34])
def test_clocks_may_jump(tmp_path: Path, moment: int) -> None:
    """A file from before 1970, from the far future, or that grows older: read once, and on when it grows."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    path = written(session_path(home), claude_line(1))
    synced(home, archive)
    os.utime(path, (moment, moment))
    summary = synced(home, archive)
    assert (summary.unchanged, summary.events, summary.failed) == (1, 0, 0)
    written(path, claude_line(2))
    os.utime(path, (moment - 1, moment - 1))
    summary = synced(home, archive)
    assert (summary.grown, summary.events) == (1, 1)
    other = written(session_path(home, OTHER), b'{"type":"mode","mode":"x"}\n')  # a line that has no time of its own
    os.utime(other, (moment, moment))
    assert synced(home, archive).new == 1
    assert rows(archive, "SELECT count(*) FROM events WHERE timestamp = ''") == [(1,)]  # that line
    assert synced(home, archive).bytes_read == 0
