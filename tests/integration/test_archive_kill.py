"""Killing `steno sync` and `steno watch` at random moments, while agents write."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from archive_cases import claude_line, rows, session_path, synced, whole_index, written
from stenograph.archive.index.schema import open_index
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import roots_of
from stenograph.archive.store.home import home_of
from stenograph.archive.store.kept_file import KeptBytes
from stenograph.archive.writer import Store
from stenograph.errors import StenographError

COMMAND = "import sys; from stenograph.cli.commands.{0} import command; command(sys.argv[1:])"
SESSIONS = [f"0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0{number:02}" for number in range(5)]


def start(name: str, home: Path, archive: Path) -> subprocess.Popen[bytes]:
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND.format(name), "--home", str(home)],
        env={**os.environ, "STENOGRAPH_HOME": str(archive)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def write_all(home: Path, start: int, count: int) -> None:
    """Some more lines for every session."""
    for number, session in enumerate(SESSIONS):
        first = start + number * 10_000
        lines = [claude_line(first + each, "assistant", "word " * 200, session) for each in range(count)]
        written(session_path(home, session), *lines)


def check(home: Path, archive: Path, lines: int) -> None:
    """Nothing lost, nothing doubled, and the index is what the packs say."""
    synced(home, archive)
    counts = rows(archive, "SELECT run_id, count(*), count(DISTINCT message_id) FROM events JOIN runs ON runs.id = run"
                           " WHERE type = 'message.assistant' GROUP BY run_id")  # fmt: skip
    assert sorted(counts) == [(session, lines, lines) for session in SESSIONS]
    index = open_index(archive, readonly=True)
    kept = KeptBytes(index, archive / "kept")
    for number, path, version in index.execute("SELECT id, path, version FROM files").fetchall():
        assert b"".join(kept.chunks(number, version)) == Path(path).read_bytes()
    index.close()
    maintained = whole_index(archive)
    with Store(home_of(archive), rebuild=True):
        pass
    assert whole_index(archive) == maintained


def test_killed_syncs_lose_and_double_nothing(tmp_path: Path) -> None:
    """Ten syncs, each killed somewhere, while files grow between them."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    chance = random.Random(5)
    total = 0
    killed = 0
    for number in range(10):
        write_all(home, number * 100, 20)
        total += 20
        child = start("sync", home, archive)
        time.sleep(chance.uniform(0.1, 0.6))
        killed += child.poll() is None
        child.kill()
        child.communicate()
    assert killed > 0
    check(home, archive, total)


def write_much(home: Path) -> int:
    """Sessions with so much text that words are written while the next lines are read; how many lines each has."""
    lines = 25
    for number, session in enumerate(SESSIONS):
        chance = random.Random(number)
        for each in range(lines):
            text = " ".join(f"{chance.getrandbits(3000):x}" for _ in range(150))
            written(session_path(home, session), claude_line(number * 10_000 + each, "assistant", text, session))
    return lines


def test_a_large_sync_killed_while_words_are_written_loses_nothing(tmp_path: Path) -> None:
    """Three are killed at different moments of a first sync of 14 MB."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    lines = write_much(home)
    for moment in (0.4, 0.7, 1.0):
        child = start("sync", home, archive)
        time.sleep(moment)
        child.kill()
        child.communicate()
    check(home, archive, lines)


def test_a_sync_that_fails_or_is_interrupted_loses_nothing(tmp_path: Path) -> None:
    """No room for the index, then Ctrl-C: the caller hears of it, no thread is left, the next sync has everything."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    lines = write_much(home)
    store = Store(home_of(archive))
    store.connection.execute("PRAGMA max_page_count = 1000")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        sync(store, roots_of({}, home, archive))
    store.close()
    assert is_nobody_left()

    def interrupted(done: int, of: int) -> None:
        if done == of - 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Store(home_of(archive), rebuild=True) as store:
        sync(store, roots_of({}, home, archive), interrupted)
    assert is_nobody_left()
    check(home, archive, lines)


def is_nobody_left() -> bool:
    """Whether no thread of the archive lives on."""
    return not [thread for thread in threading.enumerate() if thread.name == "stenograph-archive"]


def test_killed_watches_lose_and_double_nothing(tmp_path: Path) -> None:
    """Four watches, each killed while files grow under its eyes; the last one is asked to end, and ends well."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    chance = random.Random(6)
    total = 0
    for _ in range(4):
        child = start("watch", home, archive)
        for _ in range(4):
            write_all(home, total, 5)
            total += 5
            time.sleep(chance.uniform(0.05, 0.3))
        child.kill()
        child.communicate()
    child = start("watch", home, archive)
    assert b"watching" in child.stderr.readline()  # from then on it can be asked to end
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not is_done(archive, total):
        time.sleep(0.1)
    child.send_signal(signal.SIGTERM)
    assert child.wait(120) == 0, child.communicate()
    child.communicate()
    assert is_done(archive, total)
    check(home, archive, total)


def is_done(archive: Path, lines: int) -> bool:
    """Whether the index has every line."""
    query = "SELECT count(*) FROM events WHERE type = 'message.assistant'"
    try:
        return rows(archive, query) == [(lines * len(SESSIONS),)]
    except StenographError:  # it is only just being made
        return False


def test_one_watch_at_a_time(tmp_path: Path) -> None:
    """A second watch of an archive is refused with the pid of the first."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    write_all(home, 0, 1)
    first = start("watch", home, archive)
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not (archive / "index.db").exists():
            time.sleep(0.05)
        second = start("watch", home, archive)
        _, error = second.communicate(timeout=120)
        assert second.returncode != 0
        assert f"process {first.pid}".encode() in error
    finally:
        first.kill()
        first.communicate()
