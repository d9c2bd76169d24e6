"""`push`: everything of an archive is in the store, once, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from archive_cases import claude_line, session_path, synced, written
from fleet_cases import (
    archive_id,
    folder_store,
    grown,
    indexed_events,
    kept_files,
    newest,
    segment_text,
    session_id,
    stored_events,
    stored_files,
)
from stenograph import start_run
from stenograph.archive.store.home import home_of
from stenograph.archive.store.identity import renew_identity
from stenograph.fleet.store.push import Sender, push
from witness_cases import collected


def test_everything_is_in_the_store(tmp_path: Path) -> None:
    """Packs byte for byte, every event once, and who sends."""
    archive = grown(tmp_path)
    store = folder_store(tmp_path)
    pushed = push(home_of(archive), store)
    assert stored_files(store, pushed.archive, "bytes") == kept_files(archive)
    assert newest(stored_events(store, pushed.archive)) == indexed_events(archive)
    assert store.get(f"v1/{pushed.archive}/archive.json") == (archive / "kept" / "archive.json").read_bytes().strip()
    assert pushed.events == len(indexed_events(archive))
    assert pushed.archive == archive_id(archive)


def test_only_what_is_new_is_sent(tmp_path: Path) -> None:
    """The second push sends nothing, the third what grew, behind what is there."""
    archive = grown(tmp_path)
    store = folder_store(tmp_path)
    before = push(home_of(archive), store)
    assert push(home_of(archive), store).objects == 0
    there = store.entries("v1/")
    grown(tmp_path, first=100)
    after = push(home_of(archive), store)
    assert set(there) < set(store.entries("v1/"))
    assert stored_files(store, after.archive, "bytes") == kept_files(archive)
    assert newest(stored_events(store, after.archive)) == indexed_events(archive)
    assert before.events + after.events == len(indexed_events(archive))


def test_an_index_made_anew_is_another_generation(tmp_path: Path) -> None:
    """Its events are sent again, whole; bytes are not."""
    archive = grown(tmp_path)
    store = folder_store(tmp_path)
    first = push(home_of(archive), store)
    synced(tmp_path / "home", archive, rebuild=True)
    second = push(home_of(archive), store)
    assert (first.generation[:7], second.generation[:7]) == ("000001-", "000002-")
    assert second.bytes == 0
    assert newest(stored_events(store, second.archive)) == indexed_events(archive)


def test_a_dry_run_says_what_is_behind(tmp_path: Path) -> None:
    """And writes nothing, not even what tries the store."""
    archive = grown(tmp_path)
    store = folder_store(tmp_path)
    home = home_of(archive)
    behind = push(home, store, dry_run=True).behind
    assert behind > sum(map(len, kept_files(archive).values()))
    assert store.entries("v1/") == []
    push(home, store)
    assert push(home, store, dry_run=True).behind == 0


def test_events_only_sends_masked_events_and_no_bytes(tmp_path: Path) -> None:
    """No secret is anywhere in the store: not in events, not in a run's title, however much is sent at a time."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    secret = "sk-ant-api03-" + "Zq7Xw2Lk9" * 10
    store = folder_store(tmp_path)
    for first in (1, 50):
        told = [claude_line(first, text=f"use {secret} now"), claude_line(first + 1, "assistant", f"I saw {secret}")]
        written(session_path(home), *told, claude_line(first + 2, text=f"hello {first}"))
        synced(home, archive)
        pushed = push(home_of(archive), store, events_only=True)
    events = stored_events(store, pushed.archive)
    assert [event["seq"] for event in newest(events)] == [event["seq"] for event in indexed_events(archive)]
    assert [event["run_id"] for event in newest(events)] == [event["run_id"] for event in indexed_events(archive)]
    assert store.folders(f"v1/{pushed.archive}/") == ["events"]
    texts = [segment_text(store.get(entry.key)) for entry in store.entries(f"v1/{pushed.archive}/events/")]
    assert all(b"Zq7Xw2Lk9" not in text and b"[masked:" in text for text in texts), texts[0][:2000]
    assert b"hello 50" in texts[-1]


def test_masked_and_plain_events_are_two_generations(tmp_path: Path) -> None:
    """Who changes from one to the other sends all events again, and the newest generation counts."""
    archive = grown(tmp_path)
    store = folder_store(tmp_path)
    names = [push(home_of(archive), store, events_only=masked).generation for masked in (True, True, False, True)]
    assert [name[:6] + name[15:] for name in names] == ["000001-masked", "000001-masked", "000002", "000003-masked"]
    assert len(newest(stored_events(store, archive_id(archive)))) == len(indexed_events(archive))


