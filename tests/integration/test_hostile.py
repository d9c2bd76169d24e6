"""Names and contents that want more than to be read: shown to people, on a terminal and in a pipe, and never obeyed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from archive_cases import SESSION, claude_line, rows, session_path, synced, whole_index, written
from stenograph import Recorder
from stenograph.model.payload import LifecyclePayload

EVIL = (
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b31m\u202egnp.exe\u2066\u2028\x85\r\x08\x00\x7f needle"
    "'); DROP TABLE runs; -- \" OR 1=1\nsteno: all is well"
)
LONG = 1 << 20
"""A line of that size is as good as one of a gigabyte, which was tried by hand."""
PATIENCE = 120
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def hostile_home(home: Path) -> None:
    """Files of an agent with everything in them that a model, a tool or a stranger can put there."""
    place = session_path(home).parent
    more = {"cwd": f"/home/{EVIL}", "version": EVIL, "gitBranch": EVIL, "agentId": EVIL, "requestId": EVIL}
    written(place / f"{SESSION}.jsonl", claude_line(1, "user", EVIL, **more))
    call = {"type": "tool_use", "id": EVIL, "name": EVIL, "input": {EVIL: EVIL}}
    answer = {"id": EVIL, "role": "assistant", "model": EVIL, "content": [call], "usage": {"output_tokens": 5}}
    written(place / f"{SESSION}.jsonl", claude_line(2, **more, type="assistant", message=answer))
    result = {"type": "tool_result", "tool_use_id": EVIL, "content": EVIL, "is_error": True}
    written(place / f"{SESSION}.jsonl", claude_line(3, message={"role": "user", "content": [result]}, **more))
    written(place / f"{SESSION}.jsonl", claude_line(4, type="system", subtype=EVIL, content=EVIL))
    written(place / f"{SESSION}.jsonl", claude_line(5, type=EVIL))
    written(place / f"{SESSION}.jsonl", EVIL.replace("\n", "").encode() + b"\xff\xfe\n")
    written(place / f"{SESSION}.jsonl", claude_line(6, "assistant", "\x1b[31m" + "needle \u202e" * (LONG // 10)))
    name = EVIL.replace("/", "").replace("\x00", "")
    written(place / f"{name}.jsonl", claude_line(7, "user", "in a file of that name", session=EVIL))
    written(place / name / "subagents" / f"agent-{name}.jsonl", claude_line(8, isSidechain=True, agentId=EVIL))
    (place / f"{name}.db").write_bytes(b"SQLite format 3\x00 but no more")
    folder = os.fsencode(place.parent) + b"/\xff\xfe" + name.encode()
    os.mkdir(folder)  # noqa: PTH102  # its name is no text
    with open(folder + b"/" + SESSION.replace("0", "1").encode() + b".jsonl", "wb") as file:  # noqa: PTH123  # the same
        file.write(claude_line(9, "user", "in a folder of no name"))


COMMANDS = [
    ["ls"],
    ["ls", "--grep", "needle"],
    ["search", "needle"],
    ["search", "needle", "--rank"],
    ["show", SESSION],
    ["tree", SESSION],
    ["stats", "--by", "model"],
    ["stats", "--by", "project"],
    ["stats", "--by", "tool"],
    ["sql", "SELECT * FROM runs"],
    ["sql", "SELECT * FROM entries"],
    ["sql", "SELECT * FROM tool_calls"],
    ["sql", "SELECT text FROM events"],
    ["diff", SESSION, "@"],
    ["explain", SESSION],
    ["errors", SESSION],
    ["files", SESSION],
]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of them."""
    folder = tmp_path_factory.mktemp("hostile")
    hostile_home(folder / "home")
    summary = synced(folder / "home", folder / "archive")
    assert (summary.failed, summary.new) == (1, 4)
    return folder / "archive"


def in_a_pipe(archive: Path, *arguments: str) -> str:
    """What a program gets that reads both outputs."""
    command = [sys.executable, "-W", "error", "-m", "stenograph", *arguments]
    environment = {**os.environ, "STENOGRAPH_HOME": str(archive)}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, env=environment, cwd=archive, timeout=PATIENCE, **output)
    assert done.returncode in (0, 1), done.stdout[-2000:]
    text: str = done.stdout.decode("utf-8", "strict")
    return text


