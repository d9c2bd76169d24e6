"""Following a run of any kind: what is there, then what comes."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from archive_cases import SESSION, claude_line, rows, session_path, subagent_path, synced, written
from run_kinds import DATABASE_SESSION, KINDS, PATIENCE, Taking, make_database, make_kinds, say, told
from stenograph import Event, Recorder, RunReader, SourceError, open_archive, open_run
from stenograph.runs.opening import reader_of
from stenograph.runs.target import find_growing
from stenograph.sources import convert
from witness_cases import collected, synced_part

MORE = claude_line(20, text="One more thing.")
MORE_BELOW = claude_line(21, "assistant", "Here, too.", isSidechain=True, agentId="b2")


def _grow_file(kinds: dict[str, Path]) -> None:
    written(kinds["agent file"], MORE)
    written(subagent_path(kinds["home"], "b2"), MORE_BELOW)


def _grow_journal(kinds: dict[str, Path]) -> None:
    known = sum(1 for _ in open_run(kinds["journal"]).events())
    _grow_file(kinds)
    seen = {
        (event.source, event.origin.line if event.origin else None) for event in open_run(kinds["journal"]).events()
    }
    with Recorder(kinds["root"], run_id=SESSION) as recorder:
        for event in convert(kinds["agent file"]):
            if (event.source, event.origin.line if event.origin else None) not in seen:
                recorder.append(event)
    assert sum(1 for _ in open_run(kinds["journal"]).events()) > known


def _grow_archive(kinds: dict[str, Path]) -> None:
    _grow_file(kinds)
    synced(kinds["home"], kinds["archive"])


GROW: dict[str, Callable[[dict[str, Path]], None]] = {
    "agent file": _grow_file,
    "folder": _grow_file,
    "journal": _grow_journal,
    "archived": _grow_archive,
}


@pytest.fixture
def kinds(tmp_path: Path) -> dict[str, Path]:
    """The same run as every kind."""
    return make_kinds(tmp_path)


def _opened(kinds: dict[str, Path], kind: str) -> RunReader:
    return open_run(kinds[kind], archive=kinds["archive"] if kind == "archived" else None, root=kinds["home"])


@pytest.mark.parametrize("kind", GROW)
def test_what_is_there_comes_first_and_then_what_is_added(kinds: dict[str, Path], kind: str) -> None:
    """The same events as reading it afterwards gives, per source, with numbers that go on."""
    with _opened(kinds, kind) as run:
        before = list(run.events())
        taking = Taking(run.follow())
        taken = taking.next(len(before))
        assert [event.seq for event in taken] == [event.seq for event in before]
        assert told(taken) == told(before)
        GROW[kind](kinds)
        wanted = told(convert(kinds["agent file"]))
        taken += taking.next(sum(map(len, wanted.values())) - len(before))
        assert taking.end() == []
    assert told(taken) == wanted
    assert [event.seq for event in taken] == list(range(1, len(taken) + 1))


def test_a_run_that_is_numbered_anew_repeats_nothing(tmp_path: Path) -> None:
    """Another witness tells of what stood between: it comes once, and what was given out does not come again."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    path = written(session_path(home), *(claude_line(number) for number in (1, 2, 4)))
    journal = collected(path, archive)
    lines = journal.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(claude_line(number) for number in (1, 2, 3, 4)))
    synced_part(home, archive, journals=True, files=False)
    with open_archive(archive).run(SESSION) as run:
        before = list(run.events())
        assert len(before) == len(lines)
        taking = Taking(run.follow())
        taken = taking.next(len(before))
        synced_part(home, archive, journals=True, files=True)
        taken += taking.next(1)
        written(path, claude_line(5))
        synced_part(home, archive, journals=True, files=True)
        taken += taking.next(1)
        assert taking.end() == []
        after = list(run.events())
    assert rows(archive, "SELECT revision FROM runs") == [(1,)]
    said = [event.payload.blocks[0].text for event in taken if event.type == "message.user"]
    assert sorted(said) == sorted(event.payload.blocks[0].text for event in after if event.type == "message.user")
    assert [text.split()[1] for text in said] == ["1", "2", "4", "3", "5"]


@pytest.mark.parametrize("kind", KINDS)
def test_it_begins_with_the_number_that_is_asked_for(kinds: dict[str, Path], kind: str) -> None:
    """Those before it are left out."""
    with _opened(kinds, kind) as run:
        wanted = list(run.events(from_seq=5))
        taking = Taking(run.follow(5))
        assert [event.seq for event in taking.next(len(wanted))] == [event.seq for event in wanted]
        taking.end()


