"""The command line as a person runs it: real processes, pipes and signals."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from archive_cases import SESSION, claude_line, session_path, subagent_path, synced, written
from stenograph import Run, start_run

PATIENCE = 120
STENO = [sys.executable, "-W", "error", "-m", "stenograph"]


@pytest.fixture
def long_run(root: Path) -> Run:
    """A run whose transcript is larger than any pipe."""
    with start_run("long", root=root) as run:
        for number in range(3_000):
            run.assistant(f"{number} " + "y" * 200)
    return run


@pytest.mark.parametrize(
    "arguments",
    [["show"], ["show", "--json"], ["show", "--as", "text"], ["show", "--as", "entries"], ["tail", "--json"]],
)
def test_a_reader_that_leaves_is_no_error(long_run: Run, arguments: list[str]) -> None:
    """`steno … | head -1` prints one line and nothing on stderr."""
    command = shlex.join([*STENO, *arguments, str(long_run.path)])
    done = subprocess.run(["bash", "-c", f"{command} | head -1"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_the_exit_code_of_a_broken_pipe_is_141(long_run: Run) -> None:
    """As the shell reports it for programs that die of SIGPIPE."""
    command = shlex.join([*STENO, "show", str(long_run.path)])
    script = f"{command} | head -1 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_errors_are_one_line_and_an_exit_code(tmp_path: Path) -> None:
    """Never a traceback for what we raise on purpose."""
    done = subprocess.run([*STENO, "show", "550e"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("steno: no file and no run '550e' in storage/transcripts")
    assert done.stderr.count("\n") == 1


def test_output_is_utf8_whatever_the_locale(root: Path) -> None:
    """Also where Python would have chosen ASCII."""
    with start_run("r", root=root) as run:
        run.user("零 😀")
    for form in ("terminal", "text", "json"):
        done = subprocess.run(
            [*STENO, "show", str(run.path), "--as", form],
            env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            capture_output=True,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert "零 😀" in done.stdout.decode()


def test_the_program_starts_without_loading_what_it_does_not_need() -> None:
    """`steno --version` imports neither asyncio nor the watcher nor the journal."""
    script = (
        "import sys; sys.argv = ['steno', '--version']\n"
        "import stenograph.cli\n"
        "try: stenograph.cli.main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'asyncio', 'watchfiles', 'msgspec', 'stenograph.journal'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.splitlines()[1] == "[]", done.stdout


def test_a_search_loads_neither_parsers_nor_readers(tmp_path: Path) -> None:
    """What only reading, folding or recording a run needs is not loaded: people type a search and wait for it."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    written(session_path(home), claude_line(1, text="hello"))
    synced(home, archive)
    script = (
        "import sys; sys.argv = ['steno', 'search', 'hello', '--json']\n"
        "import stenograph.cli\n"
        "try: stenograph.cli.main()\n"
        "except SystemExit: pass\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('stenograph.')}\n"
        "print(*sorted(rooms), *({'asyncio', 'socket', 'tempfile', 'subprocess'} & set(sys.modules)), file=sys.stderr)"
    )
    environment = {**os.environ, "STENOGRAPH_HOME": str(archive)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment)
    assert json.loads(done.stdout)[0]["run_id"] == SESSION
    assert done.stderr.split() == sorted(
        [
            "archive",
            "cli",
            "closing",
            "config",
            "errors",
            "journal",
            "lazy",
            "model",
            "query",
            "render",
            "runs",
            "version",
        ]
    )


def test_a_demo_that_nobody_reads_ends_quietly(tmp_path: Path) -> None:
    """`steno demo | head -1`: the threads that print are as quiet as the rest."""
    command = shlex.join([*STENO, "demo", "--pace", "0"])
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout.startswith("━━ review run ")
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
    assert len(list((tmp_path / "storage" / "transcripts").iterdir())) == 3


WRITER = """
    import sys, time
    from stenograph import Recorder
    with Recorder(sys.argv[1], run_id=sys.argv[2]) as recorder:
        for number in range(2_000):
            recorder.record("system.event", {"subtype": "n", "text": "y" * (number % 500)})
            if number % 200 == 0:
                time.sleep(0.01)
"""


