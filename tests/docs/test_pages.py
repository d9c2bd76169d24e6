"""The pages run: every Python block and every command, in order and as written, and every link leads somewhere.

A page is read from top to bottom in a folder of its own, as somebody would who has a `stats.py`, programs named
`claude` and `codex`, and a home in which nothing was recorded yet (`reader/`). Its Python blocks share one namespace. A
block marked `output` is what the Python block before it printed, and one marked `needs=PACKAGE` is run where that is
installed; one marked `file=NAME` is saved under that name. In a `console` block, what the command printed stands below
its `$` line; the lines of a `sh` block are commands. In outputs, `…` is whatever it may be; ids, times and durations
are those of the page's author and compared as such, not by value. What goes on until it is interrupted goes on until
the page ends.

Two things are not as written: what installs is checked and not run (`reader/installer.py`), and what listens gets
another port, because the usual one may be taken here. Reference pages are looked up, not followed: there an id stands
for that of the first run here, and `sh` blocks are not run.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from stenograph import open_archive
from stenograph.errors import RunNotFound

REPO = Path(__file__).parents[2]
DOCS = REPO / "docs"
README = REPO / "README.md"
PAGES = sorted(page for page in [README, *DOCS.rglob("*.md")] if page.is_file())

PATIENCE = 120
"""Seconds after which something hangs."""
_FENCE = re.compile(r"^```(\w*)(?: needs=(\w+))?(?: file=([\w.]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_GOES_ON = re.compile(r"steno (?:(?:watch|receive|serve)\b(?!.*--help)|tail .*(?:-f|--follow)\b)")
_SAYS_WHERE = re.compile(r"^steno (receive|serve)\b")
_FINDS = re.compile(r"steno (?:errors|diff|check)\b")
"""Commands whose exit code 1 says that they found something."""
_RECORDS = re.compile(r"steno (?:run|collect)\b")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_RUN_ID = re.compile(r"<run-id>|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-f]*[0-9])[0-9a-f]{8}\b")
_VARIES = [
    (_RUN_ID, "ID"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "CALL"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "TIME"),
    (re.compile(r"\[\d\d:\d\d:\d\d\]"), "[TIME]"),
    (re.compile(r"\d+(?:\.\d+)? ?m?s\b"), "N s"),
    (re.compile(r'"duration_ms": ?[\d.e-]+'), '"duration_ms":N'),
    (re.compile(r"process \d+"), "process N"),
    (re.compile(r"steno-demo-\w+"), "steno-demo"),
]


@dataclass
class _Reading:
    """One page being read, with what its blocks left behind."""

    page: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    printed: str = ""
    followers: list[_Following] = field(default_factory=list)
    port: int = 0

    def read(self) -> None:
        try:
            for block in _fences(self.page):
                self._read_block(block)
            for follower in self.followers:
                follower.check()
        finally:
            for follower in self.followers:
                follower.stop()

    def _read_block(self, block: _Block) -> None:
        where = f"{self.page.name}:{block.line}"
        if block.file is not None:
            Path(block.file).write_text(block.code)
        if block.language == "python" and not (block.file or "").startswith("test_"):
            self._run_python(block.code, block.line)
        elif block.language == "output":
            _compare(block.code, self.printed, where)
        elif block.language == "console":
            assert block.code.startswith("$ "), f"{where}: a console block begins with a command"
            for command, expected in _commands(block.code):
                self._run(command, expected, f"{where}: {command}")
        elif block.language == "sh" and not self.is_reference:
            for command in block.code.replace("\\\n", "").splitlines():
                self._run(command, "…", f"{where}: {command}")

    @property
    def is_reference(self) -> bool:
        return self.page.parent.name in ("reference", "formats", "design")

    def _run_python(self, code: str, line: int) -> None:
        # Blank lines before the code make a traceback name the line of the page.
        program = compile("\n" * line + code, str(self.page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(program, self.names)
        self.printed = out.getvalue()

    def _run(self, command: str, expected: str, where: str) -> None:
        command = self._with_our_port(command)
        if self.is_reference:
            command = _filled_in(command)
        if _GOES_ON.match(command):
            follower = _Following(command, expected, where)
            self.followers.append(follower)
            if match := _SAYS_WHERE.match(command):
                follower.wait_for(1)
                self.port = follower.port if match[1] == "receive" else self.port
            return
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=PATIENCE)
        fine = (0, 1) if _FINDS.match(command) else (0,)
        assert done.returncode in fine, f"{where}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        if expected.strip():
            _compare(expected, done.stdout + done.stderr, where)
        if _RECORDS.match(command):
            _wait_for_the_index()

    def _with_our_port(self, command: str) -> str:
        if "--help" not in command:
            command = _SAYS_WHERE.sub(r"steno \1 --port 0", command)
        return command.replace("127.0.0.1:4318", f"127.0.0.1:{self.port}")


class _Following:
    """`steno tail -f` in a second terminal: goes on while the page does, and is interrupted at its end."""

    def __init__(self, command: str, expected: str, where: str) -> None:
        self._expected = expected
        self._where = where
        self._printed = ""
        # Where the page shows nothing, whatever it says shows that it is at work and can be interrupted.
        errors = None if expected.strip(" …\n") else subprocess.STDOUT
        self._process = subprocess.Popen(f"exec {command}", shell=True, stdout=subprocess.PIPE, stderr=errors)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._printed += line.decode()

    @property
    def port(self) -> int:
        """Where it listens, by what it printed."""
        match = re.search(r":(\d+)\b", self._printed)
        assert match is not None, f"{self._where}: it printed\n{self._printed}"
        return int(match[1])

    def wait_for(self, lines: int) -> None:
        until = time.monotonic() + PATIENCE
        while self._printed.count("\n") < lines:
            assert time.monotonic() < until, f"{self._where}: it printed only\n{self._printed}"
            time.sleep(0.02)

    def check(self) -> None:
        self.wait_for(max(1, len(self._expected.strip().splitlines())))
        _compare(self._expected or "…", self._printed, self._where)
        self._process.send_signal(signal.SIGINT)
        assert self._process.wait(PATIENCE) in (0, 130), self._where

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()


@dataclass(frozen=True)
class _Block:
    """A fenced block: what it holds, where its code begins, and under which name it is saved."""

    language: str
    line: int
    code: str
    file: str | None


def _fences(page: Path) -> Iterator[_Block]:
    text = page.read_text()
    for match in _FENCE.finditer(text):
        language, needs, file, code = match.groups()
        if needs is None or importlib.util.find_spec(needs) is not None:
            yield _Block(language, text.count("\n", 0, match.start(4)), code, file)


def _commands(code: str) -> Iterator[tuple[str, str]]:
    """Each `$` line, continued where it ends in a backslash, with what stands below it."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        match = re.match(r"((?:.*\\\n)*.*)\n?", part)
        assert match is not None
        yield match[0].strip(), part[match.end() :]


