"""`steno forget`: nothing of a run's content is left, what was done is said, and it does not come back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archive_cases import claude_line, rows, session_path, subagent_path, whole_index, written
from canary import places_of
from stenograph.archive.marks import MarkChange, add_mark, read_marks
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store

Steno = Callable[..., Any]
ONE, TWO = "0f1e2d3c-4b5a-4978-8695-000000000001", "0f1e2d3c-4b5a-4978-8695-000000000002"
CANARY = "quetzalcoatlus"


class Archived:
    """A home folder and its archive: one session with a canary in it, one without."""

    def __init__(self, folder: Path, steno: Steno) -> None:
        self.home, self.path = folder / "home", folder / "archive"
        self._steno = steno
        written(
            session_path(self.home, TWO),
            claude_line(20, text="an ordinary thing to say, which is long enough to be told apart", session=TWO),
        )
        self.sync()
        written(session_path(self.home, ONE), claude_line(30, text=f"the {CANARY} flies", session=ONE))
        self.sync()
        written(
            session_path(self.home, ONE),
            claude_line(30, text=f"the {CANARY} flies", session=ONE),
            claude_line(31, "assistant", text=f"a {CANARY} it is", session=ONE),
        )
        self.sync()

    def sync(self, *options: str) -> Any:
        return self._steno("sync", "--home", self.home, "--archive", self.path, "--json", *options).json

    def steno(self, *arguments: object) -> Any:
        return self._steno(*arguments, "--archive", self.path)


@pytest.fixture
def archived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steno: Steno) -> Archived:
    """The archive, with a configuration of the test's own."""
    (tmp_path / "config.toml").write_text("")
    monkeypatch.setenv("STENOGRAPH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.chdir(tmp_path)
    return Archived(tmp_path, steno)


def test_nothing_of_a_forgotten_run_is_left(archived: Archived) -> None:
    """The canary is in no file, in no zstd frame and not among the words; the other run is as it was."""
    assert set(places_of(archived.path, CANARY)) >= {"000001.pack", "words"}
    kept = archived.steno("show", TWO).out
    ended = archived.steno("forget", ONE[:34] + "01", "--why", "it flew", "--yes", "--json")
    assert ended.code == 0
    assert ended.json["run_ids"] == [ONE]
    assert places_of(archived.path, CANARY) == []
    assert archived.steno("show", TWO).out == kept
    assert archived.steno("verify", TWO).code == 0


def test_digests_of_its_content_go_too(archived: Archived) -> None:
    """Who knows what a file may have said could compare a guess with them."""
    written(session_path(archived.home, ONE), claude_line(40, text="long " * 5000, session=ONE))
    archived.sync()
    assert rows(archived.path, "SELECT count(*) FROM ranges") == [(1,)]
    assert archived.steno("forget", ONE, "--yes").code == 0
    assert rows(archived.path, "SELECT count(*) FROM ranges") == [(0,)]


def test_it_does_not_come_back(archived: Archived) -> None:
    """A sync passes the agent's file over although it is there and grows; so does one that makes the index anew."""
    archived.steno("forget", ONE, "--yes")
    with session_path(archived.home, ONE).open("ab") as file:
        file.write(claude_line(32, text=f"{CANARY} again", session=ONE) + b"\n")
    told = archived.sync()
    assert told["new"] == told["rewritten"] == told["damaged"] == 0
    assert told["left_out"] == {"removed on purpose (steno forget)": 1}
    assert archived.sync()["left_out"] == {"removed on purpose (steno forget)": 1}
    maintained = whole_index(archived.path)
    told = archived.sync("--rebuild")
    assert told["rebuilt"]
    assert told["damaged"] == 0
    assert places_of(archived.path, CANARY) == []
    assert whole_index(archived.path) == maintained


def test_a_run_comes_back_when_its_line_is_deleted(archived: Archived) -> None:
    """The list is a person's to change."""
    archived.steno("forget", ONE, "--yes")
    (line,) = (archived.path / "forgotten.jsonl").read_text().splitlines()
    assert json.loads(line)["run_id"] == ONE
    (archived.path / "forgotten.jsonl").write_text("")
    assert archived.sync()["new"] == 1
    assert archived.steno("search", CANARY).code == 0
    (pair,) = rows(archived.path, "SELECT min(file), max(file) FROM frames WHERE kind = 'bytes' AND file <> 1")
    assert pair == (2, 3), "the number of a removed file is never another's"


def test_every_command_says_that_the_run_was_removed(archived: Archived, tmp_path: Path) -> None:
    """Who looks for it hears when, by whom and why; search finds nothing."""
    archived.steno("forget", ONE, "--why", "a reason", "--yes")
    for command in (["show", ONE], ["show", ONE[:-1] + "1"], ["restore", ONE, tmp_path / "out"], ["verify", ONE]):
        ended = archived.steno(*command)
        assert ended.code == 3, command
        assert "was removed on purpose by" in ended.err
        assert "a reason" in ended.err
    ended = archived.steno("search", CANARY)
    assert ended.code == 1
    assert "1 runs were removed by steno forget" in ended.err
    assert ONE not in archived.steno("ls", "--json").out


def test_checkpoints_stay_valid_and_an_audit_shows_the_removal(archived: Archived, tmp_path: Path) -> None:
    """An old checkpoint still fits; the removal is a leaf of its own, with its reason, and not damage."""
    archived.steno("evidence", "init", "--key", tmp_path / "key", "--to", tmp_path / "outside")
    before = tmp_path / "before"
    before.write_bytes((tmp_path / "outside" / "checkpoint").read_bytes())
    leaves = archived.steno("evidence", "verify", "--json").json["anchors"][0]["size"]
    archived.steno("forget", ONE, "--why", "a reason", "--yes")
    ended = archived.steno("evidence", "verify", "--against", before, "--against", tmp_path / "outside")
    assert ended.code == 0, ended.out
    assert "2 removed on purpose" in ended.out
    assert "content of 2 leaves removed on purpose by" in ended.out
    assert "a reason" in ended.out
    assert archived.steno("evidence", "verify", "--json").json["anchors"][0]["size"] == leaves + 1


def test_what_contains_a_text_is_found(archived: Archived) -> None:
    """By the kept bytes, also as JSON writes them; a dry run changes nothing; no run is exit code 1."""
    text = 'say "näh"\nand go'
    session = "0f1e2d3c-4b5a-4978-8695-000000000003"
    written(session_path(archived.home, session), claude_line(40, text=text, session=session))
    archived.sync()
    ended = archived.steno("forget", "--containing", text, "--dry-run", "--json")
    assert ended.json["run_ids"] == [session]
    assert not ended.json["forgotten"]
    assert archived.steno("show", session).code == 0
    assert archived.steno("forget", "--containing", text, "--yes").code == 0
    assert archived.steno("show", session).code == 3
    ended = archived.steno("forget", "--containing", text, "--yes")
    assert ended.code == 1
    assert "no run matches" in ended.err


def test_old_runs_are_found_by_their_age(archived: Archived) -> None:
    """A run counts by its last event."""
    assert archived.steno("forget", "--older-than", "2001-01-01", "--dry-run").code == 1
    told = archived.steno("forget", "--older-than", "0d", "--dry-run", "--json").json
    assert sorted(told["run_ids"]) == [ONE, TWO]


def test_copies_in_other_runs_are_named_and_go_along(archived: Archived) -> None:
    """A fork holds the same messages: it is named, and with --with-copies forgotten whole."""
    session = "0f1e2d3c-4b5a-4978-8695-000000000004"
    text = "an ordinary thing to say, which is long enough to be told apart"
    written(
        session_path(archived.home, session),
        claude_line(20, text=text, session=session),
        claude_line(41, text=f"and the {CANARY}", session=session),
    )
    archived.sync()
    told = archived.steno("forget", TWO, "--dry-run")
    assert f"run {session} holds 1 of the same messages and stays" in told.out
    assert archived.steno("forget", TWO, "--with-copies", "--yes").code == 0
    assert archived.steno("show", session).code == 3
    assert archived.steno("show", ONE).code == 0


def test_subagents_side_files_torn_pieces_and_journals_go(archived: Archived, steno: Steno) -> None:
    """Everything that holds content of the run, wherever the archive has it."""
    subagent = written(
        subagent_path(archived.home), claude_line(50, text=f"sub {CANARY}", isSidechain=True, agentId="a1")
    )
    subagent.with_suffix(".meta.json").write_text(json.dumps({"about": CANARY}))
    written(session_path(archived.home), claude_line(49, text=f"main {CANARY}"))
    archived.sync()
    run_id = next(run for (run,) in rows(archived.path, "SELECT run_id FROM runs") if run not in (ONE, TWO))
    journal = archived.path / "transcripts" / f"{run_id}.jsonl"
    journal.parent.mkdir()
    journal.write_text(CANARY)
    add_mark(archived.path, MarkChange(run_id=run_id, note=f"the {CANARY} session"))
    add_mark(archived.path, MarkChange(run_id=TWO, star=True))
    (archived.path / "kept" / "000001.torn-7").write_bytes(b"garbage " + CANARY.encode())
    archived.steno("forget", ONE, run_id, "--yes")
    assert places_of(archived.path, CANARY) == []
    assert not journal.exists()
    assert list(read_marks(archived.path)) == [TWO]
    assert subagent.exists()


def test_the_agents_own_file_is_deleted_only_when_asked(archived: Archived) -> None:
    """Without --also-source it stays, and that is said."""
    path = session_path(archived.home, ONE)
    assert f"file {path} stays" in archived.steno("forget", ONE, "--dry-run").out
    archived.steno("forget", ONE, "--also-source", "--yes")
    assert not path.exists()
    assert session_path(archived.home, TWO).exists()


def test_it_asks_first(archived: Archived) -> None:
    """Without a terminal and without --yes nothing is done; nor without a run."""
    ended = archived.steno("forget", ONE)
    assert ended.code == 2
    assert "--yes" in ended.err
    assert archived.steno("show", ONE).code == 0
    assert archived.steno("forget").code == 2


def test_a_run_that_others_share_usage_with_is_removed_by_making_the_index_anew(archived: Archived) -> None:
    """What a copy counted for the run that is gone counts for the copy then, as if the run had never been there."""
    usage = {"message": {"id": "msg_1", "usage": {"input_tokens": 7, "output_tokens": 3}}}
    sessions = [f"0f1e2d3c-4b5a-4978-8695-00000000001{number}" for number in (1, 2)]
    for session in sessions:
        line = json.loads(claude_line(60, "assistant", text="shared", session=session))
        line["message"] = {**line["message"], **usage["message"]}
        written(session_path(archived.home, session), json.dumps(line).encode())
        archived.sync()
    assert rows(archived.path, "SELECT count(*) FROM usage_shared")[0][0] > 0
    archived.steno("forget", sessions[0], "--yes")
    sums = dict(rows(archived.path, "SELECT run_id, output_tokens FROM runs"))
    assert sums[sessions[1]] == 3
    assert sessions[0] not in sums


def test_a_removal_that_was_begun_is_finished_by_the_next_writer(archived: Archived) -> None:
    """What forget.json says is done, also where nothing of it was done yet, and it is gone then."""
    (number,) = rows(archived.path, "SELECT id FROM files WHERE run_id = ?", ONE)[0]
    removal = {"runs": [{"run_id": ONE, "at": "now", "by": "me"}], "files": [number], "delete": []}
    (archived.path / "forget.json").write_text(json.dumps(removal))
    with Store(home_of(archived.path)):
        pass
    assert places_of(archived.path, CANARY) == []
    assert not (archived.path / "forget.json").exists()
    (archived.path / "forget.json").write_text("{")
    ended = archived.steno("sync", "--home", archived.home)
    assert ended.code == 3
    assert "forget.json" in ended.err
