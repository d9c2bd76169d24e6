"""What wakes the streams: commits, and never a stream's own look at the archive."""

from __future__ import annotations

from pathlib import Path

from archive_cases import claude_line, session_path, synced, written
from stenograph.archive.store.home import home_of
from stenograph.server.feed import _Index, _is_beside
from stenograph.server.site import Site


def test_a_look_at_the_archive_is_not_a_change(tmp_path: Path) -> None:
    """Readers touch the files of the index; a stream that was woken by that would keep a processor busy."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    index = _Index(home_of(archive))
    assert index.has_changed(), "there is no archive to ask yet"
    file = written(session_path(home), claude_line(1))
    synced(home, archive)
    assert index.has_changed()
    for _ in range(3):
        with Site(home_of(archive)).archive() as opened, opened.reading() as reader:
            assert reader.index.execute("SELECT count(*) FROM runs").fetchone() == (1,)
        assert not index.has_changed()
    written(file, claude_line(2))
    synced(home, archive)
    assert index.has_changed()
    assert not index.has_changed()
    synced(home, archive, rebuild=True)
    assert index.has_changed(), "another index is in its place"
    assert not index.has_changed()
    index.close()


def test_other_files_of_the_archive_are_changes(tmp_path: Path) -> None:
    """Stars and names are beside the index."""
    home = home_of(tmp_path)
    assert not _is_beside({str(home.index), f"{home.index}-wal"}, home)
    assert _is_beside({f"{home.index}-wal", str(tmp_path / "marks.json")}, home)
    assert not _is_beside(set(), home)
    assert not _is_beside(None, home)
