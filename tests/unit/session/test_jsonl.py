"""Slices in files: place, mode, cost, crashes, full disks and company."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from stenograph.errors import InvalidEvent, SourceError, StoreClosed, StoreError
from stenograph.session import Session, replace_latest
from stenograph.session.slices import JsonlSlice, JsonlSliceFactory, MemorySliceFactory, SliceFactoryConfig
from stenograph.transcript import TranscriptEntry

NAME = "stenograph.transcript:TranscriptEntry.jsonl"
NOON = datetime(2026, 6, 8, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Plan:
    step: str


def _said(content: str, **more: Any) -> TranscriptEntry:
    return TranscriptEntry.message(role="assistant", content=content, created_at=NOON, **more)


def _session(folder: Path) -> Session:
    config = SliceFactoryConfig(state_factory=MemorySliceFactory(), log_factory=JsonlSliceFactory(base_dir=folder))
    return Session(slice_config=config)


def _contents(session: Session) -> list[str]:
    return [entry.content for entry in session[TranscriptEntry].all()]


def _descriptors() -> int:
    """How many files this process has open, where the system tells."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


class Traffic:
    """Real reads and writes, counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read = 0
        self.writes: list[bytes] = []
        pread, write = os.pread, os.write

        def counted_pread(fd: int, size: int, offset: int) -> bytes:
            data = pread(fd, size, offset)
            self.read += len(data)
            return data

        def counted_write(fd: int, data: bytes) -> int:
            self.writes.append(bytes(data))
            return write(fd, data)

        monkeypatch.setattr(os, "pread", counted_pread)
        monkeypatch.setattr(os, "write", counted_write)

    def of(self, action: Callable[[], object]) -> int:
        """The bytes that the action reads."""
        before = self.read
        action()
        return self.read - before


def test_the_file_is_named_after_the_type_and_each_line_says_it(root: Path) -> None:
    """`<base_dir>/<module>:<Class>.jsonl`, one object per line with its `__type__`; no file before the first value."""
    with _session(root) as session:
        assert session[TranscriptEntry].is_empty
        assert not root.exists()
        session.dispatch(_said("one"))
        session.dispatch(_said("two"))
    assert [path.name for path in root.iterdir()] == [NAME]
    lines = [json.loads(line) for line in (root / NAME).read_text().splitlines()]
    assert [line["__type__"] for line in lines] == ["stenograph.transcript:TranscriptEntry"] * 2
    assert [line["content"] for line in lines] == ["one", "two"]


def test_files_and_folders_are_for_the_owner_alone(tmp_path: Path) -> None:
    """0600 and 0700, every folder that had to be made included; a file that was open to others is closed to them."""
    folder = tmp_path / "a" / "b"
    session = _session(folder)
    session.dispatch(_said("one"))
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder, folder / NAME)]
    assert modes == [0o700, 0o700, 0o600]
    (folder / NAME).chmod(0o644)
    session.close()
    with _session(folder) as again:
        again.dispatch(_said("two"))
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600


def test_a_value_is_one_write_and_its_cost_does_not_grow(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thousandth append reads and writes what the second does."""
    session = _session(root)
    session.dispatch(_said("first"))
    traffic = Traffic(monkeypatch)
    costs = {traffic.of(lambda: session.dispatch(_said("x" * 500))) for _ in range(1000)}
    assert len(traffic.writes) == 1000
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in traffic.writes)
    assert max(costs) <= 1  # whether the last byte is a newline


def test_the_latest_is_found_without_loading_the_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`latest()` and `is_empty` read the end of ten megabytes; `all()` reads them all."""
    session = _session(root)
    for number in range(1000):
        session.dispatch(_said(f"{number}" + "x" * 10_000))
    size = (root / NAME).stat().st_size
    assert size > 10_000_000
    traffic = Traffic(monkeypatch)
    assert traffic.of(lambda: session[TranscriptEntry].latest()) < 200_000
    assert traffic.of(lambda: session[TranscriptEntry].is_empty) < 200_000
    assert traffic.of(lambda: session[TranscriptEntry].all()) >= size
    assert session[TranscriptEntry].latest() == session[TranscriptEntry].all()[-1]


WRITER = """
    import sys
    from datetime import UTC, datetime
    from stenograph.session import JsonlSliceFactory, Session, SliceFactoryConfig
    from stenograph.transcript import TranscriptEntry

    folder, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    session = Session(slice_config=SliceFactoryConfig(log_factory=JsonlSliceFactory(base_dir=folder)))
    for number in range(count):
        entry = TranscriptEntry.message(
            role="user", content="y" * (number % 7 * 1000), created_at=datetime.now(UTC), source=name, sequence=number
        )
        session.dispatch(entry)
        print(number, flush=True)
