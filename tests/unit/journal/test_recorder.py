"""The recorder: where it writes, what it writes, and what it refuses."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import stat
import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from stenograph import InvalidEvent, Recorder, StoreError, StoreLocked, read_events
from stenograph.errors import InvalidRunId, StoreClosed
from stenograph.liveness import is_being_written
from stenograph.model import Event, Origin, SystemPayload, TextBlock, decode, encode

NOTE = {"subtype": "note", "text": "héllo\u2028wörld"}
RUN_ID = "550e8400-e29b-41d4-a716-446655440000"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_journal_is_named_after_its_run(root: Path) -> None:
    """The file is `<root>/transcripts/<run-id>.jsonl`, and a new run id is a UUID of version 4."""
    with Recorder(root) as recorder:
        assert recorder.path == root / "transcripts" / f"{recorder.run_id}.jsonl"
        assert recorder.path.is_file()
        assert uuid.UUID(recorder.run_id).version == 4
        assert recorder.run_id == str(uuid.UUID(recorder.run_id))


@pytest.mark.parametrize("version", [1, 3, 4, 5])
def test_any_uuid_is_taken_as_a_run_id(root: Path, version: int) -> None:
    """An agent's own UUID is kept, whatever its version, in its canonical form."""
    made = {
        1: uuid.uuid1(),
        3: uuid.uuid3(uuid.NAMESPACE_DNS, "a"),
        4: uuid.uuid4(),
        5: uuid.uuid5(uuid.NAMESPACE_DNS, "a"),
    }[version]
    with Recorder(root, run_id=str(made).upper()) as recorder:
        assert recorder.run_id == str(made)
        assert recorder.record("system.event", NOTE).run_id == str(made)


@pytest.mark.parametrize("run_id", ["", "x", "../../etc/passwd", RUN_ID + "\n", RUN_ID[:-1], f"{RUN_ID}/..", 7, b"x"])
@pytest.mark.parametrize("argument", ["run_id", "parent_run_id"])
def test_what_is_no_uuid_is_no_run_id(root: Path, argument: str, run_id: Any) -> None:
    """No path can be built from a run id, and nothing is left behind by a refusal."""
    arguments = {"run_id": RUN_ID} | {argument: run_id}
    with pytest.raises(InvalidRunId, match="give a UUID"):
        Recorder(root, **arguments)
    Recorder(root, run_id=RUN_ID).close()  # not locked by the one that was refused


@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_files_and_folders_are_for_the_owner_alone(tmp_path: Path, umask: int) -> None:
    """0600 and 0700, whatever the umask."""
    before = os.umask(umask)
    try:
        with Recorder(tmp_path / "a" / "b") as recorder:
            recorder.record("system.event", NOTE)
    finally:
        os.umask(before)
    assert mode(recorder.path) == 0o600
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/transcripts")] == [0o700] * 3


def test_a_journal_that_others_could_read_is_closed_to_them(root: Path) -> None:
    """Opening tightens the file; folders keep the mode that their owner gave them."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        pass
    recorder.path.chmod(0o644)
    root.chmod(0o755)
    Recorder(root, run_id=RUN_ID).close()
    assert mode(recorder.path) == 0o600
    assert mode(root) == 0o755


def test_the_journal_is_opened_for_appending(root: Path) -> None:
    """O_APPEND: the kernel puts every line at the end, also when somebody else has written there."""
    with Recorder(root) as recorder:
        flags = int(
            re.search(r"flags:\s+(\d+)", Path(f"/proc/self/fdinfo/{recorder._file.fd}").read_text())[1],  # type: ignore[index]
            8,
        )
        assert flags & os.O_APPEND
        recorder.record("system.event", NOTE)
        with recorder.path.open("ab") as other:
            other.write(b"\n")
        recorder.record("system.event", NOTE)
        assert [bool(line) for line in recorder.path.read_bytes().split(b"\n")] == [True, False, True, False]


def test_every_event_is_one_write(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One `write()` holds one whole line with its LF, however long it is."""
    written: list[bytes] = []
    write = os.write

    def watched(fd: int, data: bytes) -> int:
        written.append(bytes(data))
        return write(fd, data)

    with Recorder(root) as recorder:
        monkeypatch.setattr(os, "write", watched)
        for size in (0, 10, 5_000, 1_000_000):
            recorder.record("system.event", {"subtype": "note", "text": "é\r\n" * size})
        monkeypatch.undo()
    assert len(written) == 4
    assert all(line.endswith(b"}\n") and line.count(b"\n") == 1 for line in written)
    assert recorder.path.read_bytes() == b"".join(written)
    assert b"\r" not in recorder.path.read_bytes()


