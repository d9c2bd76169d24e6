"""Bundles and texts of runs that the archive keeps, also when the agent's own files are gone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from archive_of_goldens import CHILD, CLAUDE, PARENT, WORKFLOW, make_archive
from stenograph.archive import IndexReader
from stenograph.bundle import DebugBundle
from stenograph.transcript import reconstruct_transcript


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of real sessions, which are no more."""
    home, sessions = make_archive(tmp_path_factory.mktemp("archive"))
    shutil.rmtree(sessions)
    return home


@pytest.fixture(autouse=True)
def _elsewhere(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STENOGRAPH_HOME", str(home))
    monkeypatch.chdir(tmp_path)


def steno(*arguments: str, code: int = 0) -> str:
    """What a command prints; it must end with that code."""
    done = subprocess.run([sys.executable, "-m", "stenograph", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done.stdout


def bundle_of(run_id: str, *options: str) -> DebugBundle:
    steno("bundle", "create", run_id[:13], "-o", "a.zip", *options)
    bundle = DebugBundle.load("a.zip")
    assert bundle.verify().ok
    assert bundle.manifest.run_id == run_id
    assert bundle.manifest.problems == ()
    return bundle


def test_a_session_with_a_subagent_is_whole(home: Path) -> None:
    """Every event that the archive has, those of the subagent among them, with a page and a log that gives it back."""
    bundle = bundle_of(CLAUDE)
    with IndexReader(home) as archive:
        assert bundle.events == list(archive.events(archive.find_run(CLAUDE)[0]))
    assert any(event.source.startswith("subagent:") for event in bundle.events)
    assert [entry.as_dict() for entry in reconstruct_transcript(bundle.logs)] == sorted(
        (json.loads(json.dumps(entry.as_dict())) for entry in bundle.entries),
        key=lambda entry: (entry["source"], entry["sequence_number"]),
    )
    assert "<main>" in bundle.read("transcript.html").decode()
    assert bundle.manifest.source == str(home)


@pytest.mark.parametrize("run_id", [PARENT, WORKFLOW])
def test_the_runs_that_a_run_called_are_beside_it(home: Path, run_id: str) -> None:
    """Threads of Codex and runs of a workflow; nothing is said to be missing."""
    bundle = bundle_of(run_id)
    manifest = bundle.manifest
    assert manifest.child_run_ids
    assert manifest.missing_run_ids == ()
    with IndexReader(home) as archive:
        for child in manifest.child_run_ids:
            events = list(archive.events(archive.find_run(child)[0]))
            assert bundle.child_events(child) == events
            assert manifest.counts.child_events >= len(events) > 0
    assert (CHILD in manifest.child_run_ids) == (run_id == PARENT)


def test_a_run_that_was_called_is_a_bundle_of_its_own() -> None:
    """Without the one that called it."""
    bundle = bundle_of(CHILD)
    assert bundle.manifest.parent_run_id == PARENT
    assert bundle.manifest.child_run_ids == ()
    assert {event.run_id for event in bundle.events} == {CHILD}


def test_it_can_be_asked_and_masked() -> None:
    """As any other bundle."""
    bundle_of(PARENT, "--redact")
    asked = steno("query", "a.zip", "SELECT count(DISTINCT run_id) AS runs FROM events", "--json")
    assert json.loads(asked) == [{"runs": 2}]


def test_an_archived_run_is_written_as_text() -> None:
    """One file per prompt, though nobody has the agent's file any more."""
    files = json.loads(steno("text", CLAUDE[:13], "--root", "texts", "--json"))["files"]
    assert len(files) >= 1
    assert all(f"Thread ID: {CLAUDE}\n" in Path(file).read_text() for file in files)


def test_a_run_that_nobody_has_is_one_clear_line() -> None:
    """For bundles and for texts."""
    steno("bundle", "create", "00000000-0000-4000", code=3)
    steno("text", "00000000-0000-4000", code=3)
