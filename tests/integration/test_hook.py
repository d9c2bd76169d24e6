"""`steno hook claude` as an agent calls it: sessions are recorded by processes that nobody waits for."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stenograph import Recorder
from stenograph.model import encode
from stenograph.sources import convert
from text_files import texts_below, texts_of

PATIENCE = 120
SESSION = "550e8400-e29b-41d4-a716-446655440000"
GOLDEN = Path(__file__).parents[1] / "golden" / "claude_code"
LINES = (GOLDEN / "2.1.325-basic" / "input.jsonl").read_bytes().splitlines(keepends=True)
STENO = [sys.executable, "-W", "error", "-m", "stenograph"]

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds processes by /proc")


class Agent:
    """Somebody who writes a session and calls our hook, each call from a process that dies at once."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.session = place / "projects" / "p" / f"{SESSION}.jsonl"
        self.session.parent.mkdir(parents=True)
        self.storage = place / "storage"
        self.journal = self.storage / "transcripts" / f"{SESSION}.jsonl"
        self.problems = self.storage / "collectors" / "problems.log"

    def hook(self, event: str, **more: object) -> None:
        """One call; it must answer with nothing, and at once."""
        call = {"session_id": SESSION, "transcript_path": str(self.session), "cwd": "/", "hook_event_name": event}
        environment = {**os.environ, "STENOGRAPH_STORAGE": str(self.storage)}
        done = subprocess.run(
            [*STENO, "hook", "claude"],
            input=json.dumps({**call, **more}).encode(),
            capture_output=True,
            env=environment,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    def write(self, *lines: bytes) -> None:
        """Add to the session as the agent does it: open, one write, close."""
        with self.session.open("ab", buffering=0) as file:
            file.write(b"".join(lines))

    def collectors(self) -> list[int]:
        """The processes that record this agent's sessions."""
        found = []
        for process in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (process / "cmdline").read_bytes().split(b"\0") if process.name.isdigit() else []
                if b"collect" in words and os.fsencode(self.session) in words:
                    found.append(int(process.name))
        return found

    def recorded(self) -> list[bytes]:
        """The lines of the journal."""
        return self.journal.read_bytes().splitlines() if self.journal.exists() else []

    def expected(self) -> list[bytes]:
        """What `steno convert` makes of the session."""
        return [encode(event) for event in convert(self.session)]


def until(condition: Callable[[], object]) -> None:
    """Wait for something."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "what was waited for never came"
        time.sleep(0.02)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    """An agent whose collectors are gone when the test is."""
    agent = Agent(tmp_path)
    yield agent
    for pid in agent.collectors():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("is_writable", [True, False])
def test_a_session_is_written_as_plain_text(
    agent: Agent, is_writable: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """When it has ended, below the folder that the agent calls from; where that fails, a line in our log says so."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STENOGRAPH_TEXTS", "texts")
    if not is_writable:
        (tmp_path / "texts").touch()
    agent.hook("SessionStart")
    agent.write(*LINES)
    agent.hook("SessionEnd")
    until(lambda: not agent.collectors())
    assert agent.recorded() == agent.expected()
    if is_writable:
        assert len(texts_below(tmp_path / "texts")) >= 1
        assert texts_below(tmp_path / "texts") == texts_of(agent.journal)
        assert not agent.problems.exists()
    else:
        assert "text transcripts were not written: cannot write" in agent.problems.read_text()


