"""`steno run` is not there, as far as the command and whoever started it can tell; and it records."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from opencode_database import create_tables, insert
from stenograph import Event, Recorder, read_events
from stenograph.model import encode
from stenograph.sources import convert
from text_files import texts_below, texts_of

PATIENCE = 120
STENO = [sys.executable, "-W", "error", "-m", "stenograph", "run"]
SESSION = "550e8400-e29b-41d4-a716-446655440000"
GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home and a storage of its own, and a folder to be in."""
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("STENOGRAPH_STORAGE", str(tmp_path / "storage"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(code)]


def _run(command: list[str], *options: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*STENO, *options, "--", *command], capture_output=True, timeout=PATIENCE, **more)


def _journals(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "storage" / "transcripts").glob("*.jsonl"))


def _journal(tmp_path: Path) -> list[Event]:
    (path,) = _journals(tmp_path)
    return list(read_events(path))


def _database(*cases: str) -> sqlite3.Connection:
    """OpenCode's database with the rows of golden cases."""
    connection = sqlite3.connect(":memory:")
    create_tables(connection)
    for case in cases:
        for row in map(json.loads, (GOLDEN / "opencode" / case / "input.jsonl").read_bytes().splitlines()):
            insert(connection, row)
    return connection


def _shell_wait(path: Path) -> str:
    """Words of a shell that wait for a file."""
    return f"while [ ! -e {shlex.quote(str(path))} ]; do sleep 0.02; done"


def _until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "what was waited for never came"
        time.sleep(0.01)


# Not there.


def test_bytes_go_through_untouched() -> None:
    """Five megabytes of anything from stdin to stdout, and what goes to stderr stays there."""
    data = os.urandom(5_000_000)
    done = _run(["sh", "-c", "cat; printf 'not \\377 text' >&2"], input=data)
    assert (done.returncode, done.stderr) == (0, b"not \xff text")
    assert done.stdout == data


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -TERM $$"], 143),
        (["sh", "-c", "kill -9 $$"], 137),
    ],
)
def test_the_exit_code_is_the_commands(command: list[str], code: int) -> None:
    """Also of one that died of a signal, as a shell tells it."""
    done = _run(command)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


def test_a_command_that_is_not_there_is_127(tmp_path: Path) -> None:
    """One that may not be run is 126; both are one line, and nothing is recorded."""
    (tmp_path / "plain").write_text("x")
    for command, code in [("no-such-command", 127), (str(tmp_path / "plain"), 126)]:
        done = _run([command])
        assert (done.returncode, done.stdout) == (code, b"")
        assert done.stderr.decode().startswith(f"steno: {command}: ")
        assert done.stderr.count(b"\n") == 1
    assert _journals(tmp_path) == []


def test_an_empty_command_is_127(tmp_path: Path) -> None:
    """As a shell says it of a word that is empty: one line, and nothing is recorded."""
    done = _run([""])
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (127, b"", 1)
    assert not _journals(tmp_path)


def test_a_script_without_a_first_line_is_run_by_the_shell(tmp_path: Path) -> None:
    """As a shell does it."""
    script = tmp_path / "script"
    script.write_text("echo ran $1\n")
    script.chmod(0o755)
    assert _run([str(script), "it"]).stdout == b"ran it\n"


def test_words_come_when_they_are_said(tmp_path: Path) -> None:
    """Not a line, not a buffer later: half a line is there while the command goes on."""
    command = ["sh", "-c", f"printf half; {_shell_wait(tmp_path / 'go')}; echo ' line'"]
    with subprocess.Popen([*STENO, "--", *command], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 100) == b"half"
        (tmp_path / "go").touch()
        assert process.stdout.read() == b" line\n"
    assert process.returncode == 0


def test_a_reader_that_leaves_ends_the_command() -> None:
    """By SIGPIPE, as without us, and nothing is said about it."""
    script = f"{shlex.join(STENO)} -- yes | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("y\n141\n", "")