def _compare(expected: str, printed: str, where: str) -> None:
    pattern = re.escape(_settled(expected)).replace("…", ".*")
    assert re.fullmatch(pattern, _settled(printed), re.DOTALL), f"{where}: it printed\n{printed}"


def _settled(text: str) -> str:
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    text = re.sub(r"'(/[^'\n]*/steno)'", r"\1", text)  # quoted where this folder has spaces
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _filled_in(command: str) -> str:
    """The command with an id of the author's replaced by that of the first run here that no other run called."""

    def known(match: re.Match[str]) -> str:
        journals = sorted(Path("storage/transcripts").glob("*.jsonl"), key=lambda file: file.stat().st_mtime_ns)
        if any(file.stem.startswith(match[0]) for file in journals):
            return match[0]
        return next(file.stem for file in journals if '"parent_run_id"' not in file.read_text().partition("\n")[0])

    return _RUN_ID.sub(known, command)


def _wait_for_the_index() -> None:
    """Until the background process has indexed what a command recorded; typing the next one takes a person longer."""
    home = Path(os.environ["STENOGRAPH_HOME"])
    recorded = {file.stem for file in home.glob("transcripts/*.jsonl")}
    until = time.monotonic() + PATIENCE
    while recorded - _indexed(home):
        assert time.monotonic() < until, "what was recorded is not in the archive"
        time.sleep(0.05)


def _indexed(home: Path) -> set[str]:
    try:
        with open_archive(home) as archive:
            return {run.run_id for run in archive.runs()}
    except RunNotFound:
        return set()


STATS = "def mean(values):\n    return sum(values) / len(values)\n"
MY_AGENT = """
import json, os, urllib.request
span = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1", "name": "chat", "endTimeUnixNano": "1", "attributes": [
    {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
    {"key": "gen_ai.conversation.id", "value": {"stringValue": "talk-1"}}]}
body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
address = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"
urllib.request.urlopen(urllib.request.Request(address, body, {"content-type": "application/json"})).close()
"""
"""A program of the reader's that sends a span."""