@contextmanager
def _started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that is gone afterwards, whatever happened."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("by", ["run id", "path"])
def test_tail_f_follows_a_run_that_does_not_exist_yet(root: Path, by: str) -> None:
    """Gapless while another process records 2,000 events; Ctrl-C ends it with 130 and without a traceback."""
    run_id = str(uuid4())
    path = root / "transcripts" / f"{run_id}.jsonl"
    target = [run_id, "--root", str(root)] if by == "run id" else [str(path)]
    with _started([*STENO, "tail", "-f", "--json", *target]) as tail:
        assert tail.stdout is not None
        with _started([sys.executable, "-c", textwrap.dedent(WRITER), str(root), run_id]) as writer:
            lines = [tail.stdout.readline() for _ in range(2_000)]
            assert writer.wait(PATIENCE) == 0
        assert [json.loads(line)["seq"] for line in lines] == list(range(1, 2_001))
        assert "".join(lines) == path.read_text("utf-8")
        tail.send_signal(signal.SIGINT)
        rest, errors = tail.communicate(timeout=PATIENCE)
    assert tail.returncode == 130
    assert rest == ""
    assert errors.strip() == ""


def test_tail_f_begins_where_it_is_told(root: Path) -> None:
    """--from, on a journal that is there, with people's output; it goes on when more comes."""
    run = start_run("r", root=root)
    run.user("first")
    command = [*STENO, "tail", "-f", run.run_id[:8], "--from", "3", "--root", str(root)]
    with _started(command) as tail:
        assert tail.stdout is not None
        run.user("second")
        assert tail.stdout.readline() == "👤 second\n"
        run.complete()
        assert tail.stdout.readline() == "✓ r\n"
        tail.send_signal(signal.SIGINT)
        assert tail.wait(PATIENCE) == 130


def test_tail_f_goes_on_where_ctrl_c_is_ignored(root: Path) -> None:
    """A shell hands that down to what it starts in the background: such a tail outlives Ctrl-C, and SIGTERM ends it."""
    run = start_run("r", root=root)
    command = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *STENO, "tail", "-f", run.run_id, "--root", str(root)]
    with _started(command) as tail:
        assert tail.stdout is not None
        assert tail.stdout.readline().startswith("━━ r run")
        tail.send_signal(signal.SIGINT)
        run.user("after")
        assert tail.stdout.readline() == "👤 after\n"
        tail.terminate()
        assert tail.wait(PATIENCE) == -signal.SIGTERM


@pytest.mark.parametrize("kind", ["agent file", "archived"])
def test_tail_f_follows_what_is_not_a_journal(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent's file as the agent writes it, with a new subagent, and an archived run as a sync adds to it."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    path = written(session_path(home), claude_line(1, text="first"))
    synced(home, archive)
    monkeypatch.setenv("STENOGRAPH_HOME", str(archive))
    with _started([*STENO, "tail", "-f", str(path) if kind == "agent file" else SESSION[:8]]) as tail:
        assert tail.stdout is not None
        assert tail.stdout.readline() == "👤 first\n"
        written(path, claude_line(2, text="second"))
        synced(home, archive)
        assert tail.stdout.readline() == "👤 second\n"
        written(subagent_path(home), claude_line(3, text="below", isSidechain=True, agentId="a1"))
        synced(home, archive)
        assert "below" in tail.stdout.readline()
        tail.send_signal(signal.SIGINT)
        _, errors = tail.communicate(timeout=PATIENCE)
        assert tail.returncode == 130, errors


WAITING = """
    import sys
    from stenograph import cli, watch

    wait = watch.FolderWatch.wait

    def told(self):
        print("waiting", flush=True)
        wait(self)

    watch.FolderWatch.wait = told
    sys.argv = ["steno", "tail", "-f", sys.argv[1], "--root", sys.argv[2]]
    cli.main()
"""


def test_ctrl_c_while_tail_waits_for_a_folder(tmp_path: Path) -> None:
    """Nothing is there yet, and nothing is left."""
    command = [sys.executable, "-c", textwrap.dedent(WAITING), str(uuid4()), str(tmp_path / "nowhere")]
    with _started(command) as tail:
        assert tail.stdout is not None
        assert tail.stdout.readline() == "waiting\n"
        tail.send_signal(signal.SIGINT)
        _, errors = tail.communicate(timeout=PATIENCE)
    assert tail.returncode == 130
    assert errors.strip() == ""
    assert list(tmp_path.iterdir()) == []
