"""Real transcripts as every kind of run: what each source said is the same wherever it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from archive_of_goldens import CASES, copy_case, make_archive
from run_kinds import told
from stenograph import Recorder, RunReader, entries, open_archive, open_run
from stenograph.bundle import BundleOptions, create_bundle
from stenograph.errors import AmbiguousRun
from stenograph.sources.conversion import sessions_in

ALL = [(kind, case) for kind, cases in CASES.items() for case in cases]
FIELDS = (
    "run_id",
    "started_at",
    "ended_at",
    "duration_ms",
    "turns",
    "messages",
    "tool_calls",
    "failed_calls",
    "open_calls",
    "errors",
    "subagents",
    "title",
    "model",
)
COPIED = ("tool_calls", "failed_calls", "open_calls", "errors")
"""What a fork copied counts in the run that it came from, where that is at hand."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The archive of the golden sessions, and their folder."""
    return make_archive(tmp_path_factory.mktemp("golden"))


@pytest.mark.parametrize(("kind", "case"), ALL, ids=["/".join(pair) for pair in ALL])
def test_a_session_is_the_same_as_journal_bundle_and_archived_run(
    made: tuple[Path, Path], tmp_path: Path, kind: str, case: str
) -> None:
    """Events per source, entries with their ids, times and counts; tokens of a fork are its own in an archive only."""
    home, _ = made
    for found in sessions_in(copy_case(kind, case, tmp_path / "input")):
        with open_run(found.path) as run:
            wanted = _facts(run)
        events = list(open_run(found.path).events())
        with Recorder(tmp_path / "storage", run_id=run.kind.run_id) as recorder:
            for event in events:
                recorder.append(event)
        with open_run(recorder.path) as journal:
            assert _facts(journal) == wanted
        options = BundleOptions(environment=False, page=False)
        with open_run(create_bundle(tmp_path / "a.zip", open_run(found.path).events(), options=options)) as bundle:
            assert _facts(bundle) == wanted
        with open_archive(home).run(run.kind.run_id) as archived:
            kept = _facts(archived)
        for name in COPIED if "fork" in case else ():  # an archive that has the other run counts these there
            del kept[name], wanted[name]
        assert kept == wanted
        recorder.path.unlink()


def test_a_folder_of_many_sessions_is_ambiguous(made: tuple[Path, Path]) -> None:
    """It says how many there are."""
    with pytest.raises(AmbiguousRun, match=r"holds \d+ sessions"):
        open_run(made[1])


def _facts(run: RunReader) -> dict[str, object]:
    info = run.info.to_dict()
    ids = {(entry.source, entry.entry_id): (entry.entry_type, entry.content) for entry in entries(run.events())}
    return {"events": told(run.events()), "entries": ids, **{name: info[name] for name in FIELDS}}
