"""Sending while the archive is watched: soon, in a thread of its own, and never in the way of who writes."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from fleet_cases import archive_id, folder_store, grown, indexed_events, kept_files, newest, stored_events, stored_files
from stenograph.archive.store.home import home_of
from stenograph.errors import StoreError
from stenograph.fleet.store import pushing
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.push import Pushed, Sender
from stenograph.fleet.store.pushing import Pushing

PATIENCE = 60.0


class Heard:
    """What a thread that sends has told, to be waited for."""

    def __init__(self) -> None:
        self.pushed: list[Pushed] = []
        self.problems: list[str] = []
        self.something = threading.Event()

    def told(self, pushed: Pushed) -> None:
        """Something was sent."""
        self.pushed.append(pushed)
        self.something.set()

    def failed(self, problem: str) -> None:
        """Something went wrong."""
        self.problems.append(problem)
        self.something.set()

    def wait(self) -> None:
        """Until it told of something more."""
        assert self.something.wait(PATIENCE)
        self.something.clear()


def test_what_is_new_is_sent_and_the_rest_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First all, then events soon and files later; when it ends, nothing is behind."""
    monkeypatch.setattr(pushing, "_LAST_WORD", PATIENCE)
    archive, store, heard = grown(tmp_path), folder_store(tmp_path), Heard()
    sender = Pushing(home_of(archive), store, events_only=False, on_push=heard.told, failed=heard.failed, every=0.01)
    sender.note()
    heard.wait()
    assert heard.pushed[0].bytes > 0
    grown(tmp_path, first=100)
    sender.note()
    while newest(stored_events(store, archive_id(archive))) != indexed_events(archive):
        heard.wait()
    assert sum(pushed.bytes for pushed in heard.pushed[1:]) == 0
    assert sender.stop()
    assert stored_files(store, archive_id(archive), "bytes") == kept_files(archive)
    assert heard.problems == []


def test_a_store_that_does_not_answer_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a request hangs, the archive is written as ever; what came meanwhile is sent when the store is back."""
    archive, store, heard = grown(tmp_path), folder_store(tmp_path), Heard()
    hangs, answers = threading.Event(), threading.Event()
    create = Objects.create

    def slow(self: Objects, key: str, data: bytes) -> bool:
        if "/events/" in key or "/bytes/" in key:
            hangs.set()
            assert answers.wait(PATIENCE)
        return create(self, key, data)

    monkeypatch.setattr(Objects, "create", slow)
    sender = Pushing(home_of(archive), store, events_only=False, on_push=heard.told, failed=heard.failed, every=0.01)
    sender.note()
    assert hangs.wait(PATIENCE)
    for first in (100, 200):
        grown(tmp_path, first=first)
    monkeypatch.setattr(pushing, "_LAST_WORD", 0.0)
    assert not sender.stop()
    monkeypatch.setattr(pushing, "_LAST_WORD", PATIENCE)
    answers.set()
    assert sender.stop()
    assert newest(stored_events(store, archive_id(archive))) == indexed_events(archive)
    assert stored_files(store, archive_id(archive), "bytes") == kept_files(archive)


def test_a_problem_is_told_once_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as it lasts; then everything is sent."""
    archive, store, heard = grown(tmp_path), folder_store(tmp_path), Heard()
    monkeypatch.setattr(pushing, "_LAST_WORD", PATIENCE)
    attempts = threading.Semaphore(0)
    create = Objects.create

    def refused(self: Objects, key: str, data: bytes) -> bool:
        attempts.release()
        raise StoreError("the store is away")

    monkeypatch.setattr(Objects, "create", refused)
    sender = Pushing(home_of(archive), store, events_only=False, on_push=heard.told, failed=heard.failed, every=0.01)
    sender.note()
    for _ in range(3):
        assert attempts.acquire(timeout=PATIENCE)
    monkeypatch.setattr(Objects, "create", create)
    while not heard.pushed:
        heard.wait()
    assert heard.problems == ["the store is away"]
    assert sender.stop()


def test_new_events_cost_one_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sender that goes on need not ask the store where it was; and it notices when another one sent meanwhile."""
    archive, store = grown(tmp_path), folder_store(tmp_path)
    home = home_of(archive)
    sender = Sender(home, store)
    sender.send()
    requests: list[str] = []
    for name in ("create", "find", "get", "entries", "folders"):
        ours = getattr(Objects, name)
        monkeypatch.setattr(Objects, name, lambda *args, ours=ours, name=name: (requests.append(name), ours(*args))[1])
    grown(tmp_path, first=100)
    assert sender.send(with_files=False).events > 0
    assert requests == ["create"]
    grown(tmp_path, first=200)
    Sender(home, store).send()
    grown(tmp_path, first=300)
    sender.send(with_files=False)
    monkeypatch.undo()
    assert newest(stored_events(store, archive_id(archive))) == indexed_events(archive)
