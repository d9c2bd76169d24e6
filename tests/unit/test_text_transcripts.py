"""The folder of a thread: which files, which names, and what is removed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from datetime import UTC, timedelta, timezone
from pathlib import Path

import pytest

from stenograph import InvalidEvent, Recorder, StoreError, read_events, start_run
from stenograph.model import Event
from stenograph.text_transcripts import ThreadTranscripts


def run_of(root: Path, *queries: str, at: str = "2026-02-08T06:30:0{}Z") -> list[Event]:
    """A run with a unit for each query, all in one minute."""
    with Recorder(root) as recorder:
        for number, query in enumerate(queries):
            stamp = at.format(number)
            recorder.record(
                "message.user",
                {"role": "user", "blocks": [{"type": "text", "fidelity": "router", "text": query}]},
                timestamp=stamp,
                origin={"session_id": "chat-1"},
            )
            recorder.record(
                "message.assistant",
                {
                    "role": "assistant",
                    "blocks": [{"type": "text", "fidelity": "agent_emitted", "text": f"answer {number}"}],
                    "stop_reason": "end_turn",
                },
                timestamp=stamp,
            )
    return list(read_events(recorder.path))


def writer(tmp_path: Path, **more: object) -> ThreadTranscripts:
    return ThreadTranscripts(tmp_path / ".leslie", **{"zone": UTC, **more})  # type: ignore[arg-type]


def test_one_file_per_unit_in_the_threads_folder(root: Path, tmp_path: Path) -> None:
    """The place, the names and the ids of the document; run and session ids are the defaults."""
    events = run_of(root, "fix login bug", "and now?")
    paths = writer(tmp_path).write(events)
    folder = tmp_path / ".leslie" / "threads" / events[0].run_id / ".meta" / "transcripts"
    assert paths == [folder / "20260208-0630-fix-login-bug.txt", folder / "20260208-0630-and-now.txt"]
    text = paths[1].read_text()
    assert text.startswith(f"Thread ID: {events[0].run_id}\nChat ID: chat-1\nTime Range: 2026-02-08T06:30:01+00:00 ~")
    assert "Stop Reason: end_turn\nTool Calls: 0\n---\n" in text
    assert text.endswith("assistant:\nanswer 1\n")
    assert paths[0].stat().st_mode & 0o777 == 0o600


def test_time_is_local(root: Path, tmp_path: Path) -> None:
    """The name and the range are in the given zone, with its offset."""
    (path,) = writer(tmp_path, zone=timezone(timedelta(hours=8))).write(run_of(root, "q"))
    assert path.name == "20260208-1430-q.txt"
    assert "Time Range: 2026-02-08T14:30:00+08:00 ~ 2026-02-08T14:30:00+08:00\n" in path.read_text()


def test_two_units_of_one_minute_and_query_have_two_names(root: Path, tmp_path: Path) -> None:
    """Neither overwrites the other, and writing again writes the same two."""
    events = run_of(root, "again", "again", "again")
    first = writer(tmp_path).write(events)
    assert [path.name for path in first] == [
        "20260208-0630-again.txt",
        "20260208-0630-again-2.txt",
        "20260208-0630-again-3.txt",
    ]
    assert [path.read_text().splitlines()[-1] for path in first] == ["answer 0", "answer 1", "answer 2"]
    assert writer(tmp_path).write(events) == first
    assert len(list(first[0].parent.iterdir())) == 3


def test_the_oldest_beyond_fifty_go(root: Path, tmp_path: Path) -> None:
    """At most `max_files` of ours stay, 50 unless it is said; the oldest go first."""
    one = writer(tmp_path, thread_id="t", max_files=3)
    one.write(run_of(root, "a", "b", at="2026-02-08T06:30:0{}Z"))
    one.write(run_of(root, "c", "d", at="2026-02-09T06:30:0{}Z"))
    names = sorted(path.name for path in one.folder("t").iterdir())
    assert names == ["20260208-0630-b.txt", "20260209-0630-c.txt", "20260209-0630-d.txt"]
    unsaid = writer(tmp_path, thread_id="u")
    unsaid.write(run_of(root, *(f"q{number}" for number in range(53)), at="2026-02-08T06:30:{:02}Z"))
    kept = {path.name for path in unsaid.folder("u").iterdir()}
    assert kept == {f"20260208-0630-q{number}.txt" for number in range(3, 53)}


def test_nothing_that_is_not_ours_is_touched(root: Path, tmp_path: Path) -> None:
    """Other names, other contents, links and folders stay, also under a name that we would use."""
    one = writer(tmp_path, thread_id="t", max_files=1)
    folder = one.folder("t")
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    (folder / "20200101-0000-x.txt").write_text("mine, too")
    (folder / "20260208-0630-a.txt").write_text("my own notes about a")
    (folder / "20200101-0000-y.txt").symlink_to(folder / "notes.txt")
    (folder / "20200101-0000-z.txt").mkdir()
    (folder / "my copy.txt").write_text("Thread ID: t\n")
    (tmp_path / "elsewhere.txt").write_text("Thread ID: t\n")
    (folder / "20200101-0000-link.txt").symlink_to(tmp_path / "elsewhere.txt")
    os.mkfifo(folder / "20200101-0000-pipe.txt")
    (written,) = one.write(run_of(root, "a"))
    assert written.name == "20260208-0630-a-2.txt"
    assert (folder / "20260208-0630-a.txt").read_text() == "my own notes about a"
    assert (tmp_path / "elsewhere.txt").read_text() == "Thread ID: t\n"
    assert len(list(folder.iterdir())) == 9


@pytest.mark.parametrize("thread_id", ["", "..", ".hidden", "a/b", "a\\b", "a\0b", "x" * 300])
def test_a_thread_id_cannot_leave_the_root(tmp_path: Path, thread_id: str) -> None:
    """An id that is no plain name is refused."""
    with pytest.raises(InvalidEvent, match="cannot name a thread"):
        ThreadTranscripts(tmp_path, thread_id=thread_id)


def test_what_came_before_anybody_spoke_is_no_file(root: Path, tmp_path: Path) -> None:
    """A run without a user message has no transcript."""
    with start_run("r", root=root) as run:
        run.system("hello")
    assert writer(tmp_path).write(read_events(run.path)) == []


def test_a_folder_that_cannot_be_written_is_one_clear_error(root: Path, tmp_path: Path) -> None:
    """The error names the place; nothing half-written stays."""
    (tmp_path / ".leslie").write_text("a file")
    with pytest.raises(StoreError, match="cannot write"):
        writer(tmp_path).write(run_of(root, "q"))


def test_a_failed_write_leaves_no_trace(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files appear whole or not at all."""

    def fail(self: Path, target: object) -> Path:
        raise OSError(28, "No space left on device", os.fspath(self))

    monkeypatch.setattr(Path, "replace", fail)
    one = writer(tmp_path, thread_id="t")
    with pytest.raises(StoreError, match="No space left"):
        one.write(run_of(root, "q"))
    assert list(one.folder("t").iterdir()) == []


