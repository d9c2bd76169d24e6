"""A journal cut anywhere: a readable prefix, a writable file, and nothing dropped in silence."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

import pytest

from stenograph import Recorder, StoreError, read_events, repair_journal, start_run, verify_journal
from stenograph.journal.file import torn_path

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
OPEN_ENDS = {"open_run", "open_step", "open_call"}


@pytest.fixture
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand syncs of the disk take longer than all the rest of the suite."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@pytest.fixture
def whole(root: Path) -> bytes:
    """A small journal with every kind of end in it, and characters of several bytes."""
    with start_run("r", root=root, run_id=RUN_ID) as run, run.step("s") as step:
        step.user("héllo 😀")
        with step.tool("t", {"a": "ü"}) as call:
            call.output = "\u2028"
    return run.path.read_bytes()


def test_a_journal_cut_at_every_byte_is_readable_and_writable(root: Path, whole: bytes, no_sync: None) -> None:
    """The complete lines are read, the rest is set aside byte for byte, and the numbers go on."""
    path = root / "transcripts" / f"{RUN_ID}.jsonl"
    complete = list(read_events(path))
    for length in range(len(whole) + 1):
        cut = whole[:length]
        lines = cut.count(b"\n")
        torn = cut[cut.rfind(b"\n") + 1 :]
        path.write_bytes(cut)
        torn_path(path).unlink(missing_ok=True)

        reader = read_events(path)
        assert list(reader) == complete[:lines]
        assert (reader.torn_bytes, reader.malformed) == (len(torn), 0)

        with Recorder(root, run_id=RUN_ID) as recorder:
            assert recorder.stats().torn_bytes == len(torn)
            assert recorder.record("system.event", {"subtype": "on"}).seq == lines + 1
        assert path.read_bytes().startswith(cut[: len(cut) - len(torn)])
        assert torn_path(path).exists() == bool(torn)
        if torn:
            assert torn_path(path).read_bytes() == torn + b"\n"
        findings = {finding.kind for finding in verify_journal(path).findings}
        assert findings <= OPEN_ENDS, (length, findings)


def test_repair_at_every_byte_sets_the_same_bytes_aside(root: Path, whole: bytes, no_sync: None) -> None:
    """`repair_journal` does what opening does, says what, and touches no complete line."""
    path = root / "transcripts" / f"{RUN_ID}.jsonl"
    for length in range(len(whole) + 1):
        cut = whole[:length]
        torn = cut[cut.rfind(b"\n") + 1 :]
        path.write_bytes(cut)
        torn_path(path).unlink(missing_ok=True)
        repair = repair_journal(path)
        assert (repair.path, repair.torn_bytes, repair.last_seq) == (str(path), len(torn), cut.count(b"\n"))
        assert repair.aside == (str(torn_path(path)) if torn else None)
        assert path.read_bytes() == cut[: len(cut) - len(torn)]
        if torn:
            assert torn_path(path).read_bytes() == torn + b"\n"
        assert repair_journal(path).torn_bytes == 0


def test_a_torn_tail_is_reported(root: Path, whole: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Opening warns with the number of bytes and where they are; the file aside is for the owner alone."""
    path = root / "transcripts" / f"{RUN_ID}.jsonl"
    path.write_bytes(whole + b'{"seq":')
    with caplog.at_level(logging.WARNING), Recorder(root, run_id=RUN_ID):
        pass
    (message,) = [each.getMessage() for each in caplog.records]
    assert "7 bytes" in message
    assert torn_path(path).name in message
    assert stat.S_IMODE(torn_path(path).stat().st_mode) == 0o600


def test_torn_tails_gather(root: Path) -> None:
    """A second crash adds to the first one's bytes."""
    path = root / "transcripts" / f"{RUN_ID}.jsonl"
    for tail in (b"first", b"second\x00\xff"):
        with Recorder(root, run_id=RUN_ID) as recorder:
            recorder.record("system.event", {"subtype": "x"})
        with path.open("ab") as file:
            file.write(tail)
    repair_journal(path)
    assert torn_path(path).read_bytes() == b"first\nsecond\x00\xff\n"


def test_a_torn_tail_larger_than_any_buffer_is_set_aside_whole(root: Path) -> None:
    """Megabytes without a newline, as a crash in the middle of a big line leaves them."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        recorder.record("system.event", {"subtype": "x"})
    tail = os.urandom(1 << 16).replace(b"\n", b"") * 80
    with recorder.path.open("ab") as file:
        file.write(tail)
    with Recorder(root, run_id=RUN_ID) as recorder:
        assert recorder.stats().torn_bytes == len(tail)
        assert recorder.record("system.event", {"subtype": "y"}).seq == 2
    assert torn_path(recorder.path).read_bytes() == tail + b"\n"


def test_zeros_at_the_end_are_a_torn_tail(root: Path) -> None:
    """What a power failure leaves where a block was allocated and never written."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        recorder.record("system.event", {"subtype": "x"})
    with recorder.path.open("ab") as file:
        file.write(bytes(4096))
    with Recorder(root, run_id=RUN_ID) as recorder:
        assert recorder.record("system.event", {"subtype": "y"}).seq == 2
    assert verify_journal(recorder.path).ok


def test_a_tail_that_cannot_be_set_aside_stays_where_it_is(root: Path, whole: bytes) -> None:
    """The journal is not cut before its tail is safe; the refusal is a StoreError and leaves no lock."""
    path = root / "transcripts" / f"{RUN_ID}.jsonl"
    path.write_bytes(whole + b"torn")
    torn_path(path).symlink_to("/nonexistent/elsewhere")
    for open_journal in (lambda: Recorder(root, run_id=RUN_ID), lambda: repair_journal(path)):
        with pytest.raises(StoreError, match="cannot open"):
            open_journal()
    assert path.read_bytes() == whole + b"torn"
    torn_path(path).unlink()
    assert repair_journal(path).torn_bytes == 4


def test_a_journal_that_is_being_written_is_not_repaired(root: Path) -> None:
    """Its half line may be a line soon."""
    with Recorder(root) as recorder:
        recorder.record("system.event", {"subtype": "x"})
        with pytest.raises(StoreError, match="is being written"):
            repair_journal(recorder.path)


def test_there_is_nothing_to_repair_where_there_is_nothing(tmp_path: Path) -> None:
    """A missing journal is an error about reading, and none is made by mistake."""
    with pytest.raises(LookupError):
        repair_journal(tmp_path / "a" / f"{RUN_ID}.jsonl")
    assert list(tmp_path.iterdir()) == []
