"""Reading an archive while its index is made anew, and one that nobody may write to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, claude_line, rows, session_path, synced, whole_index, written
from stenograph import open_archive
from stenograph.archive.index.schema import open_index
from stenograph.archive.keep.replay import Replay
from stenograph.archive.reader import IndexReader
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store

Python = Callable[..., Any]
NUMBER = 40


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A home folder with a session, and its archive."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    written(session_path(home), *(claude_line(number, "user", f"needle {number}") for number in range(1, NUMBER + 1)))
    synced(home, archive)
    return home, archive


def test_readers_see_the_old_index_while_it_is_made_anew(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """New readers and those that have it open, in the middle and at the end; then the new one is there."""
    _, archive = places
    before = whole_index(archive)
    seen = []
    replayed = Replay.run

    def look(replay: Replay) -> None:
        replayed(replay)
        with open_archive(archive) as opened:
            seen.append(
                (len(opened.runs()), len(opened.search("needle", limit=None)), len(opened.sql("SELECT 1 FROM events")))
            )

    monkeypatch.setattr(Replay, "run", look)
    with IndexReader(archive) as reader:
        reader.index.execute("BEGIN")
        assert reader.index.execute("SELECT count(*) FROM events").fetchone() == (NUMBER,)
        with Store(home_of(archive), rebuild=True) as store:
            assert store.is_rebuilt
        assert reader.index.execute("SELECT count(*) FROM events").fetchone() == (NUMBER,)
        reader.index.execute("COMMIT")
        assert reader.find_run(SESSION)[1] == SESSION
    assert seen == [(1, NUMBER, NUMBER)]
    assert whole_index(archive) == before
    assert not list(archive.glob("rebuild.db*"))


def test_a_rebuild_that_was_killed_leaves_the_old_index(places: tuple[Path, Path], python: Python) -> None:
    """The next one begins anew, and nothing is left behind."""
    home, archive = places
    before = whole_index(archive)
    script = """
        import os, sys
        from stenograph.archive.index import publishing
        import stenograph.archive.writer as writer
        writer.publish = lambda *_: os._exit(9)
        from stenograph.archive.store.home import home_of
        writer.Store(home_of(sys.argv[1]), rebuild=True)
    """
    assert python(script, archive, check=False).returncode == 9
    assert list(archive.glob("rebuild.db*"))
    assert whole_index(archive) == before
    synced(home, archive)
    assert whole_index(archive) == before
    assert not list(archive.glob("rebuild.db*"))


@pytest.mark.parametrize("damage", ["gone", "garbage", "older", "cut"])
def test_an_index_that_cannot_be_read_is_replaced(places: tuple[Path, Path], damage: str) -> None:
    """One that is not there, is no database, is of an older version, or has lost its pages."""
    home, archive = places
    before = whole_index(archive)
    index = archive / "index.db"
    if damage == "gone":
        index.unlink()
    elif damage == "garbage":
        index.write_bytes(b"no database at all" * 500)
    elif damage == "cut":
        index.write_bytes(index.read_bytes()[:5000])
    else:
        connection = open_index(archive, readonly=False)
        connection.execute("PRAGMA user_version = 1")
        connection.close()
    assert synced(home, archive).rebuilt
    assert whole_index(archive) == before
    assert (index.stat().st_mode & 0o777) == 0o600


READ = """
    import os, pathlib, sys
    from click.testing import CliRunner
    from stenograph.cli.program import cli

    archive = pathlib.Path(sys.argv[1])
    commands = [["ls", "--json"], ["search", "needle"], ["stats"], ["sql", "SELECT count(*) FROM events"]]
    commands += [["show", "@"], ["tree", "@"], ["errors", "@"], ["ps"]]
    for words in commands:  # loads what they need, which another user may not read
        CliRunner().invoke(cli, words, catch_exceptions=False)
    for path in [archive, *archive.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.getuid() == 0:
        os.setresuid(65534, 65534, 65534)
    try:
        (archive / "x").touch()
    except PermissionError:
        pass
    else:
        raise SystemExit("the folder can be written to")
    for words in commands:
        done = CliRunner().invoke(cli, words, catch_exceptions=False)
        assert done.exit_code == 0, (words, done.output)
        assert words[0] != "ls" or "0f1e2d3c" in done.output
    print("read")
"""


def test_an_archive_that_nobody_may_write_to_can_be_read() -> None:
    """A backup, or the archive of another user; with and without the files that SQLite keeps beside the index."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        written(session_path(place / "home"), claude_line(1, "user", "needle 1"), claude_line(2, "assistant", "Done."))
        synced(place / "home", place / "archive")
        os.utime(session_path(place / "home"), (1, 1))
        for path in (place / "archive").rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        environment = {**os.environ, "STENOGRAPH_HOME": str(place / "archive"), "HOME": str(place)}
        done = subprocess.run(
            [sys.executable, "-c", "if True:" + READ, str(place / "archive")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr[-2000:]) == (0, "read\n", "")


def test_an_index_whose_log_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    """It is not read without what stands in its log alone."""
    script = """
        import pathlib, sys
        from unittest import mock
        import sqlite3
        from stenograph.archive.index.schema import readonly_address
        path = pathlib.Path(sys.argv[1])
        real = sqlite3.connect
        def refuse(*_, **__):
            error = sqlite3.OperationalError("attempt to write a readonly database")
            error.sqlite_errorcode = sqlite3.SQLITE_READONLY
            raise error
        sqlite3.connect = refuse
        print(readonly_address(path).endswith("immutable=1"))
        path.with_name(path.name + "-wal").write_bytes(b"something")
        try:
            readonly_address(path)
        except OSError as error:
            print("copy the archive" in str(error))
    """
    (tmp_path / "index.db").touch()
    done = subprocess.run(
        [sys.executable, "-c", "if True:" + script, str(tmp_path / "index.db")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_rows_are_those_of_before(places: tuple[Path, Path]) -> None:
    """The copy of an index has the words that can be searched, too."""
    _, archive = places
    with Store(home_of(archive), rebuild=True):
        pass
    assert rows(archive, "SELECT count(*) FROM words WHERE words MATCH 'needle'") == [(NUMBER,)]
    assert json.loads(json.dumps(rows(archive, "PRAGMA integrity_check"))) == [["ok"]]