@pytest.fixture
def folder(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder, home and programs of somebody who reads a page; errors are not swallowed, `steno` is at hand."""
    monkeypatch.chdir(tmp_path)
    Path("stats.py").write_text(STATS)
    Path("my_agent.py").write_text(MY_AGENT)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("STENOGRAPH_HOME", str(home / "archive"))
    config = home / "config.toml"  # beside it a key is made
    config.touch()
    monkeypatch.setenv("STENOGRAPH_CONFIG", str(config))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("STENOGRAPH_INDEX")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # what the reader makes here can be imported
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "steno_tiny", raising=False)
    programs = _stand_ins(tmp_path_factory.mktemp("programs"))
    monkeypatch.setenv("STAND_INS", str(programs))
    ours = Path(sys.executable).parent
    monkeypatch.setenv("PATH", os.pathsep.join([str(programs), str(ours), os.environ["PATH"]]))


def _stand_ins(folder: Path) -> Path:
    """Programs that pages call and that are not here: agents, and what installs."""
    reader = Path(__file__).parent / "reader"
    calls = {name: f'"{reader / "agent.py"}" {name} "$@"' for name in ("claude", "codex", "tiny")}
    calls |= {name: f'"{reader / "installer.py"}" {name} "$@"' for name in ("pip", "pipx", "uv", "make")}
    environment = (
        f'[ "$1 $2" = "-m venv" ] && shift 2 && exec "{sys.executable}" "{reader / "installer.py"}" venv "$@"\n'
    )
    scripts = {name: f'exec "{sys.executable}" {call}' for name, call in calls.items()}
    scripts["python3"] = scripts["python"] = f'{environment}exec "{sys.executable}" "$@"'
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return folder


RUNNABLE = [page for page in PAGES if any(block.language in ("python", "console", "sh") for block in _fences(page))]


def _case(page: Path) -> Any:
    # LiteLLM warns about its own types, when and where depends on what was loaded before; see `quiet_litellm`.
    marks = [pytest.mark.filterwarnings("ignore")] if "litellm" in page.name else []
    return pytest.param(page, marks=marks, id=str(page.relative_to(REPO)))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", [_case(page) for page in RUNNABLE])
def test_the_examples_of_a_page_run_and_print_what_it_shows(page: Path) -> None:
    """Reading a page from top to bottom, and typing what it says, works."""
    _Reading(page).read()


def test_the_pages_have_examples() -> None:
    """The test above has something to run: the tutorial and every how-to."""
    names = {page.relative_to(DOCS).as_posix() for page in RUNNABLE if page != README}
    assert "tutorial.md" in names
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.glob("how-to/*.md")} <= names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPO)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    """A relative link names a file that exists and, after `#`, a heading in it."""
    text = _FENCE.sub("", page.read_text())
    for link in _LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = page if not name else (page.parent / name).resolve()
        assert target.exists(), f"{page.name} links to {link}"
        if anchor:
            assert anchor in _anchors(target), f"{page.name} links to {link}"


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text()), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [page for page in PAGES if page != README], ids=lambda page: page.name)
def test_every_page_is_reachable_from_the_index(page: Path) -> None:
    """A page nobody links to is a page nobody reads."""
    index = DOCS / "README.md"
    if page.parent.name == "formats":
        assert "](formats/" in index.read_text()  # the folder is linked as a whole
        return
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in _LINK.findall(index.read_text())}
    assert page == index or page in linked


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPO)))
def test_fences_say_what_they_hold(page: Path) -> None:
    """A block without a language, or with one we do not know, would silently not be run."""
    for opening in re.findall(r"^```.+$", page.read_text(), flags=re.MULTILINE):
        assert re.fullmatch(r"```\w+( needs=\w+)?( file=[\w.]+)?", opening), opening
    languages = {block.language for block in _fences(page)}
    assert languages <= {"python", "console", "output", "json", "text", "sh", "toml"}, languages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPO)))
def test_what_can_be_typed_is_run(page: Path) -> None:
    """A command stands in a block that is run, not in one of text."""
    for block in _fences(page):
        if block.language == "text":
            assert not re.search(r"^(\$ |steno |pip |make )", block.code, flags=re.MULTILINE), block.code


JOBS = {
    "Find where we fixed that": "find-where-we-fixed-that",
    "What did it cost this week, and why?": "what-did-it-cost",
    "Send a run to a colleague": "share-a-transcript",
    "Fail CI if an agent did what it should not": "check-runs-in-ci",
    "Ask from a notebook": "from-a-notebook",
}


@pytest.mark.parametrize("job", JOBS)
def test_every_job_has_a_page(job: str) -> None:
    """It is named after the job, can be typed, and is one step from README and from the index."""
    page = DOCS / "how-to" / f"{JOBS[job]}.md"
    assert page.read_text().startswith(f"# {job}\n")
    assert page in RUNNABLE
    assert f"(docs/how-to/{page.name})" in README.read_text()
    assert f"- [{job}](how-to/{page.name})" in (DOCS / "README.md").read_text()


def test_our_package_is_installed_from_the_checkout() -> None:
    """No page, message or docstring installs it from an index, on which anybody could register its name."""
    sources = [*PAGES, *(REPO / "src").rglob("*.py"), REPO / "CONTRIBUTING.md"]
    for source in sources:
        assert not re.search(r"(pip|pipx|uv)( tool)? install[^\n`]* '?stenograph\b", source.read_text("utf-8")), source
    readme = README.read_text()
    for line in ("python3 -m venv ", "pipx install '.[", "uv tool install '.["):
        assert line in readme