def test_numbers_start_at_one_and_never_skip(root: Path) -> None:
    """`seq` is 1, 2, 3 …, also after a refusal."""
    with Recorder(root) as recorder:
        assert recorder.record("system.event", NOTE).seq == 1
        with pytest.raises(InvalidEvent):
            recorder.record("system.event", {"subtype": 5})
        with pytest.raises(InvalidEvent):
            recorder.record("no.such.type", {})
        assert recorder.record("system.event", NOTE).seq == 2
        assert recorder.stats().seq == 2
        assert recorder.stats().failed == 2


def test_what_is_returned_is_what_is_stored(root: Path) -> None:
    """`record` returns the event that a reader will read, field by field."""
    with Recorder(root, parent_run_id=RUN_ID) as recorder:
        returned = [
            recorder.record("run.started", {"name": "a", "kind": "workflow"}),
            recorder.record(
                "message.assistant",
                {
                    "role": "assistant",
                    "blocks": [
                        {"type": "thinking", "fidelity": "agent_emitted", "thinking": "\x00\x7f"},
                        TextBlock(fidelity="router", text="t"),
                        {
                            "type": "tool_use",
                            "fidelity": "agent_emitted",
                            "tool_name": "n",
                            "tool_id": "i",
                            "tool_input": {"a": [1, None]},
                        },
                    ],
                },
                path="a.b",
                iteration=3,
                origin={"adapter": "x", "line": 4},
                timestamp="yesterday",
                raw='{"a":1}',
            ),
            recorder.record("step.call_workflow.started", None, child_run_id=RUN_ID.upper()),
            recorder.record("unknown", {"value": None}),
            recorder.record(
                "system.event", SystemPayload(subtype="s", data=(1, 2)), origin=Origin(source="subagent:1")
            ),
            recorder.record("error", {"message": "m"}, raw=b"\xff"),
        ]
    assert returned == list(read_events(recorder.path))
    assert [event.seq for event in returned] == [1, 2, 3, 4, 5, 6]
    assert all(event.parent_run_id == RUN_ID for event in returned)
    assert returned[2].child_run_id == RUN_ID
    assert returned[5].raw_b64 == "/w=="
    assert [encode(event) for event in returned] == recorder.path.read_bytes().split(b"\n")[:-1]


def test_a_caller_may_reuse_what_it_passed(root: Path) -> None:
    """Live and stored values share nothing mutable with the caller."""
    data: dict[str, Any] = {"items": [1]}
    with Recorder(root) as recorder:
        event = recorder.record("system.event", {"subtype": "s", "data": data})
        data["items"].append(2)
        assert event.payload.data == {"items": [1]}
        assert list(read_events(recorder.path)) == [event]


