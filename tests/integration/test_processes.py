"""Several processes and one journal."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from file_reads import needs_strace
from stenograph import Recorder, StoreLocked, follow, read_events, verify_journal

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"

HOLDER = """
    import sys
    from stenograph import Recorder
    with Recorder(sys.argv[1], run_id=sys.argv[2]) as recorder:
        recorder.record("system.event", {"subtype": "held"})
        print("ready", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def holder(root: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the journal until its input ends."""
    command = [sys.executable, "-c", textwrap.dedent(HOLDER), str(root), RUN_ID]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def test_a_second_process_is_refused_with_the_holders_pid(root: Path, holder: subprocess.Popen[str]) -> None:
    """One writer per file, across processes; afterwards it goes on."""
    with pytest.raises(StoreLocked, match=f"process {holder.pid}") as refused:
        Recorder(root, run_id=RUN_ID)
    assert refused.value.pid == holder.pid
    report = verify_journal(root / "transcripts" / f"{RUN_ID}.jsonl")
    assert report.live
    assert report.ok
    assert holder.stdin is not None
    holder.stdin.close()
    assert holder.wait(120) == 0
    with Recorder(root, run_id=RUN_ID) as recorder:
        assert recorder.record("system.event", {"subtype": "next"}).seq == 2


def test_many_processes_share_a_root(root: Path) -> None:
    """Eight writers at once make the folder, each its own file, without a word."""
    script = """
        import sys
        from stenograph import start_run
        with start_run("r", root=sys.argv[1]) as run:
            for _ in range(50):
                run.system("x")
    """
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), str(root)]
    writers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(8)]
    for writer in writers:
        assert writer.communicate(timeout=120)[1] == ""
        assert writer.returncode == 0
    journals = list((root / "transcripts").iterdir())
    assert len(journals) == 8
    assert all(verify_journal(path).ok and len(list(read_events(path))) == 52 for path in journals)


def test_many_processes_race_for_one_run(root: Path) -> None:
    """Whoever gets the lock appends; the others are told so; the series stays whole."""
    script = """
        import sys
        from stenograph import Recorder, StoreLocked
        done = 0
        while done < 20:
            try:
                with Recorder(sys.argv[1], run_id=sys.argv[2]) as recorder:
                    recorder.record("system.event", {"subtype": "x"})
                    done += 1
            except StoreLocked as locked:
                assert "is being written by" in str(locked)
    """
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), str(root), RUN_ID]
    writers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    for writer in writers:
        assert writer.communicate(timeout=120)[1] == ""
        assert writer.returncode == 0
    path = root / "transcripts" / f"{RUN_ID}.jsonl"
    assert [event.seq for event in read_events(path)] == list(range(1, 81))


def test_followers_in_other_processes_see_what_subscribers_see(root: Path) -> None:
    """Two processes follow while this one records: the same events, the same order, none missing."""
    script = """
        import sys
        from stenograph import follow
        for event in follow(sys.argv[1]):
            print(event.seq, event.payload.text, flush=True)
            if event.seq == 2000:
                break
    """
    path = root / "transcripts" / f"{RUN_ID}.jsonl"
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), str(path)]
    followers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    with Recorder(root, run_id=RUN_ID, buffer=2_000) as recorder:
        live = recorder.subscribe()
        for number in range(2_000):
            recorder.record("system.event", {"subtype": "n", "text": f"text {number}"})
    expected = "".join(f"{event.seq} {event.payload.text}\n" for event in live)
    assert expected.count("\n") == 2_000
    for follower in followers:
        assert follower.communicate(timeout=120)[0] == expected
    assert next(iter(follow(path))).seq == 1


STRACED = """
    import sys
    from stenograph import Recorder
    recorder = Recorder(sys.argv[1], run_id=sys.argv[2], durability=sys.argv[3])
    for number in range(10):
        recorder.record("system.event", {"subtype": "n", "text": "y" * 10_000})
    recorder.close()
"""


@needs_strace
@pytest.mark.parametrize("durability", ["os", "disk"])
def test_the_system_calls_are_what_we_say(root: Path, tmp_path: Path, python: Any, durability: str) -> None:
    """O_APPEND|O_NOFOLLOW|O_CLOEXEC and 0600 on opening; one write per event; in "disk" a fdatasync after each."""
    log = tmp_path / "strace.log"
    names = "openat,write,pwrite64,writev,pwritev2,fdatasync"
    python(
        STRACED, root, RUN_ID, durability, prefix=("strace", "-f", "-s", "8", "-e", f"trace={names}", "-o", str(log))
    )
    calls = log.read_text()
    opened = re.search(rf'openat\(AT_FDCWD, "[^"]*{RUN_ID}\.jsonl", ([A-Z_|]+), 0600\) = (\d+)', calls)
    assert opened is not None
    assert {"O_RDWR", "O_APPEND", "O_CREAT", "O_NOFOLLOW", "O_CLOEXEC"} <= set(opened[1].split("|"))
    after = calls[opened.end() :]
    on_file = re.findall(rf"(\w+)\({opened[2]}(?:,[^)]*?(\d+))?\)\s+= (\d+)", after)
    writes = [call for call in on_file if "write" in call[0]]
    assert len(writes) == 10
    assert all(name == "write" and asked == done and int(done) > 10_000 for name, asked, done in writes)
    if durability == "disk":
        assert [name for name, _, _ in on_file] == ["write", "fdatasync"] * 10 + ["fdatasync"] * (len(on_file) - 20)
    else:
        assert "fdatasync" not in calls