@pytest.mark.parametrize("thread", ["nightly", "../evil"])
def test_the_text_belongs_to_the_thread_that_the_agents_environment_names(
    agent: Agent, thread: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One that cannot be a folder is a line in our log, and the session is recorded all the same."""
    monkeypatch.setenv("STENOGRAPH_TEXTS", str(tmp_path / "texts"))
    monkeypatch.setenv("STENOGRAPH_THREAD", thread)
    agent.hook("SessionStart")
    agent.write(*LINES)
    agent.hook("SessionEnd")
    until(lambda: not agent.collectors())
    assert agent.recorded() == agent.expected()
    if thread == "nightly":
        assert [path.name for path in (tmp_path / "texts" / "threads").iterdir()] == ["nightly"]
        assert not agent.problems.exists()
    else:
        assert not (tmp_path / "texts").exists()
        assert "'../evil' cannot name a thread" in agent.problems.read_text()


def test_a_session_is_recorded_and_its_process_ends(agent: Agent) -> None:
    """From before the first line to the end of the session; the journal is what `steno convert` gives."""
    agent.hook("SessionStart")
    assert len(agent.collectors()) == 1
    agent.hook("UserPromptSubmit")
    for line in LINES[:20]:
        agent.write(line)
    until(lambda: len(agent.recorded()) >= 20)
    agent.hook("Stop")
    agent.write(*LINES[20:])  # the last message comes after the hook
    agent.hook("SessionEnd")
    until(lambda: not agent.collectors())
    assert agent.recorded() == agent.expected()
    assert not agent.problems.exists()


def test_a_session_is_over_when_its_process_is(agent: Agent) -> None:
    """Also when the last call came too late, after that of the end, or the call of the end did not come."""
    for events in (["SessionEnd", "PostToolUse"], ["PostToolUse"]):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
            agent.hook("SessionStart", pid=process.pid)
            agent.write(*LINES[:2])
            for event in events:
                agent.hook(event, pid=process.pid)
            until(agent.recorded)
            until(lambda: len(agent.collectors()) == 1)  # one that the first call ended may not be gone yet
        until(lambda: not agent.collectors())
        assert agent.recorded() == agent.expected()
    assert not agent.problems.exists()


def test_the_process_is_nobodys(agent: Agent) -> None:
    """It has a session of its own, no terminal, none of the agent's files and not its folder."""
    agent.write(*LINES[:3])
    with (agent.place / "pipe").open("wb") as pipe:
        os.set_inheritable(pipe.fileno(), True)
        call = {"transcript_path": str(agent.session), "hook_event_name": "SessionStart"}
        environment = {**os.environ, "STENOGRAPH_STORAGE": "storage"}
        subprocess.run(
            [*STENO, "hook", "claude"],
            input=json.dumps(call).encode(),
            env=environment,
            cwd=agent.place,
            pass_fds=[pipe.fileno()],
            check=True,
            timeout=PATIENCE,
        )
    until(lambda: len(agent.recorded()) >= 3)
    (pid,) = agent.collectors()
    assert os.getsid(pid) == pid
    assert (Path(f"/proc/{pid}") / "cwd").readlink() == Path("/")
    opened = {str(each.readlink()) for each in (Path(f"/proc/{pid}") / "fd").iterdir()}
    assert str(agent.place / "pipe") not in opened
    assert {str((Path(f"/proc/{pid}") / "fd" / str(fd)).readlink()) for fd in range(3)} == {"/dev/null"}


def test_an_agent_that_closed_its_output_is_recorded_all_the_same(agent: Agent) -> None:
    """The lock must not be where the process that collects has its own standard output."""
    call = {"transcript_path": str(agent.session), "hook_event_name": "SessionEnd" + "x" * 100_000}
    line = shlex.join([*STENO, "hook", "claude"])
    environment = {**os.environ, "STENOGRAPH_STORAGE": str(agent.storage)}
    agent.write(*LINES)
    done = subprocess.run(["sh", "-c", f"{line} >&- 2>&-"], input=json.dumps(call).encode(), env=environment)
    assert done.returncode == 0
    until(lambda: agent.recorded() == agent.expected())
    assert len(agent.collectors()) == 1
    agent.hook("SessionEnd")  # to the process that holds the lock
    until(lambda: not agent.collectors())
    assert not agent.problems.exists()
    assert (agent.storage / "collectors" / SESSION).stat().st_size < 1000


def test_many_hooks_at_once_start_one_process(agent: Agent) -> None:
    """Parallel tools call hooks in parallel; the session is recorded by one process, and once."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(agent.hook, ["PostToolUse"] * 16))
    assert len(agent.collectors()) == 1
    agent.write(*LINES)
    until(lambda: agent.recorded() == agent.expected())
    assert agent.recorded() == agent.expected()


def test_kill_9_loses_nothing_and_repeats_nothing(agent: Agent) -> None:
    """However often the process is killed, wherever it is; the next hook goes on where the journal is."""
    chance = random.Random(7)
    agent.hook("SessionStart")
    for at in range(0, len(LINES), 8):
        agent.write(*LINES[at : at + 8])
        time.sleep(chance.uniform(0, 0.4))  # while it starts, reads, or waits
        for pid in agent.collectors():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            until(lambda pid=pid: pid not in agent.collectors())
        agent.hook("PostToolUse")
    agent.hook("SessionEnd")
    until(lambda: not agent.collectors())
    assert agent.recorded() == agent.expected()


@pytest.mark.parametrize("kept", [1, 7, 23])
def test_a_journal_that_was_cut_between_two_events_is_continued(agent: Agent, kept: int) -> None:
    """Also in the middle of a line's events."""
    agent.write(*LINES)
    whole = agent.expected()
    agent.journal.parent.mkdir(parents=True)
    agent.journal.write_bytes(b"\n".join(whole[:kept]) + b"\n" + whole[kept][:5])
    agent.hook("SessionEnd")
    until(lambda: not agent.collectors())
    assert agent.recorded() == whole


def test_a_session_that_goes_on_after_its_end_is_recorded_on(agent: Agent) -> None:
    """A resumed session is the same run: a later hook starts a process again."""
    agent.hook("SessionStart")
    agent.write(*LINES[:30])
    agent.hook("SessionEnd")
    until(lambda: not agent.collectors())
    agent.hook("SessionStart", source="resume")
    agent.write(*LINES[30:])
    agent.hook("SessionEnd")
    until(lambda: not agent.collectors())
    assert agent.recorded() == agent.expected()


def test_a_session_that_is_never_written_is_said(agent: Agent) -> None:
    """An agent that keeps no sessions calls hooks all the same: no journal, one line in the log."""
    agent.hook("SessionStart")
    agent.hook("SessionEnd")
    until(lambda: not agent.collectors())
    assert not agent.journal.exists()
    assert agent.problems.read_text().count("\n") == 1
    assert f"no session was written to {agent.session}" in agent.problems.read_text()


def test_a_journal_that_somebody_else_writes_is_left_to_them(agent: Agent) -> None:
    """And taken over when they have let go of it."""
    agent.write(*LINES)
    with Recorder(agent.storage, run_id=SESSION):
        agent.hook("Stop")
        time.sleep(1)
        assert agent.recorded() == []
    until(lambda: agent.recorded() == agent.expected())
    assert not agent.problems.exists()


def test_collect_by_hand(agent: Agent) -> None:
    """`steno collect` records a session without any hook, prints where, and ends when it is quiet."""
    agent.write(*LINES)
    done = subprocess.run(
        [*STENO, "collect", str(agent.session), "--root", str(agent.storage), "--idle", "0.3"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{agent.journal}\n", "")
    assert agent.recorded() == agent.expected()