def test_timestamps_are_utc_with_six_digits(root: Path) -> None:
    """Ours end in Z; a datetime is brought to UTC, one without a zone is taken as UTC; a string stays verbatim."""
    given = datetime(2026, 6, 8, 10, 14, 42, 5, tzinfo=timezone(timedelta(hours=2)))
    with Recorder(root) as recorder:
        before = datetime.now(UTC)
        now = recorder.record("system.event", NOTE).timestamp
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", now)
        assert before <= datetime.fromisoformat(now) <= datetime.now(UTC)
        assert recorder.record("system.event", NOTE, timestamp=given).timestamp == "2026-06-08T08:14:42.000005Z"
        naive = given.replace(tzinfo=None)
        assert recorder.record("system.event", NOTE, timestamp=naive).timestamp == "2026-06-08T10:14:42.000005Z"
        assert recorder.record("system.event", NOTE, timestamp="gestern").timestamp == "gestern"


def test_required_fields_are_always_written(root: Path) -> None:
    """`path`, `iteration` and `payload` are there also when they have nothing to say; the rest is absent."""
    with Recorder(root) as recorder:
        recorder.record("run.started", origin={})
        line = json.loads(recorder.path.read_bytes())
    assert list(line) == ["seq", "run_id", "type", "path", "iteration", "timestamp", "payload"]
    assert (line["path"], line["iteration"], line["payload"]) == ("", 0, None)


