"""A full disk: a clear error, no half line, and recording goes on when there is room."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

LIMITED = """
    import resource, sys, threading
    from stenograph import Recorder, StoreError, read_events, verify_journal

    root, durability = sys.argv[1:]
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    recorder = Recorder(root, durability=durability, buffer=10_000)
    plain, replaying = recorder.subscribe(), recorder.subscribe(from_seq=1)
    acknowledged = 0
    for limit in range(20_000, 100_000, 7_001):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        failures = 0
        while failures < 3:
            try:
                event = recorder.record("system.event", {"subtype": "fill", "text": "ü" * (acknowledged % 700)})
            except StoreError as error:
                assert "File too large" in str(error) and str(recorder.path) in str(error), error
                failures += 1
                data = recorder.path.read_bytes()
                assert data.endswith(b"\\n") and data.count(b"\\n") == acknowledged, "a half line was left"
                assert recorder.stats().bytes == len(data)
            else:
                acknowledged += 1
                assert event.seq == acknowledged
                failures = 0 if failures == 0 else failures
        assert recorder.stats().seq == acknowledged
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    recorder.record("system.event", {"subtype": "room", "text": "y" * 100_000})
    acknowledged += 1
    failed = recorder.stats().failed
    recorder.close()
    stored = list(read_events(recorder.path))
    assert [event.seq for event in stored] == list(range(1, acknowledged + 1))
    assert list(plain) == list(replaying) == stored
    assert verify_journal(recorder.path).ok
    assert not list(recorder.path.parent.glob("*.torn"))
    print(acknowledged, failed)
"""


@pytest.mark.parametrize("durability", ["os", "disk"])
def test_a_size_limit_leaves_no_half_line(root: Path, python: Any, durability: str) -> None:
    """RLIMIT_FSIZE at twelve sizes: StoreError, whole lines only, numbers unused, subscribers see what is stored."""
    acknowledged, failed = map(int, python(LIMITED, root, durability).stdout.split())
    assert acknowledged > 100
    assert failed >= 36


STUCK = """
    import os, resource, sys
    from stenograph import Recorder, StoreError, read_events, verify_journal

    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    recorder = Recorder(sys.argv[1])
    recorder.record("system.event", {"subtype": "first"})
    truncate = os.ftruncate

    def fail(fd, size):
        raise OSError(5, "Input/output error")

    os.ftruncate = fail
    resource.setrlimit(resource.RLIMIT_FSIZE, (recorder.stats().bytes + 50, hard))
    for _ in range(2):
        try:
            recorder.record("system.event", {"subtype": "lost", "text": "y" * 100})
        except StoreError:
            pass
        else:
            raise AssertionError
    assert not recorder.path.read_bytes().endswith(b"\\n")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    try:
        recorder.record("system.event", {"subtype": "glued"})
    except StoreError as error:
        assert "Input/output error" in str(error)
    else:
        raise AssertionError("written behind a half line")
    os.ftruncate = truncate
    assert recorder.record("system.event", {"subtype": "second"}).seq == 2
    recorder.close()
    assert [event.payload.subtype for event in read_events(recorder.path)] == ["first", "second"]
    assert verify_journal(recorder.path).ok
"""


def test_a_half_line_that_cannot_be_taken_back_is_never_written_behind(root: Path, python: Any) -> None:
    """Where cutting it off fails, too, nothing is recorded until it succeeds."""
    python(STUCK, root)


SMALL_DISK = """
    import os, sys
    from stenograph import Recorder, StoreError, read_events, start_run, verify_journal

    root = sys.argv[1]
    ballast = os.path.join(root, "ballast")
    with open(ballast, "wb") as file:
        file.write(bytes(200_000))
    recorder = Recorder(root)
    live = recorder.subscribe(from_seq=1)
    acknowledged = 0
    try:
        while True:
            acknowledged = recorder.record("system.event", {"subtype": "fill", "text": "y" * 1000}).seq
    except StoreError as error:
        assert "No space left on device" in str(error), error
    assert recorder.path.read_bytes().count(b"\\n") == acknowledged
    assert recorder.path.read_bytes().endswith(b"\\n")

    os.environ.pop("STENOGRAPH_STRICT", None)
    with start_run("host", root=root) as run:  # its file can be made, but holds nothing
        run.user("hello")
        value = 42
    assert run.lost >= 1, run.lost

    os.unlink(ballast)
    assert recorder.record("system.event", {"subtype": "room"}).seq == acknowledged + 1
    recorder.close()
    assert [event.seq for event in live] == list(range(1, acknowledged + 2))
    assert verify_journal(recorder.path).ok
    print(acknowledged)
"""


def test_a_really_full_disk(tmp_path: Path, python: Any) -> None:
    """The same on a tmpfs of 512 KB: ENOSPC, then room again; a host with a run on it does not notice."""
    disk = tmp_path / "disk"
    disk.mkdir()
    # In a mount namespace of its own, so that nothing stays mounted whatever happens.
    mounted = ("unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o size=512k tmpfs "{disk}" && exec "$@"', "sh")
    if shutil.which("unshare") is None or subprocess.run([*mounted, "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may not mount a tmpfs; RLIMIT_FSIZE is tested above")
    assert int(python(SMALL_DISK, disk, prefix=mounted).stdout) > 50