def test_a_closed_output_stays_closed() -> None:
    """A command whose stdout was closed finds it closed."""
    command = _python("import os\ntry: os.fstat(1)\nexcept OSError: os.write(2, b'closed')")
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *STENO, "--", *command], capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, b"closed")


def test_what_outlives_the_command_still_prints(tmp_path: Path) -> None:
    """We end with the command, and what it left in the background has its output still."""
    command = ["sh", "-c", f"({_shell_wait(tmp_path / 'go')}; echo late) & echo early"]
    with subprocess.Popen([*STENO, "--", *command], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert os.read(process.stdout.fileno(), 100) == b"early\n"
        assert process.wait(PATIENCE) == 0
        (tmp_path / "go").touch()
        assert process.stdout.read() == b"late\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_to_us_reaches_the_command(number: signal.Signals) -> None:
    """Which does with it what it likes; we neither die of it nor say a word."""
    code = f"""
        import signal, sys, time
        signal.signal({int(number)}, lambda *_: sys.exit(3))
        print("ready", flush=True)
        time.sleep({PATIENCE})
    """
    with subprocess.Popen(
        [*STENO, "--", *_python(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait(PATIENCE) == 3
        assert process.stderr.read() == b""


@pytest.mark.parametrize("is_handled", [False, True], ids=["ignored", "handled"])
def test_a_command_ignores_ctrl_c_exactly_where_it_would_without_us(is_handled: bool) -> None:
    """Where a shell ignores SIGINT, the command inherits that; one that wants it all the same gets it through us."""
    handled = "signal.signal(signal.SIGINT, lambda *_: sys.exit(3))" if is_handled else ""
    code = f"""
        import signal, sys, time
        print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, flush=True)
        {handled}
        print("ready", flush=True)
        time.sleep({PATIENCE})
    """
    shell = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh"]
    with subprocess.Popen(
        [*shell, *STENO, "--", *_python(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"True\n"
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        if not is_handled:
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == (3 if is_handled else 128 + signal.SIGTERM)
        assert process.stderr.read() == b""


class Terminal:
    """A terminal with a program in the foreground."""

    def __init__(self, program: list[str]) -> None:
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.execv(program[0], program)
        self.shown = b""

    def keys(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._fd, keys)

    def shows(self, words: bytes) -> None:
        """Wait until it shows this."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.shown:
            assert time.monotonic() < deadline, self.shown
            if select.select([self._fd], [], [], 0.1)[0]:
                self.shown += os.read(self._fd, 4096)

    def status(self) -> int:
        """Wait for it to end."""
        return os.waitpid(self.pid, 0)[1]

    def close(self) -> None:
        os.close(self._fd)


def test_a_key_interrupts_once() -> None:
    """Ctrl-C on a terminal reaches the command from the terminal, and not a second time from us."""
    code = """
        import os, signal, sys, time
        times = []
        signal.signal(signal.SIGINT, lambda *_: times.append(1))
        assert all(map(os.isatty, range(3)))
        print("ready", flush=True)
        while not times:
            time.sleep(0.01)
        time.sleep(0.5)
        print("interrupted", len(times), flush=True)
        sys.exit(5)
    """
    screen = Terminal([*STENO, "--", *_python(code)])
    try:
        screen.shows(b"ready")
        screen.keys(b"\x03")
        screen.shows(b"interrupted 1")
        assert os.waitstatus_to_exitcode(screen.status()) == 5
    finally:
        screen.close()


SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, setpgroup=0, setsigdef=[signal.SIGTTOU])
os.tcsetpgrp(0, job)
assert os.WIFSTOPPED(os.waitpid(job, os.WUNTRACED)[1])
os.tcsetpgrp(0, os.getpgrp())
print("the shell has noticed", flush=True)
os.tcsetpgrp(0, job)
os.killpg(job, signal.SIGCONT)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(job, 0)[1]))
"""


def test_a_stopped_command_stops_us() -> None:
    """Ctrl-Z stops both, so that the shell notices; when the shell lets us go on, the command goes on."""
    code = """
        import os, time
        while os.tcgetpgrp(0) != os.getpgrp():  # until the shell has put us into the foreground
            time.sleep(0.01)
        print("ready", flush=True)
        input()
        print("went on", flush=True)
        raise SystemExit(5)
    """
    screen = Terminal([sys.executable, "-c", SHELL, *STENO, "--", *_python(code)])
    try:
        screen.shows(b"ready")
        screen.keys(b"\x1a")
        screen.shows(b"the shell has noticed")
        screen.keys(b"\n")
        screen.shows(b"went on")
        assert os.waitstatus_to_exitcode(screen.status()) == 5
    finally:
        screen.close()


def test_the_environment_is_untouched(tmp_path: Path) -> None:
    """Also where Python would set the locale's encoding for itself, and whatever signals Python ignores."""
    environment = {"PATH": os.environ["PATH"], "LANG": "C", "HOME": str(tmp_path), "ODD": "\udcff", "LC_ALL": ""}
    environment["STENOGRAPH_STORAGE"] = str(tmp_path / "storage")
    # The last digits only: the C library sets two signals of its own aside in whatever it starts.
    signals = "grep -aE 'Sig(Blk|Ign|Cgt)' /proc/self/status | grep -oE '.{7}$'"
    show = ["sh", "-c", f"env -0 | sort -z; {signals}; umask; pwd; ls /proc/self/fd"]
    bare = subprocess.run(show, env=environment, capture_output=True, timeout=PATIENCE)
    assert _run(show, env=environment).stdout == bare.stdout


def test_the_descriptor_for_paths_is_ours_alone(tmp_path: Path) -> None:
    """The command gets every open descriptor of its caller but that one, to which the journal's path is written."""
    with (tmp_path / "paths").open("wb") as paths, (tmp_path / "other").open("wb") as other:
        ours, its = paths.fileno(), other.fileno()
        done = _run(["bash", "-c", f"echo x >&{its}; ls /proc/$$/fd"], "--print-path", str(ours), pass_fds=[ours, its])
    assert str(its) in done.stdout.decode().split()
    assert str(ours) not in done.stdout.decode().split()
    assert (tmp_path / "other").read_text() == "x\n"
    assert (tmp_path / "paths").read_text() == f"{_journals(tmp_path)[0]}\n"


def test_a_descriptor_that_is_not_open_is_a_usage_error() -> None:
    """Said before anything runs."""
    done = _run(["echo", "ran"], "--print-path", "77")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"77 is not an open descriptor" in done.stderr


def test_a_recording_that_fails_is_not_the_commands_problem(tmp_path: Path) -> None:
    """Its output and its exit code are what they are; one line says what was not recorded."""
    (tmp_path / "file").touch()
    done = _run(["sh", "-c", "echo fine; exit 4"], "--root", str(tmp_path / "file"))
    assert (done.returncode, done.stdout) == (4, b"fine\n")
    assert done.stderr.startswith(b"steno: cannot open ")
    assert done.stderr.count(b"\n") == 1


def test_a_folder_that_is_gone_is_not_the_commands_problem(tmp_path: Path) -> None:
    """A command may run where there is nothing any more; so may we."""
    script = 'mkdir gone; cd gone; rmdir ../gone; "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *STENO, "--", "echo", "fine"], cwd=tmp_path, capture_output=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout) == (0, b"fine\n")


# What is recorded.


def test_a_command_is_recorded(tmp_path: Path) -> None:
    """A run with one command at our own seam: its line, its output, its exit code."""
    _run(["sh", "-c", "echo 'out 出'; exit 2"])
    events = _journal(tmp_path)
    assert [event.type for event in events] == ["run.started", "tool.call", "tool.result", "run.completed"]
    started, call, result, completed = (event.payload for event in events)
    assert (started.name, started.kind, completed.result) == ("sh", "command", {"exit_code": 2})
    assert (call.name, call.fidelity, call.call_id) == ("command", "router", result.call_id)
    assert call.blocks[0].command == """sh -c 'echo '"'"'out 出'"'"'; exit 2'"""
    assert result.output == {"exit_code": 2, "stdout": "out 出\n"}
    assert result.error is None
    assert events[0].timestamp <= events[2].timestamp


def test_a_long_output_is_recorded_without_its_middle(tmp_path: Path) -> None:
    """The journal keeps a MiB of it, and says how much it left out."""
    _run(["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo end"])
    text = _journal(tmp_path)[2].payload.output["stdout"]
    assert f"[… {3_000_004 - (1 << 20)} bytes left out …]" in text
    assert text.startswith("xxx")
    assert text.endswith("xend\n")


AGENT = """\
#!/bin/sh
'''exec' "{python}" "$0" "$@"
' '''
import os, sys, time
from pathlib import Path
source, stream = map(Path, {inputs})
if "--no-file" not in sys.argv:
    folder = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects" / "p"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "{session}.jsonl").open("ab", buffering=0) as file:
        for number, line in enumerate(source.read_bytes().splitlines(keepends=True)):
            file.write(line)
            if number == 2 and "--stream" in sys.argv:
                sys.stdout.buffer.write(stream.read_bytes())
                sys.stdout.flush()
            time.sleep(0.01)
elif "--stream" in sys.argv:
    sys.stdout.buffer.write(stream.read_bytes())
while "--wait" in sys.argv and not Path("go").exists():
    time.sleep(0.01)
sys.exit(6)
"""


@pytest.fixture
def claude(tmp_path: Path) -> str:
    """A program called claude that says and writes what the real one did."""
    source = GOLDEN / "claude_code" / "2.1.325-basic" / "input.jsonl"
    stream = GOLDEN / "claude_stream" / "2.1.325-parallel" / "input.jsonl"
    lines = [json.loads(line) for line in source.read_bytes().splitlines()]
    for line in lines:
        if "cwd" in line:
            line["cwd"] = str(tmp_path / "work")
    said = [json.loads(line) for line in stream.read_bytes().splitlines()]
    for record in said:
        if "session_id" in record:
            record["session_id"] = SESSION
    inputs = []
    for name, records in (("source", lines), ("stream", said)):
        inputs.append(str(tmp_path / name))
        text = "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records)
        (tmp_path / name).write_text(text, "utf-8")
    program = tmp_path / "claude"
    program.write_text(AGENT.format(python=sys.executable, inputs=tuple(inputs), session=SESSION))
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize("options", [["--stream"], []], ids=["by the id it printed", "by its folder"])
@pytest.mark.parametrize("home", ["home/.claude", "elsewhere"])
def test_an_agent_is_recorded_from_its_files(
    claude: str, options: list[str], home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal is what `steno convert` gives for the session, to the byte, and nothing of what was printed."""
    if home == "elsewhere":
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / home))
    done = _run([claude, *options])
    stream = (tmp_path / "stream").read_bytes() if options else b""
    assert (done.returncode, done.stdout, done.stderr) == (6, stream, b"")
    (path,) = _journals(tmp_path)
    assert path.stem == SESSION
    session = tmp_path / home / "projects" / "p" / f"{SESSION}.jsonl"
    assert path.read_bytes() == b"".join(encode(event) + b"\n" for event in convert(session))


def test_an_agent_in_a_terminal_is_recorded_from_its_files(claude: str, tmp_path: Path) -> None:
    """Where nothing goes through our hands, too."""
    screen = Terminal([*STENO, "--", claude])
    assert os.waitstatus_to_exitcode(screen.status()) == 6
    screen.close()
    session = tmp_path / "home" / ".claude" / "projects" / "p" / f"{SESSION}.jsonl"
    (path,) = _journals(tmp_path)
    assert path.read_bytes() == b"".join(encode(event) + b"\n" for event in convert(session))


def test_a_session_that_goes_on_is_recorded_on(claude: str, tmp_path: Path) -> None:
    """The same session in a second command: the journal has it once, and all of it."""
    _run([claude, "--stream"])
    _run([claude, "--stream"])
    session = tmp_path / "home" / ".claude" / "projects" / "p" / f"{SESSION}.jsonl"
    (path,) = _journals(tmp_path)
    assert path.read_bytes() == b"".join(encode(event) + b"\n" for event in convert(session))


def test_an_agent_without_files_is_recorded_from_what_it_printed(claude: str, tmp_path: Path) -> None:
    """Its stream, by the stream's format; also when a session of another time has the same id."""
    done = _run([claude, "--stream", "--no-file"])
    assert done.returncode == 6
    (path,) = _journals(tmp_path)
    expected = list(convert(tmp_path / "stream"))
    told = list(read_events(path))
    assert path.stem == SESSION
    assert {event.origin.adapter for event in told if event.origin} == {"claude_stream"}
    assert [(event.type, event.payload, event.raw) for event in told] == [
        (event.type, event.payload, event.raw) for event in expected
    ]


def test_a_session_of_somebody_else_is_not_the_commands(claude: str, tmp_path: Path) -> None:
    """A session in the same folder that is older than the command, or one in another folder, is left alone."""
    projects = tmp_path / "home" / ".claude" / "projects" / "p"
    projects.mkdir(parents=True)
    old, other = projects / f"{SESSION}.jsonl", projects / "660e8400-e29b-41d4-a716-446655440000.jsonl"
    old.write_bytes((tmp_path / "source").read_bytes())
    os.utime(old, (0, 0))
    text = (tmp_path / "source").read_text("utf-8").replace(str(tmp_path / "work"), "/somewhere")
    program = tmp_path / "other" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat '{tmp_path}/other-session' > '{other}'\n")
    program.chmod(0o755)
    (tmp_path / "other-session").write_text(text, "utf-8")
    _run([str(program)])
    assert [event.type for event in _journal(tmp_path)][:2] == ["run.started", "tool.call"]


def test_the_journal_grows_while_the_agent_works(claude: str, tmp_path: Path) -> None:
    """Who follows the journal sees the session live."""
    with subprocess.Popen([*STENO, "--", claude, "--stream", "--wait"], stdout=subprocess.DEVNULL) as process:
        try:
            _until(lambda: _journals(tmp_path) and _journals(tmp_path)[0].stat().st_size > 0)
            assert process.poll() is None
        finally:
            Path("go").touch()
        assert process.wait(PATIENCE) == 6


def test_a_session_that_somebody_records_is_left_to_them(claude: str, tmp_path: Path) -> None:
    """A journal that another process writes is not ours to write; what it never got of the session is said."""
    with Recorder(tmp_path / "storage", run_id=SESSION), (tmp_path / "paths").open("wb") as paths:
        done = _run([claude, "--stream"], "--print-path", str(paths.fileno()), pass_fds=[paths.fileno()])
    session = tmp_path / "home" / ".claude" / "projects" / "p" / f"{SESSION}.jsonl"
    missing = len(list(convert(session)))
    assert done.returncode == 6
    assert done.stderr.decode().startswith(f"steno: {missing} events of {session} are not recorded: another process ")
    assert done.stderr.count(b"\n") == 1
    assert [path.name for path in _journals(tmp_path)] == [f"{SESSION}.jsonl"]
    assert (tmp_path / "paths").read_text() == f"{_journals(tmp_path)[0]}\n"
    assert _journals(tmp_path)[0].read_bytes() == b""


TURNS = """\
#!/bin/sh
'''exec' "{python}" "$0" "$@"
' '''
import sys
from pathlib import Path
sys.stdout.write(Path({stream!r}).read_text("utf-8"))
sys.stdout.flush()
source = Path({source!r}).read_bytes().splitlines(keepends=True)
with Path({session!r}).open("a+b", buffering=0) as file:
    for wanted in sys.stdin:
        file.seek(0)
        there = len(file.readlines())
        file.write(b"".join(source[there : there + int(wanted)]))
"""


@pytest.mark.parametrize("is_killed", [False, True], ids=["ended", "killed"])
def test_of_two_runs_on_one_session_the_one_that_stays_records_the_rest(
    claude: str, tmp_path: Path, is_killed: bool
) -> None:
    """The second is refused the journal and asks again until the first has gone; the journal is whole."""
    session = tmp_path / "home" / ".claude" / "projects" / "p" / f"{SESSION}.jsonl"
    session.parent.mkdir(parents=True)
    files = {"stream": str(tmp_path / "stream"), "source": str(tmp_path / "source"), "session": str(session)}
    Path(claude).write_text(TURNS.format(python=sys.executable, **files))
    with _recorded_turns(claude) as (one, told_one), _recorded_turns(claude) as (two, told_two):
        assert one.stdin is not None
        one.stdin.write(b"3\n")
        assert os.read(told_one, 1) == b"/"  # it has the journal
        assert two.stdin is not None
        two.stdin.write(b"2\n")
        assert os.read(told_two, 1) == b"/"  # it was refused
        one.kill() if is_killed else one.stdin.close()
        assert one.wait(PATIENCE) == (-signal.SIGKILL if is_killed else 0)
        two.stdin.write(b"1000\n")
        two.stdin.close()
        assert two.wait(PATIENCE) == 0
        assert two.stderr is not None
        assert two.stderr.read() == b""
    (path,) = _journals(tmp_path)
    assert path.read_bytes() == b"".join(encode(event) + b"\n" for event in convert(session))


@contextmanager
def _recorded_turns(program: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The program under `steno run`, to be told how many lines to write; and where the paths of journals come."""
    reading, writing = os.pipe()
    with subprocess.Popen(
        [*STENO, "--print-path", str(writing), "--", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        bufsize=0,
        pass_fds=[writing],
    ) as process:
        os.close(writing)
        try:
            yield process, reading
        finally:
            process.kill()
            os.close(reading)


OPENCODE = """\
#!/bin/sh
'''exec' "{python}" "$0" "$@"
' '''
import sqlite3, sys
from pathlib import Path
folder = Path.home() / ".local" / "share" / "opencode"
folder.mkdir(parents=True, exist_ok=True)
connection = sqlite3.connect(folder / "opencode.db")
connection.executescript(Path({script!r}).read_text("utf-8"))
connection.commit()
sys.stdout.buffer.write(Path({stream!r}).read_bytes())
"""


def test_a_session_in_a_database_is_recorded_at_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenCode keeps all its sessions in one file: the journal is what `steno convert` gives for the one it printed."""
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("OPENCODE_DB", raising=False)
    with closing(_database("subagent", "text")) as rows:
        (tmp_path / "script").write_text("\n".join(rows.iterdump()), "utf-8")
    stream = GOLDEN / "opencode_stream" / "subagent" / "input.jsonl"
    program = tmp_path / "opencode"
    program.write_text(OPENCODE.format(python=sys.executable, script=str(tmp_path / "script"), stream=str(stream)))
    program.chmod(0o755)
    done = _run([str(program), "run", "--format", "json", "hi"])
    assert (done.returncode, done.stdout, done.stderr) == (0, stream.read_bytes(), b"")
    session = json.loads(stream.read_bytes().splitlines()[0])["sessionID"]
    database = tmp_path / "home" / ".local" / "share" / "opencode" / "opencode.db"
    expected = list(convert(Path(f"{database}#{session}")))
    (path,) = _journals(tmp_path)
    assert path.stem == expected[0].run_id
    assert {event.source for event in expected} > {"main"}
    assert path.read_bytes() == b"".join(encode(event) + b"\n" for event in expected)


# Written as plain text.


@pytest.mark.parametrize("given", ["option", "environment"])
@pytest.mark.parametrize("options", [["--stream"], [], ["--no-file", "--stream"]], ids=" ".join)
def test_an_agent_is_written_as_plain_text(
    claude: str, options: list[str], given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After it has ended, as `steno text` writes its run, wherever that was recorded from."""
    monkeypatch.setenv("STENOGRAPH_TEXTS", ".leslie" if given == "environment" else "")
    done = _run([claude, *options], *(["--text-root", ".leslie"] if given == "option" else []))
    is_told = "--no-file" not in options  # what it prints does not repeat the prompt
    nothing = b"steno: no text transcript was written: each file begins with a prompt, and none was recorded\n"
    assert (done.returncode, done.stderr) == (6, b"" if is_told else nothing)
    (path,) = _journals(tmp_path)
    written = texts_below(tmp_path / "work" / ".leslie")
    assert written == texts_of(path)
    assert bool(written) == is_told


HEADER = ["Thread ID: nightly", "Chat ID: monday", "Agent Mode: review"]


@pytest.mark.parametrize("given", ["option", "environment"])
def test_text_transcripts_belong_to_the_hosts_thread(
    claude: str, given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thread, chat and mode are those that were given; two commands share one thread."""
    names = {"thread": "nightly", "chat": "monday", "mode": "review"}
    for name, value in names.items() if given == "environment" else ():
        monkeypatch.setenv(f"STENOGRAPH_{name.upper()}", value)
    options = [word for name, value in names.items() for word in (f"--{name}", value)] if given == "option" else []
    for _ in range(2):
        assert _run([claude, "--stream"], "--text-root", ".leslie", *options).stderr == b""
    assert [path.name for path in (tmp_path / "work" / ".leslie" / "threads").iterdir()] == ["nightly"]
    texts = list((tmp_path / "work" / ".leslie").rglob("*.txt"))
    assert texts
    for text in texts:
        lines = text.read_text("utf-8").partition("---")[0].splitlines()
        assert [line for line in lines if line.partition(":")[0] in ("Thread ID", "Chat ID", "Agent Mode")] == HEADER


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--thread", "nightly"], b"--thread is for text transcripts; add --text-root DIR"),
        (["--text-root", ".leslie", "--thread", "../evil"], b"'../evil' cannot name a thread"),
    ],
)
def test_a_thread_that_cannot_be_is_said_before_the_command_runs(
    options: list[str], told: bytes, tmp_path: Path
) -> None:
    """Nothing was started, and the exit code is that of usage."""
    done = _run(["touch", "ran"], *options)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "work" / "ran").exists()


def test_texts_that_cannot_be_written_are_not_the_commands_problem(claude: str, tmp_path: Path) -> None:
    """One line says so; the journal, the output and the exit code are what they would be."""
    (tmp_path / "file").touch()
    done = _run([claude, "--stream"], "--text-root", str(tmp_path / "file"))
    assert (done.returncode, done.stdout) == (6, (tmp_path / "stream").read_bytes())
    assert done.stderr.startswith(b"steno: cannot write ")
    assert done.stderr.count(b"\n") == 1
    assert len(_journals(tmp_path)) == 1


def test_a_session_that_others_record_is_written_as_plain_text(claude: str, tmp_path: Path) -> None:
    """The journal is theirs and may lag behind, so the text is made of the agent's own file."""
    with Recorder(tmp_path / "storage", run_id=SESSION) as theirs:
        _run([claude, "--stream"], "--text-root", ".leslie")
        assert theirs.stats().seq == 0
    session = tmp_path / "home" / ".claude" / "projects" / "p" / f"{SESSION}.jsonl"
    with Recorder(tmp_path / "again", run_id=SESSION) as again:
        for event in convert(session):
            again.append(event)
    assert texts_below(tmp_path / "work" / ".leslie") == texts_of(again.path)