def test_the_environment_replaces_only_the_default_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`STENOGRAPH_STORAGE` stands in for "storage"; a root that is given stays."""
    monkeypatch.chdir(tmp_path)
    with Recorder() as recorder:
        assert recorder.path.parent == Path("storage/transcripts")
    monkeypatch.setenv("STENOGRAPH_STORAGE", str(tmp_path / "elsewhere"))
    with Recorder() as recorder:
        assert recorder.path.parent == tmp_path / "elsewhere" / "transcripts"
    with Recorder("given") as recorder:
        assert recorder.path.parent == Path("given/transcripts")
    monkeypatch.setenv("STENOGRAPH_STORAGE", "")
    with Recorder() as recorder:
        assert recorder.path.parent == Path("storage/transcripts")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"durability": "maybe"}, "'os' or 'disk'"),
        ({"durability": None}, "'os' or 'disk'"),
        ({"buffer": 0}, "whole number from 1"),
        ({"buffer": -1}, "whole number from 1"),
        ({"buffer": 1.5}, "whole number from 1"),
        ({"buffer": "256"}, "whole number from 1"),
        ({"mask": "x"}, "must be a function"),
    ],
)
def test_bad_options_are_refused(root: Path, arguments: dict[str, Any], message: str) -> None:
    """What an option may be is said, and nothing is created."""
    with pytest.raises(InvalidEvent, match=message):
        Recorder(root, **arguments)
    assert not root.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": None}, "path is None"),
        ({"path": 5}, "path is 5"),
        ({"path": ["a"]}, "path is"),
        ({"iteration": -1}, "iteration is -1"),
        ({"iteration": True}, "iteration is True"),
        ({"iteration": 1.0}, r"iteration is 1\.0"),
        ({"iteration": None}, "iteration is None"),
        ({"timestamp": 5}, "timestamp is 5"),
        ({"timestamp": b"now"}, "timestamp is"),
        ({"origin": {"colour": "red"}}, "origin does not fit"),
        ({"origin": {"line": "4"}}, "origin does not fit"),
        ({"origin": "claude"}, "origin does not fit"),
        ({"origin": Origin(line="4")}, "origin does not fit"),  # type: ignore[arg-type]
        ({"raw": 5}, "raw is a int"),
        ({"raw": {"a": 1}}, "raw is a dict"),
        ({"child_run_id": "x"}, "not a run id"),
    ],
)
def test_a_bad_argument_is_refused_and_no_number_used_up(root: Path, arguments: dict[str, Any], message: str) -> None:
    """The message names what is wrong; nothing is written."""
    with Recorder(root) as recorder:
        with pytest.raises(InvalidEvent, match=message):
            recorder.record("system.event", NOTE, **arguments)
        assert recorder.path.read_bytes() == b""
        assert recorder.record("system.event", NOTE).seq == 1


class Unwritable:
    """JSON has no form for it."""


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("type", "payload"),
    [
        ("system.event", {"subtype": "s", "data": Unwritable()}),
        ("system.event", SystemPayload(subtype="s", data={"a": Unwritable()})),
        ("system.event", {"subtype": "s", "data": nested(100_000)}),
        ("system.event", {"text": "no subtype"}),
        ("system.event", "text"),
        ("system.event", {"subtype": "s", "colour": "red"}),
        ("tool.call", SystemPayload(subtype="s")),
        ("token.usage", {"scope": "call", "input_tokens": -1, "output_tokens": 0}),
        ("message.user", {"role": "assistant", "blocks": []}),
        ("run.completed", {"name": "n", "kind": "k", "error": ""}),
        (5, {}),
        (None, None),
    ],
)
def test_a_payload_that_does_not_fit_leaves_nothing(root: Path, type: Any, payload: Any) -> None:
    """Nothing is written, nothing published, no number used up."""
    with Recorder(root) as recorder:
        listener = recorder.subscribe()
        with pytest.raises(InvalidEvent):
            recorder.record(type, payload)
        assert recorder.path.read_bytes() == b""
        event = recorder.record("system.event", NOTE)
        assert event.seq == 1
        assert next(iter(listener)) == event


def test_lone_surrogates_are_replaced_and_counted(root: Path) -> None:
    """What UTF-8 cannot hold becomes U+FFFD, wherever it stands, and `stats().replaced` says how often."""
    with Recorder(root) as recorder:
        listener = recorder.subscribe()
        events = [
            recorder.record("system.event", {"subtype": "a\ud800", "text": "\udfff\ud83d\ude00"}),
            recorder.record("system.event", SystemPayload(subtype="s", data={"k\udc00": ["v\udc00"]})),
            recorder.record("error", {"message": "fine"}, path="p\ud800", origin={"adapter": "\ud800"}),
        ]
        assert recorder.stats().replaced == 6
        assert events[0].payload.subtype == "a\ufffd"
        assert events[0].payload.text == "\ufffd😀"
        assert events[1].payload.data == {"k\ufffd": ["v\ufffd"]}
        assert events[2].path == "p\ufffd"
        live = iter(listener)
        assert [next(live) for _ in events] == events == list(read_events(recorder.path))


def test_reopening_continues_the_series(root: Path) -> None:
    """The numbers, and the parent, go on where the last recorder stopped."""
    with Recorder(root, run_id=RUN_ID, parent_run_id=RUN_ID) as recorder:
        recorder.record("system.event", NOTE)
    for seq in (2, 3, 4):
        with Recorder(root, run_id=RUN_ID) as recorder:
            assert recorder.parent_run_id == RUN_ID
            assert recorder.stats().seq == seq - 1
            event = recorder.record("system.event", NOTE)
            assert (event.seq, event.parent_run_id) == (seq, RUN_ID)
    assert [event.seq for event in read_events(recorder.path)] == [1, 2, 3, 4]


def test_reopening_steps_over_lines_that_are_no_events(root: Path) -> None:
    """Foreign lines at the end stay, and the number follows the last event before them."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        recorder.record("system.event", NOTE)
        recorder.record("system.event", NOTE)
    foreign = b'not json\n\n{"a":1}\n' + b"x" * 200_000 + b"\n"
    with recorder.path.open("ab") as file:
        file.write(foreign)
    with Recorder(root, run_id=RUN_ID) as recorder:
        assert recorder.record("system.event", NOTE).seq == 3
    assert foreign in recorder.path.read_bytes()


def test_a_second_recorder_is_refused_with_the_holder(root: Path) -> None:
    """One writer per file: the refusal names the process, also when it is this one."""
    with Recorder(root) as recorder:
        with pytest.raises(StoreLocked, match=f"process {os.getpid()}") as refused:
            Recorder(root, run_id=recorder.run_id)
        assert refused.value.pid == os.getpid()
        assert refused.value.path == str(recorder.path)
        assert recorder.record("system.event", NOTE).seq == 1
    Recorder(root, run_id=recorder.run_id).close()