def test_two_runs_that_say_the_same_have_two_names(root: Path, tmp_path: Path) -> None:
    """One writer knows which unit each of its files is of, also where nothing in them differs."""
    one = writer(tmp_path, thread_id="t", chat_id="c")
    runs = [run_of(root, "again") for _ in range(2)]
    assert [one.write(run)[0].name for run in (*runs, *runs)] == [
        *("20260208-0630-again.txt", "20260208-0630-again-2.txt"),
        *("20260208-0630-again.txt", "20260208-0630-again-2.txt"),
    ]


AT_ONCE = """
    import sys, time
    from datetime import UTC
    from pathlib import Path
    from stenograph.model import Event, MessagePayload, TextBlock
    from stenograph.text_transcripts import ThreadTranscripts

    def event(kind, text, number):
        block = TextBlock(fidelity="router", text=text)
        payload = MessagePayload(role=kind, blocks=(block,))
        run_id = f"550e8400-e29b-41d4-a716-4466554400{sys.argv[2]}{number:01x}"
        place = {"seq": 0, "run_id": run_id, "path": "", "iteration": 0, "timestamp": "2026-02-08T06:30:00Z"}
        return Event(**place, type=f"message.{kind}", payload=payload)

    print("ready", flush=True)
    sys.stdin.readline()
    texts = ThreadTranscripts(sys.argv[1], thread_id="t", chat_id="c", zone=UTC)
    for number in range(8):
        texts.write([event("user", "again", number), event("assistant", f"{sys.argv[2]} says {number}", number)])
"""