def test_journals_are_sent_by_whole_lines(tmp_path: Path) -> None:
    """A line that is being written waits for the next push."""
    archive, store = grown(tmp_path, sessions=1), folder_store(tmp_path)
    with start_run("review", root=archive) as run:
        run.user("Hello.")
    (journal,) = (archive / "transcripts").glob("*.jsonl")
    whole = journal.read_bytes()
    for more, sent in ((b"", whole), (b'{"half', whole), (b'":1}\n', whole + b'{"half":1}\n')):
        with journal.open("ab") as file:
            file.write(more)
        pushed = push(home_of(archive), store)
        assert stored_files(store, pushed.archive, "journals") == {run.run_id: sent}


def test_a_torn_frame_is_not_sent(tmp_path: Path) -> None:
    """Only whole frames are; damage in the middle goes with the frame behind it, so that a pack comes back equal."""
    archive, store = grown(tmp_path, sessions=1), folder_store(tmp_path)
    home = home_of(archive)
    (pack,) = home.kept.glob("*.pack")
    whole = pack.read_bytes()
    pack.write_bytes(whole + whole[:50])
    pushed = push(home, store)
    assert stored_files(store, pushed.archive, "bytes") == {pack.stem: whole}
    torn = whole + whole[:50] + whole
    pack.write_bytes(torn)
    push(home, store)
    assert stored_files(store, pushed.archive, "bytes") == {pack.stem: torn}


def test_what_was_deleted_of_the_bytes_is_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gap in the pieces of a pack is filled, and by no more than what is missing."""
    monkeypatch.setattr("stenograph.fleet.store.sent_packs.PIECE_BYTES", 1000)
    archive, store = grown(tmp_path, sessions=8), folder_store(tmp_path)
    home = home_of(archive)
    pushed = push(home, store)
    pieces = store.entries(f"v1/{pushed.archive}/bytes/")
    assert len(pieces) > 3
    store.delete([pieces[0].key, pieces[2].key])
    assert push(home, store).bytes == pieces[0].size + pieces[2].size
    assert stored_files(store, pushed.archive, "bytes") == kept_files(archive)


def test_a_run_that_is_numbered_anew_comes_again_with_a_higher_revision(tmp_path: Path) -> None:
    """Of the events that the store has, those with the highest revision of each run are the archive's."""
    home, archive, store = tmp_path / "home", tmp_path / "archive", folder_store(tmp_path)
    lines = [claude_line(number) for number in range(6)]
    collected(written(session_path(tmp_path / "other"), *lines[:2], *lines[4:]), archive)
    for _ in range(2):
        synced(home, archive)
        pushed = push(home_of(archive), store)
        written(session_path(home), *lines)
    events = stored_events(store, pushed.archive)
    assert {event["revision"] for event in events} == {0, 1}
    assert newest(events) == indexed_events(archive)
    keys = [(event["run_id"], event["revision"], event["seq"]) for event in events]
    assert len(set(keys)) == len(keys)


def test_long_journals_are_sent_in_pieces_of_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where one line is longer than a piece."""
    monkeypatch.setattr("stenograph.fleet.store.sent_journals.PIECE_BYTES", 100)
    archive, store = grown(tmp_path, sessions=1), folder_store(tmp_path)
    lines = [b"x" * length + b"\n" for length in (10, 30, 90, 700, 5, 99, 100, 101, 0, 3)]
    path = written(archive / "transcripts" / f"{session_id(1)}.jsonl", *lines)
    pushed = push(home_of(archive), store)
    assert stored_files(store, pushed.archive, "journals") == {session_id(1): path.read_bytes()}
    pieces = [store.get(entry.key) for entry in store.entries(f"v1/{pushed.archive}/journals/")]
    assert len(pieces) > 4
    assert all(piece.endswith(b"\n") for piece in pieces)


def test_a_sender_notices_that_the_archive_has_another_id(tmp_path: Path) -> None:
    """Another process may have given it one meanwhile: how far the old one is sent says nothing then."""
    archive, store = grown(tmp_path), folder_store(tmp_path)
    sender = Sender(home_of(archive), store)
    sender.send()
    renewed = renew_identity(archive / "kept")
    grown(tmp_path, first=100)
    assert sender.send(with_files=False).archive == renewed.id
    assert newest(stored_events(store, renewed.id)) == indexed_events(archive)