def test_a_bundle_ends_by_itself(kinds: dict[str, Path]) -> None:
    """Nothing can come any more."""
    with _opened(kinds, "bundle") as run:
        assert list(run.follow()) == list(run.events())


def test_a_session_of_a_database_is_followed(tmp_path: Path) -> None:
    """New rows are events as soon as they are committed, and other sessions are not."""
    path = make_database(tmp_path / "opencode.db", [DATABASE_SESSION, DATABASE_SESSION[:-1] + "b"])
    with open_run(f"{path}#{DATABASE_SESSION}") as run:
        before = list(run.events())
        taking = Taking(run.follow())
        taken = taking.next(len(before))
        connection = sqlite3.connect(path)
        say(connection, DATABASE_SESSION[:-1] + "b", 2, "Not this one.")
        say(connection, DATABASE_SESSION, 2, "More.")
        connection.commit()
        connection.close()
        after = list(run.events())
        taken += taking.next(len(after) - len(before))
        assert taking.end() == []
    assert told(taken) == told(after)
    assert [event.seq for event in taken] == list(range(1, len(taken) + 1))


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_is_read_again(tmp_path: Path, indent: int | None) -> None:
    """One JSON document, written anew with more in it, gives what stands behind; also on one line without an end."""
    path = tmp_path / "chat.json"
    messages = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}]
    path.write_text(json.dumps(messages, indent=indent))
    with open_run(path) as run:
        before = list(run.events())
        taking = Taking(run.follow())
        assert told(taking.next(len(before))) == told(before)
        path.write_text(json.dumps([*messages, {"role": "user", "content": "And?"}], indent=indent))
        (event,) = taking.next(1)
        assert event.seq == len(before) + 1
        assert taking.end() == []


def test_a_run_can_be_followed_with_async_for(kinds: dict[str, Path]) -> None:
    """The same events; closing it ends the loop."""

    async def take(run: RunReader, number: int) -> list[Event]:
        following = run.follow()
        taken: list[Event] = []
        async for event in following:
            taken.append(event)
            if len(taken) == number:
                following.close()
        return taken

    with _opened(kinds, "agent file") as run:
        before = list(run.events())
        taken = asyncio.run(asyncio.wait_for(take(run, len(before)), PATIENCE))
    assert told(taken) == told(before)


def test_what_comes_is_masked_too(kinds: dict[str, Path]) -> None:
    """`redact` holds for events to come."""
    with open_run(kinds["agent file"], redact=True) as run:
        taking = Taking(run.follow())
        taking.next(sum(1 for _ in run.events()))
        written(kinds["agent file"], claude_line(20, text="ghp_" + "aB3" * 12))
        (event,) = taking.next(1)
        taking.end()
    assert "masked" in str(event.payload)


def test_what_cannot_be_read_is_raised_or_given_to_who_listens(
    kinds: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller that wants to go on is told and goes on."""
    with _opened(kinds, "archived") as run:
        growth = run.kind.growth(1)
        looks = iter([SourceError("not now"), SourceError("nor now")])

        def new() -> Iterator[tuple[Event, None]]:
            raise next(looks)

        monkeypatch.setattr(growth, "new", new)
        monkeypatch.setattr(run.kind, "growth", lambda from_seq: growth)
        with pytest.raises(SourceError, match="not now"):
            next(iter(run.follow()))
        problems: list[SourceError] = []
        following = run.follow(on_problem=lambda error: (problems.append(error), following.close())[0])
        assert list(following) == []
        assert [str(problem) for problem in problems] == ["nor now"]


@pytest.mark.parametrize("is_empty", [False, True])
def test_a_file_that_appears_is_followed_as_what_it_is(tmp_path: Path, is_empty: bool) -> None:
    """Also an agent's file: what it is shows with its first line."""
    path = session_path(tmp_path)
    path.parent.mkdir(parents=True)
    if is_empty:
        path.touch()
    with reader_of(find_growing(path)) as run:
        taking = Taking(run.follow())
        written(path, claude_line(1, text="Hello."), claude_line(2, "assistant", "Hi."))
        wanted = told(convert(path))
        assert told(taking.next(sum(map(len, wanted.values())))) == wanted
        taking.end()


def test_a_file_that_appears_in_no_format_we_know_is_an_error(tmp_path: Path) -> None:
    """It is said, and not waited for."""
    path = tmp_path / f"{SESSION}.jsonl"
    with reader_of(find_growing(path)) as run:
        taking = Taking(run.follow())
        written(path, b'{"type":"user","content":"flat"}\n')
        with pytest.raises(SourceError, match="not in a known format"):
            taking.next(1)