def test_processes_that_write_at_once_have_a_name_for_every_unit(tmp_path: Path) -> None:
    """The same thread, chat, second and query from four processes: no unit is written over another."""
    command = [sys.executable, "-c", textwrap.dedent(AT_ONCE), str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([*command, str(number)], **pipes) for number in range(4)]  # type: ignore[call-overload]
    for process in processes:
        process.stdout.readline()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]
    for process in processes:
        process.stdin.close()
        process.stdout.close()
    files = list(ThreadTranscripts(tmp_path).folder("t").iterdir())
    said = sorted(path.read_text().splitlines()[-1] for path in files)
    assert said == sorted(f"{process} says {number}" for process in range(4) for number in range(8))
    assert {path.name for path in files} == {
        f"20260208-0630-again{'' if number == 1 else f'-{number}'}.txt" for number in range(1, 33)
    }


def test_a_unit_that_went_on_is_written_to_its_own_file(root: Path, tmp_path: Path) -> None:
    """A run written while it goes on, and again when it has ended: the same files, the last with more in it."""
    events = run_of(root, "again", "again")
    writer(tmp_path, thread_id="t").write(events[:-1])
    before = writer(tmp_path, thread_id="t").folder("t")
    shorter = {path.name: path.read_text() for path in before.iterdir()}
    after = writer(tmp_path, thread_id="t").write(events)
    assert sorted(shorter) == sorted(path.name for path in after)
    assert after[1].read_text().endswith("assistant:\nanswer 1\n")
    assert not shorter[after[1].name].endswith("assistant:\nanswer 1\n")


def test_a_long_unit_that_went_on_is_written_to_its_own_file(root: Path, tmp_path: Path) -> None:
    """Also when the file was cut, and its header has grown since."""
    with Recorder(root) as recorder:
        for kind, text, reason in [("user", "q", None), ("assistant", "long " * 9000, None), ("assistant", "", "stop")]:
            payload = {"role": kind, "blocks": [{"type": "text", "fidelity": "router", "text": text}]}
            payload |= {} if reason is None else {"stop_reason": reason}
            recorder.record(f"message.{kind}", payload, timestamp="2026-02-08T06:30:00Z")
    events = list(read_events(recorder.path))
    (first,) = writer(tmp_path, thread_id="t").write(events[:2])
    assert writer(tmp_path, thread_id="t").write(events) == [first]
    assert "Stop Reason: stop" in first.read_text()


def test_a_run_that_goes_on_keeps_to_the_limit(root: Path, tmp_path: Path) -> None:
    """Files beyond the limit go while the run is written, not only when it ends."""
    one = writer(tmp_path, thread_id="t", max_files=3)
    writing = one.begin()
    for event in run_of(root, *map(str, range(9))):
        writing.add(event)
        assert not one.folder("t").exists() or len(list(one.folder("t").iterdir())) <= 7
    assert [path.name[14:] for path in writing.close()] == ["6.txt", "7.txt", "8.txt"]


def test_the_former_name_of_the_module_still_works() -> None:
    """Programs that import from `stenograph.threads` get the same class."""
    from stenograph import threads

    assert threads.ThreadTranscripts is ThreadTranscripts