def test_a_subscriber_does_not_keep_the_lock(root: Path) -> None:
    """A closed recorder gives the journal free, even while its subscribers still read."""
    recorder = Recorder(root)
    recorder.record("system.event", NOTE)
    late = recorder.subscribe(from_seq=1)
    recorder.close()
    with Recorder(root, run_id=recorder.run_id) as again:
        assert again.record("system.event", NOTE).seq == 2
    assert [event.seq for event in late] == [1]


def test_a_subscriber_of_a_moved_journal_does_not_keep_the_lock_either(root: Path) -> None:
    """It reads through a duplicate of the recorder's own descriptor, which shares the lock until that is given up."""
    recorder = Recorder(root)
    recorder.record("system.event", NOTE)
    away = recorder.path.rename(root / "away")
    late = recorder.subscribe(from_seq=1)
    away.rename(recorder.path)
    recorder.close()
    Recorder(root, run_id=recorder.run_id).close()
    assert [event.seq for event in late] == [1]


def test_a_forgotten_recorder_gives_its_journal_free(root: Path) -> None:
    """Without a close the lock, the descriptor and the subscribers still go with the recorder."""
    recorder = Recorder(root)
    run_id, listener = recorder.run_id, recorder.subscribe()
    event = recorder.record("system.event", NOTE)
    del recorder
    gc.collect()
    assert list(listener) == [event]
    Recorder(root, run_id=run_id).close()


def test_looking_whether_a_journal_is_written_locks_nobody_out(root: Path) -> None:
    """`steno verify` takes a shared lock for a moment; a recorder that opens just then waits for it."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        pass
    stop = threading.Event()

    def look() -> None:
        fd = os.open(recorder.path, os.O_RDONLY)
        while not stop.is_set():
            is_being_written(fd)
        os.close(fd)

    looker = threading.Thread(target=look)
    looker.start()
    try:
        for _ in range(200):
            Recorder(root, run_id=RUN_ID).close()
    finally:
        stop.set()
        looker.join()


def put_symlink(path: Path) -> None:
    path.symlink_to(path.with_name("target"))


def put_symlink_to_file(path: Path) -> None:
    path.with_name("target").write_bytes(b"")
    path.symlink_to(path.with_name("target"))


@pytest.mark.parametrize("put", [put_symlink, put_symlink_to_file, os.mkfifo, os.mkdir])
def test_what_is_no_regular_file_is_not_written_to(root: Path, put: Callable[[Path], None]) -> None:
    """A symbolic link, a pipe or a folder in the journal's place is refused and left as it is."""
    path = root / "transcripts" / f"{RUN_ID}.jsonl"
    path.parent.mkdir(parents=True)
    put(path)
    before = path.lstat()
    with pytest.raises(StoreError, match=re.escape(str(path))) as refused:
        Recorder(root, run_id=RUN_ID)
    assert path.lstat() == before
    assert refused.value.path == str(path)
    if path.is_symlink():
        assert "symbolic link" in str(refused.value)
    assert path.with_name("target").exists() == (put is put_symlink_to_file)


