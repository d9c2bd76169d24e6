"""What a person may call a journal."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from stenograph import RunNotFound, SourceError
from stenograph.errors import AmbiguousRun, InvalidRunId
from stenograph.journal.place import find_journal, journal_path, storage_root

FIRST = "550e8400-e29b-41d4-a716-446655440000"
SECOND = "550e8400-ffff-41d4-a716-446655440000"


@pytest.fixture
def journals(root: Path) -> Path:
    folder = root / "transcripts"
    folder.mkdir(parents=True)
    for run_id in (FIRST, SECOND):
        (folder / f"{run_id}.jsonl").touch()
        (folder / f"{run_id}.jsonl.torn").touch()
    (folder / "notes.txt").touch()
    return folder


@pytest.mark.parametrize("target", [FIRST, FIRST.upper(), "550e8400-e", "550E8400-E29B"])
def test_a_run_is_found_by_its_id_or_a_unique_beginning(root: Path, journals: Path, target: str) -> None:
    """Upper case is fine."""
    assert find_journal(target, root) == journals / f"{FIRST}.jsonl"


def test_a_path_is_taken_as_it_is(root: Path, journals: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that reads like the beginning of a run id."""
    path = journals / f"{SECOND}.jsonl"
    assert find_journal(path, root) == path
    monkeypatch.chdir(root)
    Path("550e").touch()
    assert find_journal("550e", root) == Path("550e")


def test_an_ambiguous_beginning_names_the_runs(root: Path, journals: Path) -> None:
    """The ids are attributes, so that a program can ask back."""
    with pytest.raises(AmbiguousRun, match="matches 2 runs") as error:
        find_journal("550e", root)
    assert error.value.run_ids == (FIRST, SECOND)


@pytest.mark.parametrize("target", ["9", "no-such-run", "", "../transcripts/x", "x" * 5000, "*", FIRST + "0"])
def test_what_is_not_there_is_not_found(root: Path, journals: Path, target: str) -> None:
    """The message says where was looked; nothing else is raised, however odd the name."""
    with pytest.raises(SourceError):
        find_journal(target, root)


def test_no_storage_at_all_is_not_found(root: Path) -> None:
    """A root that does not exist holds no runs."""
    with pytest.raises(RunNotFound, match="STENOGRAPH_STORAGE"):
        find_journal("550e", root)


def test_a_folder_is_no_journal(root: Path, journals: Path) -> None:
    """It is named as what it is."""
    with pytest.raises(SourceError, match="is a folder"):
        find_journal(str(journals), root)


def test_no_path_is_built_from_what_is_no_run_id(root: Path) -> None:
    """The journal's path stays inside the root."""
    for run_id in ("..", "a/b", "", FIRST + "/../x"):
        with pytest.raises(InvalidRunId):
            journal_path(root, run_id)


def test_the_root_is_the_one_given_or_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the default gives way."""
    assert storage_root() == Path("storage")
    monkeypatch.setenv("STENOGRAPH_STORAGE", "/elsewhere")
    assert storage_root() == Path("/elsewhere")
    assert storage_root(Path("storage")) == Path("/elsewhere")
    assert storage_root("./mine") == Path("mine")


UNREADABLE = """
    import os, sys
    from stenograph import Recorder, SourceError, StoreError, follow, read_events, verify_journal
    from stenograph.journal.place import find_journal

    os.setgid(65534)
    os.setuid(65534)
    closed, run_id = sys.argv[1:]
    for call in (
        lambda: find_journal(run_id, closed),
        lambda: find_journal(os.path.join(closed, "transcripts", run_id + ".jsonl")),
        lambda: read_events(os.path.join(closed, "transcripts", run_id + ".jsonl")),
        lambda: verify_journal(os.path.join(closed, "transcripts", run_id + ".jsonl")),
    ):
        try:
            call()
        except SourceError as error:
            assert "Permission denied" in str(error), error
        else:
            raise AssertionError(call)
    try:
        Recorder(closed, run_id=run_id)
    except StoreError as error:
        assert "Permission denied" in str(error), error
    else:
        raise AssertionError
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_what_one_may_not_look_at_is_said(python: Any) -> None:
    """A root of another user: SourceError and StoreError with the reason, no bare PermissionError."""
    with tempfile.TemporaryDirectory() as folder:  # outside tmp_path, whose parents others cannot enter either
        Path(folder).chmod(0o755)
        closed = Path(folder) / "closed"
        (closed / "transcripts").mkdir(parents=True)
        (closed / "transcripts" / f"{FIRST}.jsonl").touch()
        closed.chmod(0o700)
        python(UNREADABLE, closed, FIRST)