"""


def test_a_file_of_another_process_is_read_and_continued(root: Path, python: Any) -> None:
    """What a session before this one wrote comes first."""
    python(WRITER, root, "before", 3)
    session = _session(root)
    session.dispatch(_said("now"))
    assert [entry.source for entry in session[TranscriptEntry].all()] == ["before"] * 3 + ["main"]
    assert session.stats().dispatched == 1


def test_processes_and_sessions_share_a_file(root: Path) -> None:
    """Four writers at once: every line is whole, and each writer's are in its order."""
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(WRITER), str(root)]
    writers = [
        subprocess.Popen([*command, name, "150"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for name in "ab"
    ]
    sessions = [_session(root), _session(root)]
    for number in range(150):
        for name, session in zip("cd", sessions, strict=True):
            session.dispatch(_said("z", source=name, sequence=number))
    for writer in writers:
        assert writer.communicate(timeout=60)[1] == b""
    entries = sessions[0][TranscriptEntry].all()
    assert len(entries) == 600
    for name in "abcd":
        assert [entry.sequence for entry in entries if entry.source == name] == list(range(150))
    assert sessions[0].stats().unreadable == sessions[0].stats().torn == 0


def test_a_writer_waits_for_the_one_before_it(root: Path) -> None:
    """While another process holds the file for its line, nothing is written into that line, nor is it set aside."""
    session = _session(root)
    session.dispatch(_said("one"))
    late = threading.Thread(target=session.dispatch, args=(_said("three"),))
    with (root / NAME).open("ab", buffering=0) as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        line = (root / NAME).read_bytes().replace(b"one", b"two")
        other.write(line[:50])
        late.start()
        late.join(0.2)
        assert late.is_alive()
        assert _contents(session) == ["one"]
        other.write(line[50:])
        fcntl.flock(other, fcntl.LOCK_UN)
        late.join()
    assert _contents(session) == ["one", "two", "three"]
    assert session.stats().torn == 0


def test_a_killed_process_loses_nothing_it_was_told_is_kept(root: Path) -> None:
    """kill -9 in the middle of writing: every acknowledged entry is there, and the next session goes on."""
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(WRITER), str(root), "killed", "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(300)]
        writer.send_signal(signal.SIGKILL)
        told += [int(line) for line in writer.stdout.read().split()]
    session = _session(root)
    session.dispatch(_said("after"))
    entries = session[TranscriptEntry].all()
    assert [entry.sequence for entry in entries[: len(told)]] == told
    assert len(entries) - len(told) in (1, 2)  # one may have been written and not told any more
    assert entries[-1].content == "after"


def test_a_torn_line_is_left_out_counted_and_set_aside(root: Path) -> None:
    """Cut the last line anywhere: readers see the lines before it, and the next value stands on a line of its own."""
    with _session(root) as session:
        session.dispatch(_said("one"))
        first = (root / NAME).read_bytes()
        session.dispatch(_said("two"))
    whole = (root / NAME).read_bytes()
    torn = root / f"{NAME}.torn"
    for end in range(len(first) + 1, len(whole)):
        (root / NAME).write_bytes(whole[:end])
        torn.unlink(missing_ok=True)
        with _session(root) as session:
            assert _contents(session) == ["one"]
            assert session[TranscriptEntry].latest() == _said("one")
            assert session.stats().torn == 1
            session.dispatch(_said("three"))
            assert _contents(session) == ["one", "three"]
            assert session.stats().torn == 1
        assert torn.read_bytes() == whole[len(first) : end] + b"\n"
        assert stat.S_IMODE(torn.stat().st_mode) == 0o600


def test_a_line_that_cannot_be_read_is_left_out_and_counted(root: Path) -> None:
    """Garbage in the middle and at the end costs only itself."""
    with _session(root) as session:
        session.dispatch(_said("one"))
        with (root / NAME).open("ab") as file:
            file.write(b"\xff garbage\n\n")
        session.dispatch(_said("two"))
        with (root / NAME).open("ab") as file:
            file.write(b'{"__type__":"other:Type"}\n')
        for _ in range(2):  # reading again is not losing again
            assert _contents(session) == ["one", "two"]
            assert session.stats().unreadable == 3
        assert session[TranscriptEntry].latest() == _said("two")


LIMITED = """
    import resource, signal, sys
    from datetime import UTC, datetime
    from pathlib import Path
    from stenograph import StoreError
    from stenograph.session import JsonlSliceFactory, Session, SliceFactoryConfig
    from stenograph.transcript import TranscriptEntry

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    session = Session(slice_config=SliceFactoryConfig(log_factory=JsonlSliceFactory(base_dir=sys.argv[1])))
    path = Path(sys.argv[1]) / "stenograph.transcript:TranscriptEntry.jsonl"

    def say(content):
        session.dispatch(TranscriptEntry.message(role="user", content=content, created_at=datetime.now(UTC)))

    kept = 0
    for limit in range(3_000, 20_000, 1_111):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            while True:
                say("x" * (kept % 700))
                kept += 1
        except StoreError as error:
            assert "File too large" in str(error) and str(path) in str(error), error
            assert error.path == str(path)
        data = path.read_bytes()
        assert data.endswith(b"\\n") and data.count(b"\\n") == kept, "a half line was left"
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    say("room")
    entries = session[TranscriptEntry].all()
    assert len(entries) == kept + 1 and entries[-1].content == "room"
    assert session.stats().dispatched == kept + 1
    assert not list(path.parent.glob("*.torn"))
    print(kept)
"""


def test_a_full_disk_is_a_store_error_and_leaves_no_half_line(root: Path, python: Any) -> None:
    """RLIMIT_FSIZE at many sizes: the value that did not fit is not there, the others are, and with room it goes on."""
    assert int(python(LIMITED, root).stdout) > 20


def test_a_value_that_is_not_kept_is_not_published(root: Path) -> None:
    """What JSON cannot hold is refused by type and field; file, numbers and subscribers know nothing of it."""
    session = _session(root)
    heard: list[object] = []
    session.bus.subscribe(object, heard.append)
    with pytest.raises(InvalidEvent, match=r"stenograph\.transcript:TranscriptEntry .*'metadata'"):
        session.dispatch(_said("one", metadata={"client": object()}))
    assert (heard, session.stats().dispatched, root.exists()) == ([], 0, False)


def test_a_replaced_character_is_counted(root: Path) -> None:
    """A lone surrogate costs one character and not the entry."""
    session = _session(root)
    session.dispatch(_said("half \ud83d"))
    assert _contents(session) == ["half \ufffd"]
    assert session.stats().replaced == 1


def test_a_file_that_was_deleted_is_made_again(root: Path) -> None:
    """What is dispatched after somebody cleaned up does not go where nobody finds it."""
    session = _session(root)
    session.dispatch(_said("one"))
    (root / NAME).unlink()
    assert session[TranscriptEntry].is_empty
    session.dispatch(_said("two"))
    assert _contents(session) == ["two"]


def test_what_is_no_file_of_ours_is_refused(tmp_path: Path) -> None:
    """A link, a folder, a pipe in its place, or a base folder that is a file: `StoreError` with the path."""
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / NAME).symlink_to(tmp_path / "elsewhere")
    (tmp_path / "folder" / NAME).mkdir(parents=True)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / NAME)
    (tmp_path / "file").write_text("")
    for name in ("link", "folder", "pipe", "file", "nul\0"):
        with pytest.raises(StoreError) as caught:
            _session(tmp_path / name).dispatch(_said("one"))
        assert caught.value.path == str(tmp_path / name / NAME)
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_that_cannot_be_read_is_a_source_error(tmp_path: Path) -> None:
    """A folder in its place is said by name, not taken for an empty slice."""
    (tmp_path / NAME).mkdir()
    with pytest.raises(SourceError, match="cannot read"):
        _session(tmp_path)[TranscriptEntry].all()