def on_a_terminal(archive: Path, *arguments: str) -> str:
    """What a person's terminal gets of both outputs."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    environment = {**os.environ, "STENOGRAPH_HOME": str(archive), "TERM": "xterm", "PAGER": "cat"}
    for name in ("COLUMNS", "NO_COLOR"):
        environment.pop(name, None)
    command = [sys.executable, "-W", "error", "-m", "stenograph", *arguments]
    with subprocess.Popen(command, stdout=terminal, stderr=terminal, env=environment, cwd=archive) as running:
        os.close(terminal)
        read = []
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            while piece := os.read(screen, 1 << 16):
                read.append(piece)
        os.close(screen)
        assert running.wait(PATIENCE) in (0, 1), b"".join(read)[-2000:]
    return b"".join(read).decode("utf-8", "strict").replace("\r\n", "\n")


@pytest.mark.parametrize("way", [in_a_pipe, on_a_terminal])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_nothing_is_obeyed(archive: Path, way: object, arguments: list[str]) -> None:
    """No letter that a terminal obeys gets through, except our own colours on a terminal."""
    assert callable(way)
    text = way(archive, *arguments)
    if way is on_a_terminal:
        text = _COLOUR.sub("", text.replace("\x1b[31mred", "obeyed\x1b"))
    assert _OBEYED.search(text) is None
    assert "\r" not in text


def test_a_text_is_verbatim_only_in_a_pipe(archive: Path) -> None:
    """Whoever redirects a text gets what was said; a terminal gets it visible."""
    assert EVIL in in_a_pipe(archive, "show", SESSION, "--as", "text")
    assert _OBEYED.search(on_a_terminal(archive, "show", SESSION, "--as", "text")) is None


@pytest.mark.parametrize("way", [in_a_pipe, on_a_terminal])
def test_a_sync_names_what_it_could_not_read_on_one_line(tmp_path: Path, way: object) -> None:
    """A file's name cannot pretend to be a line of ours."""
    assert callable(way)
    hostile_home(tmp_path / "home")
    (tmp_path / "archive").mkdir()
    text = way(tmp_path / "archive", "sync", "--home", str(tmp_path / "home"))
    lines = text.replace("\r", "\n").splitlines()
    assert _OBEYED.search(text) is None
    assert [line for line in lines if line.startswith("steno: ")] == [
        line for line in lines if line.startswith("steno: cannot read the database ")
    ]


def test_restore_gives_hostile_names_back_without_obeying_them(archive: Path, tmp_path: Path) -> None:
    """Files stay below the folder, and what is printed is one line each."""
    for (run_id,) in rows(archive, "SELECT DISTINCT run_id FROM files"):
        text = in_a_pipe(archive, "restore", run_id, str(tmp_path / "out" / run_id))
        assert _OBEYED.search(text) is None
        assert all(line.startswith(str(tmp_path / "out")) for line in text[:-1].split("\n"))


def test_statements_in_names_and_contents_are_text(archive: Path) -> None:
    """Nothing is dropped, and the index is what the packs make it."""
    assert len(rows(archive, "SELECT * FROM runs")) == 3
    before = whole_index(archive)
    in_a_pipe(archive, "sync", "--rebuild", "--path", str(archive / "kept"))
    assert whole_index(archive) == before


NAMED = EVIL.replace("/", "").replace("\x00", "")
"""What a file may be called."""
EVERY = """
    import sys
    from stenograph.cli.program import run
    for words in eval(sys.stdin.buffer.readline()):
        print("▶", ascii(words[0]))
        sys.stdout.flush()
        sys.argv = ["steno", *words]
        try:
            run()
        except SystemExit as ended:
            assert ended.code in (None, 0, 1, 2, 3, 4, 126, 127), (words, ended.code)
"""