def test_a_root_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    """A file in the way, or a path that no file can have, is said in one sentence."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="Not a directory"):
        Recorder(tmp_path / "file")
    with pytest.raises(StoreError, match="File name too long"):
        Recorder(tmp_path / ("x" * 300))
    with pytest.raises(StoreError, match="null"):
        Recorder("a\0b")


def test_closing_twice_is_fine_and_recording_after_it_is_not(root: Path) -> None:
    """`close()` is idempotent; a late `record` is told so, and `stats()` still answers."""
    recorder = Recorder(root)
    recorder.record("system.event", NOTE)
    recorder.close()
    recorder.close()
    with pytest.raises(StoreClosed, match="is closed"):
        recorder.record("system.event", NOTE)
    assert recorder.stats().events == 1
    assert len(list(read_events(recorder.path))) == 1


def test_a_moved_journal_is_still_written_and_replayed(root: Path, tmp_path: Path) -> None:
    """The recorder holds the file itself: a rename, or another file by the old name, does not mislead it."""
    with Recorder(root) as recorder:
        first = recorder.record("system.event", NOTE)
        moved = shutil.move(recorder.path, tmp_path / "moved.jsonl")
        recorder.path.write_text("somebody else's\n")
        second = recorder.record("system.event", NOTE)
        replay = iter(recorder.subscribe(from_seq=1))
        assert [next(replay), next(replay)] == [first, second] == list(read_events(moved))
        assert recorder.path.read_text() == "somebody else's\n"


def test_stats_count_bytes_and_events(root: Path) -> None:
    """`events` counts since opening, `bytes` is the journal's size."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        recorder.record("system.event", NOTE)
    with Recorder(root, run_id=RUN_ID) as recorder:
        recorder.record("system.event", NOTE)
        stats = recorder.stats()
        assert (stats.run_id, stats.seq, stats.events) == (RUN_ID, 2, 1)
        assert stats.bytes == recorder.path.stat().st_size
        assert (stats.failed, stats.dropped, stats.replaced, stats.torn_bytes, stats.subscribers) == (0, 0, 0, 0, ())


def test_sixteen_threads_give_one_order(root: Path) -> None:
    """16 × 5,000 events: no gap, no reorder, and both kinds of subscriber see exactly the file's order."""
    threads, each = 16, 5_000
    got: dict[str, list[Event]] = {"plain": [], "replaying": []}
    mine: list[list[int]] = [[] for _ in range(threads)]
    with Recorder(root, buffer=threads * each) as recorder:
        subscriptions = {"plain": recorder.subscribe(), "replaying": recorder.subscribe(from_seq=1)}

        def listen(name: str) -> None:
            got[name].extend(subscriptions[name])

        def write(number: int) -> None:
            for count in range(each):
                event = recorder.record("system.event", {"subtype": "note", "text": f"{number}:{count}"})
                mine[number].append(event.seq)

        listeners = [threading.Thread(target=listen, args=(name,)) for name in got]
        writers = [threading.Thread(target=write, args=(number,)) for number in range(threads)]
        for thread in listeners + writers:
            thread.start()
        for thread in writers:
            thread.join()
    for thread in listeners:
        thread.join()
    stored = list(read_events(recorder.path))
    assert [event.seq for event in stored] == list(range(1, threads * each + 1))
    assert got["plain"] == stored
    assert got["replaying"] == stored
    assert recorder.stats().dropped == 0
    for number, numbers in enumerate(mine):
        assert numbers == sorted(numbers)
        texts = [stored[seq - 1].payload.text for seq in numbers]
        assert texts == [f"{number}:{count}" for count in range(each)]


def test_a_line_of_fifty_megabytes_is_recorded_and_reopened(root: Path) -> None:
    """Length is no limit, neither for writing nor for finding the last event again."""
    text = "y" * 50_000_000
    with Recorder(root, run_id=RUN_ID) as recorder:
        recorder.record("system.event", {"subtype": "big", "text": text})
    with Recorder(root, run_id=RUN_ID) as recorder:
        assert recorder.record("system.event", NOTE).seq == 2
    big, _ = read_events(recorder.path)
    assert big.payload.text == text


def test_decoding_a_stored_line_gives_the_live_event(root: Path) -> None:
    """What a subscriber sees and what the line says are the same value."""
    with Recorder(root) as recorder:
        listener = recorder.subscribe()
        recorder.record(
            "tool.result", {"name": "", "call_id": "1", "input": None, "output": [1.0], "fidelity": "router"}
        )
        assert next(iter(listener)) == decode(recorder.path.read_bytes())