def test_a_class_that_no_file_can_be_named_after_is_refused(tmp_path: Path) -> None:
    """A class name may hold anything, also a path out of the folder."""
    with pytest.raises(InvalidEvent, match="rename the class"):
        JsonlSlice(type("../../Plan", (), {}), tmp_path)


def test_a_closed_session_gives_up_its_files_and_can_be_read(root: Path) -> None:
    """No descriptor is left open, not by reading either."""
    before = _descriptors()
    session = _session(root)
    session.dispatch(_said("one"))
    session.close()
    with pytest.raises(StoreClosed):
        session.dispatch(_said("two"))
    assert _contents(session) == ["one"]
    assert session[TranscriptEntry].latest() == _said("one")
    assert _descriptors() == before


def test_states_may_be_in_files_too(root: Path) -> None:
    """They are replaced whole, roll back, and a later session finds them; rolling back keeps what it found."""
    config = SliceFactoryConfig(state_factory=JsonlSliceFactory(base_dir=root))
    with Session(slice_config=config) as session:
        session[Plan].register(Plan, replace_latest)
        session.dispatch(Plan("read"))
        snapshot = session.snapshot()
        session.dispatch(Plan("write"))
        assert session[Plan].all() == (Plan("write"),)
        session.restore(snapshot)
        assert session[Plan].all() == (Plan("read"),)
    with Session(slice_config=config) as later:
        before = later.snapshot()
        later.dispatch(Plan("write"))
        assert later[Plan].all() == (Plan("read"), Plan("write"))
        later.restore(before)
        assert later[Plan].all() == (Plan("read"),)
    assert len(list(root.iterdir())) == 1


def test_a_replacement_that_fails_leaves_what_was_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new file takes the old one's place when it is complete, and not before."""
    plans = JsonlSlice(Plan, root)
    plans.append(Plan("read"))
    with pytest.raises(InvalidEvent):
        plans.replace([Plan("write"), Plan(object())])  # type: ignore[arg-type]

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StoreError, match="No space left on device"):
            plans.replace([Plan("write")])
    assert list(plans) == [Plan("read")]
    assert list(root.iterdir()) == [plans.path]