def _every_command(folder: Path) -> list[list[str]]:
    """Each command with names of files and texts that a terminal would obey, where they exist and where they do not."""
    session, strange, journal = (
        str(folder / f"{NAMED}{end}") for end in (".jsonl", ".strange.jsonl", ".journal.jsonl")
    )
    bundle, missing = str(folder / f"{NAMED}.zip"), str(folder / f"{NAMED} missing")
    on_runs = ["show", "tail", "tree", "verify", "errors", "files", "explain", "resume", "convert", "secrets", "text"]
    found = [[name, target] for name in on_runs for target in (session, strange, missing)]
    found += [[name, session, "--json"] for name in on_runs if name != "text"]
    found += [["repair", journal], ["verify", journal], ["repair", journal, "--json"], ["diff", session, strange]]
    found += [["bundle", "create", session, "-o", bundle, "--no-page", "--no-environment"]]
    found += [["bundle", what, bundle, *more] for what in ("show", "verify") for more in ([], ["--json"])]
    found += [["bundle", "extract", bundle, "-o", missing], ["query", bundle, "SELECT * FROM entries", "--csv"]]
    found += [["query", bundle, "SELECT * FROM entries", "--json"], ["bundle", "verify", missing]]
    found += [["detect", session, strange, journal, bundle, missing], ["detect", session, "--json"]]
    found += [["export", session, "--to", form] for form in ("atif", "messages", "openai-chat")]
    found += [
        ["export", session, "--to", EVIL],
        ["show", session, "--as", "html"],
        ["show", session, "--as", "markdown"],
    ]
    found += [["ls", "--json"], ["ls", "--agent", NAMED], ["ls", "--since", NAMED], ["ls", "--archive", missing]]
    found += [["search", "needle", "--json"], ["search", NAMED], ["blame", session], ["blame", f"{session}:1"]]
    found += [["sql", f"SELECT * FROM entries {end}", form] for form in ("--csv", "--json") for end in ("", NAMED)]
    found += [["stats", "--by", by] for by in ("run", "branch", "project", "tool")]
    found += [["sync", "--path", str(folder)], ["sync", "--path", missing], ["collect", "--idle", "0", missing]]
    found += [["check", missing], ["forget", SESSION, "--dry-run"], ["ps"], ["config"], ["doctor"], [NAMED]]
    return [*found, ["evidence", "verify", "--checkpoint", missing], ["install", NAMED], ["run", "--", missing]]


def test_hostile_names_reach_no_terminal_raw(archive: Path, tmp_path: Path) -> None:
    """In any command, error or progress line; in JSON and CSV, too, because people look at those on a terminal."""
    place = tmp_path / "folder"
    written(place / f"{NAMED}.jsonl", *session_path(archive.parent / "home").read_bytes().splitlines(keepends=True)[:4])
    written(place / f"{NAMED}.strange.jsonl", b"what is this\n")
    with Recorder(tmp_path / "root") as recorder:
        recorder.record("run.started", LifecyclePayload(name=EVIL, kind="command"))
    torn = recorder.path.read_bytes() + b'{"seq":2,"torn'
    written(place / f"{NAMED}.journal.jsonl", torn)
    (place / f"{NAMED} link").symlink_to(tmp_path, target_is_directory=True)
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    home = str(tmp_path / "home")
    environment = {**os.environ, "STENOGRAPH_HOME": str(archive), "TERM": "xterm", "PAGER": "cat", "HOME": home}
    commands = _every_command(place)
    with subprocess.Popen(
        [sys.executable, "-c", "if True:" + EVERY],
        stdin=subprocess.PIPE,
        stdout=terminal,
        stderr=terminal,
        env=environment,
        cwd=tmp_path,
    ) as running:
        assert running.stdin is not None
        running.stdin.write(ascii(commands).encode() + b"\n")
        running.stdin.close()
        os.close(terminal)
        read = []
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            while piece := os.read(screen, 1 << 16):
                read.append(piece)
        os.close(screen)
        assert running.wait(PATIENCE) == 0, b"".join(read)[-3000:].decode("utf-8", "replace")
    text = b"".join(read).decode("utf-8", "strict").replace("\r\n", "\n")
    parts = re.split(r"^▶ ", text, flags=re.MULTILINE)[1:]
    assert len(parts) == len(commands)
    for words, part in zip(commands, parts, strict=True):
        shown = _COLOUR.sub("", part).replace("\r", "")
        assert _OBEYED.search(shown) is None, (words, _OBEYED.search(shown))
    assert sum("needle" in part for part in parts) > len(parts) / 2
