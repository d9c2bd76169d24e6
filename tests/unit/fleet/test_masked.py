"""Events that are sent without their secrets: also in streams, and by a sender that goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from archive_cases import claude_line, session_path, synced, written
from fleet_cases import archive_id, folder_store, indexed_events, newest, segment_text, session_id, stored_events
from stenograph.archive.index import chunk, indexing
from stenograph.archive.store.home import home_of
from stenograph.fleet.store import masked
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.push import Sender, push
from stenograph.model import Event, MessagePayload, StreamBlock, encode

SECRET = "sk-ant-api03-" + "Zq7Xw2Lk9" * 10


def texts(store: Objects, archive: Path) -> bytes:
    """Everything that was sent."""
    return b"".join(segment_text(store.get(entry.key)) for entry in store.entries(f"v1/{archive_id(archive)}/events/"))


def streamed(archive: Path, home: Path, *pieces: str, ago: float, first: int = 1) -> None:
    """A journal to which a stream adds some pieces, and a sync."""
    at = datetime.now(UTC) - timedelta(seconds=ago)
    path = archive / "transcripts" / f"{session_id(1)}.jsonl"
    for number, piece in enumerate(pieces, first):
        payload = MessagePayload(role="assistant", blocks=(StreamBlock(fidelity="agent_emitted", text=piece),))
        time = f"{at + timedelta(milliseconds=number):%Y-%m-%dT%H:%M:%S.%f}Z"
        event = Event(
            seq=number,
            run_id=session_id(1),
            type="message.assistant",
            path="",
            iteration=0,
            timestamp=time,
            payload=payload,
        )
        written(path, encode(event).rstrip(b"\n") + b"\n")
    synced(home, archive)


def test_a_secret_that_a_stream_cut_is_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the two pieces are in two blocks, and in two segments."""
    monkeypatch.setattr(indexing, "CHUNK_BYTES", 100)
    monkeypatch.setattr("stenograph.fleet.store.sent_events.SEGMENT_BYTES", 100)
    archive, store = tmp_path / "archive", folder_store(tmp_path)
    streamed(archive, tmp_path / "home", "the key is ", SECRET[:40], SECRET[40:], " and so on", ago=86400)
    pushed = push(home_of(archive), store, events_only=True)
    assert (pushed.events, len(store.entries(f"v1/{pushed.archive}/events/"))) == (4, 4)
    assert b"[masked:" in texts(store, archive)
    assert SECRET[20:35].encode() not in texts(store, archive)
    assert SECRET[45:60].encode() not in texts(store, archive)
    assert chunk.CHUNK_BYTES > 100


def test_nothing_is_sent_of_a_stream_that_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a secret is not known as one. Once the stream has ended, or says no more, it is sent."""
    archive, home, store = tmp_path / "archive", tmp_path / "home", folder_store(tmp_path)
    streamed(archive, home, "the key is ", SECRET[:40], ago=1)
    sender = Sender(home_of(archive), store, events_only=True)
    assert sender.send().events == 0
    streamed(archive, home, SECRET[40:], ago=0, first=3)
    assert sender.send().events == 0
    monkeypatch.setattr(masked, "_STREAM_ENDS", -60.0)
    assert sender.send().events == 3
    assert SECRET[20:35].encode() not in texts(store, archive)
    assert newest(stored_events(store, archive_id(archive)))[0]["seq"] == 1


def test_a_sender_that_goes_on_looks_at_what_is_new_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And sends what one sends that begins anew; a secret that it met stays masked without its label."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    going_on, once = folder_store(tmp_path / "one"), folder_store(tmp_path / "two")
    looked: list[int] = []
    learn = masked.EventMask.learn

    def counting(self: masked.EventMask, events: object) -> None:
        told = list(events)  # type: ignore[call-overload]
        looked.append(len(told))
        learn(self, told)

    monkeypatch.setattr(masked.EventMask, "learn", counting)
    sender = Sender(home_of(archive), going_on, events_only=True)
    for number, text in enumerate((f"password={SECRET[30:50]}", "nothing", f"again {SECRET[30:50]}", "more")):
        written(session_path(home), claude_line(number, text=text))
        synced(home, archive)
        sender.send()
    assert looked == [1, 1, 1, 1]
    push(home_of(archive), once, events_only=True)
    assert newest(stored_events(going_on, archive_id(archive))) == newest(stored_events(once, archive_id(archive)))
    assert SECRET[30:50].encode() not in texts(going_on, archive)
    assert len(indexed_events(archive)) == 4
