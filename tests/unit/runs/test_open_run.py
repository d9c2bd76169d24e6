"""Opening a run by whatever a person names, and reading it the same way whatever it is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from archive_cases import SESSION, claude_line, session_path, synced, thread_path, written
from archive_cases import codex_line as codex
from run_kinds import DATABASE_SESSION, make_database, told
from stenograph import RunReader, SourceError, entries, open_run, read_events, start_run
from stenograph.errors import AmbiguousRun, RunNotFound
from stenograph.fold.calls import pair_calls
from stenograph.fold.messages import messages
from stenograph.fold.units import units
from stenograph.fold.usage import usage_totals
from stenograph.runs.target import find_growing
from stenograph.sources import convert


def test_every_kind_gives_the_same_events_per_source(run: RunReader, kinds: dict[str, Path]) -> None:
    """What each source said and did is the same wherever it is read, and numbers go up from 1."""
    events = list(run.events())
    assert told(events) == told(convert(kinds["agent file"]))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


def test_every_kind_gives_the_same_entries(run: RunReader, kinds: dict[str, Path]) -> None:
    """By source, in order, each with the same id and the same content."""
    wanted = {(entry.source, entry.entry_id): entry.content for entry in entries(convert(kinds["agent file"]))}
    found = list(run.entries())
    assert {(entry.source, entry.entry_id): entry.content for entry in found} == wanted
    assert len(found) == len(wanted)


def test_the_rest_is_folded_from_the_events(run: RunReader) -> None:
    """Messages, calls, units and usage are those of the events."""
    events = list(run.events(keep_raw=False))
    assert run.messages() == messages(events)
    assert run.calls() == pair_calls(events)
    assert list(run.units()) == list(units(events))
    assert run.usage() == usage_totals(events)
    assert [unit.number for unit in run.units()] == [1, 2]
    assert len(run.calls()) == 3


def test_a_part_is_chosen_by_numbers_source_and_unit(run: RunReader) -> None:
    """Each filter alone, and together; a part without events is empty and no error."""
    everything = list(run.events())
    assert [event.seq for event in run.events(from_seq=3, to_seq=5)] == [3, 4, 5]
    assert list(run.events(source="main")) == [event for event in everything if event.source == "main"]
    assert {event.source for event in run.events(source="subagent")} == {"subagent:a1"}
    prompts = [event.seq for event in everything if event.type == "message.user" and event.source == "main"]
    assert [event.seq for event in run.events(unit=2)] == list(range(prompts[1], len(everything) + 1))
    assert list(run.events(unit=2, to_seq=1)) == []
    assert list(run.events(from_seq=1000)) == []
    part = list(run.entries(source="subagent"))
    assert part == [entry for entry in run.entries() if entry.source != "main"]


def test_the_tree_has_the_subagent(run: RunReader) -> None:
    """Under the run that it belongs to."""
    tree = run.tree()
    assert tree.run_id == SESSION
    if run.kind.name != "a journal":  # the tree of a journal is that of its steps
        assert [step.name for step in tree.steps] == ["subagent:a1"]


def test_lines_are_json_of_the_events(run: RunReader) -> None:
    """From a number on."""
    found = list(run.lines(from_seq=4))
    assert [event.seq for event, _ in found] == [event.seq for event in run.events(from_seq=4)]
    assert [json.loads(line)["seq"] for _, line in found] == [event.seq for event, _ in found]


def test_it_has_no_problems(run: RunReader) -> None:
    """Every line could be read."""
    assert run.problems() == ()


def test_what_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    """Counted for a journal and for an agent's file, whether it was read before or not."""
    session = written(tmp_path / f"{SESSION}.jsonl", claude_line(1), b"not json\n")
    with open_run(session) as run:
        (problem,) = run.problems()
        assert (problem.kind, problem.number, problem.path) == ("malformed", 1, str(session))
        assert str(problem) == f"{session}: 1 lines are not JSON"
    with start_run("r", root=tmp_path) as recorded:
        recorded.user("Hello")
    with recorded.path.open("ab") as file:
        file.write(b"torn")
    with open_run(recorded.path) as run:
        assert [(each.kind, each.number) for each in run.problems()] == [("torn", 4)]


# Targets


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive with a session of Claude Code and a newer one of Codex."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    written(session_path(home), claude_line(1), claude_line(2, "assistant"))
    written(thread_path(home), codex(0), codex(1))
    synced(home, archive)
    monkeypatch.setenv("STENOGRAPH_HOME", str(archive))
    return archive


@pytest.mark.parametrize("target", [SESSION, SESSION.upper(), SESSION[:4], "@2"])
def test_an_archived_run_is_found_by_its_id_a_beginning_or_its_age(archive: Path, target: str) -> None:
    """`@2` is the one before the newest."""
    with open_run(target) as run:
        assert (run.info.run_id, run.kind.name) == (SESSION, "an archived run")
    with open_run(target, archive=archive, root="elsewhere") as run:
        assert run.info.run_id == SESSION


@pytest.mark.parametrize("target", ["@", "last", "@1"])
def test_the_newest_run_has_short_names(archive: Path, target: str) -> None:
    """The first that `steno ls` lists."""
    with open_run(target) as run:
        assert run.info.agent == "codex"


def test_there_is_no_run_before_the_first(archive: Path) -> None:
    """One line that says so."""
    with pytest.raises(RunNotFound, match="has no run @3"):
        open_run("@3")


def test_a_file_wins_over_a_run_of_that_name(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also over `last`."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(session_path(tmp_path / "home"), "last")
    with open_run("last") as run:
        assert run.kind.place == "last"


def test_a_beginning_may_fit_a_journal_and_an_archived_run(archive: Path, tmp_path: Path) -> None:
    """Then it is ambiguous; of the same run the journal is meant."""
    other = SESSION[:4] + "ffff" + SESSION[8:]
    root = tmp_path / "storage"
    with start_run("r", root=root, run_id=other):
        pass
    with pytest.raises(AmbiguousRun):
        open_run(SESSION[:4], root=root, archive=archive)
    with start_run("r", root=root, run_id=SESSION):
        pass
    with open_run(SESSION, root=root, archive=archive) as run:
        assert run.kind.name == "a journal"


def test_a_root_of_ones_own_leaves_the_archive_out(archive: Path, tmp_path: Path) -> None:
    """A run is looked for where the caller says."""
    with pytest.raises(RunNotFound):
        open_run(SESSION, root=tmp_path / "elsewhere")


def test_a_journal_is_found_although_the_index_is_damaged(archive: Path, tmp_path: Path) -> None:
    """An index that nobody needs is not in the way."""
    with start_run("r", root=tmp_path) as recorded:
        pass
    (archive / "index.db").write_bytes(b"not a database, but long enough to be looked at" * 100)
    with open_run(recorded.run_id[:8], root=tmp_path, archive=archive) as run:
        assert run.info.run_id == recorded.run_id
    with pytest.raises(SourceError, match="steno sync --rebuild"):
        open_run(SESSION, root=tmp_path, archive=archive)


def test_a_session_of_a_database_is_named_after_a_mark(tmp_path: Path) -> None:
    """By the beginning of its id; without one, the only session."""
    other = DATABASE_SESSION[:-1] + "b"
    path = make_database(tmp_path / "opencode.db")
    with open_run(path) as run:
        wanted = told(run.events())
    assert wanted
    both = make_database(tmp_path / "both.db", [DATABASE_SESSION, other])
    with open_run(f"{both}#{DATABASE_SESSION}") as run:
        assert told(run.events()) == wanted
        assert run.info.run_id == next(iter(wanted.values()))[0][0] == run.kind.run_id
    with pytest.raises(AmbiguousRun):
        open_run(both)
    with pytest.raises(AmbiguousRun):
        open_run(f"{both}#ses_")
    with pytest.raises(RunNotFound):
        open_run(f"{both}#ses_nothing_like_it")


def test_a_folder_is_the_one_session_in_it(tmp_path: Path) -> None:
    """Several are ambiguous, and none is an error."""
    with pytest.raises(SourceError, match="no file below"):
        open_run(tmp_path)
    written(tmp_path / "one" / "a.jsonl", claude_line(1))
    with open_run(tmp_path) as run:
        assert run.kind.place == str(tmp_path / "one" / "a.jsonl")
    written(tmp_path / "two" / "b.jsonl", claude_line(1, session=SESSION[::-1]))
    with pytest.raises(AmbiguousRun, match="holds 2 sessions"):
        open_run(tmp_path)


def test_a_journal_may_be_expected(tmp_path: Path) -> None:
    """A whole run id, or a path that ends like a journal, need not exist yet; the beginning of an id must."""
    assert find_growing(SESSION.upper(), tmp_path).place == str(tmp_path / "transcripts" / f"{SESSION}.jsonl")
    assert find_growing("later/x.jsonl", tmp_path).place == "later/x.jsonl"
    with pytest.raises(RunNotFound):
        find_growing("550e", tmp_path)


# What is a journal


def test_a_journal_is_known_by_its_lines(tmp_path: Path) -> None:
    """Whatever it is called, also behind lines that are damaged; the name alone makes none."""
    with start_run("r", root=tmp_path) as recorded:
        recorded.user("Hello")
    odd = tmp_path / "notes.txt"
    odd.write_bytes(b"\0" * 70_000 + b"\n" + recorded.path.read_bytes())
    with open_run(odd) as run:
        assert run.kind.name == "a journal"
        assert [event.type for event in run.events(from_seq=1)] == ["run.started", "message.user", "run.completed"]
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(recorded.path.read_bytes()[:40])
    assert open_run(torn).kind.name == "a journal"
    flat = tmp_path / f"{SESSION}.jsonl"
    flat.write_text('{"type":"user","content":"hi"}\n{"type":"assistant","content":"ho"}\n')
    with pytest.raises(SourceError, match="not in a known format"):
        open_run(flat)


def test_a_zip_that_is_not_a_bundle_is_refused(tmp_path: Path) -> None:
    """By its content, whatever it is called."""
    (tmp_path / "notes.txt").write_text("hello")
    path = shutil.make_archive(str(tmp_path / "other"), "zip", tmp_path, "notes.txt")
    with pytest.raises(SourceError):
        open_run(path)
    renamed = Path(path).rename(tmp_path / f"{SESSION}.jsonl")
    with pytest.raises(SourceError):
        open_run(renamed)


def test_a_journal_gives_its_lines_byte_for_byte(tmp_path: Path) -> None:
    """As they stand in the file."""
    with start_run("r", root=tmp_path) as recorded:
        recorded.user("Hello")
    with open_run(recorded.path) as run:
        assert b"".join(line + b"\n" for _, line in run.lines()) == recorded.path.read_bytes()
        assert list(run.events()) == list(read_events(recorded.path))
