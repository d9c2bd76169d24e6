"""The pages run: every Python block, every `$ steno` command and `$ jq` line, and every link leads somewhere.

A page is read from top to bottom in a folder of its own. Its Python blocks share one namespace. A block marked
`output` is what the Python block before it printed, and one marked `needs=PACKAGE` is run where that is installed.
Below a `$` line stands what the command printed. In both, `…` is
whatever it may be; ids, times and durations are those of the page's author and compared as such, not by value.
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

REPO = Path(__file__).parents[2]
DOCS = REPO / "docs"
README = REPO / "README.md"
PAGES = sorted(page for page in [README, *DOCS.rglob("*.md")] if page.is_file())

_FENCE = re.compile(r"^```(\w*)(?: needs=(\w+))?[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_RUN_ID = re.compile(r"<run-id>|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-f]*[0-9])[0-9a-f]{8}\b")
_VARIES = [
    (_RUN_ID, "ID"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "CALL"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"), "TIME"),
    (re.compile(r"\[\d\d:\d\d:\d\d\]"), "[TIME]"),
    (re.compile(r"\d+(?:\.\d+)? m?s\b"), "N s"),
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

    def read(self) -> None:
        try:
            for language, line, code in _fences(self.page):
                self._read_block(language, line, code)
            for follower in self.followers:
                follower.check()
        finally:
            for follower in self.followers:
                follower.stop()

    def _read_block(self, language: str, line: int, code: str) -> None:
        if language == "python":
            self._run_python(code, line)
        elif language == "output":
            _compare(code, self.printed, f"{self.page.name}:{line}")
        elif language == "console":
            self._run_console(code, line)

    @property
    def checks_output(self) -> bool:
        """The README shows the demo as it was drawn; our own pages show what every run prints."""
        return self.page != README

    def _run_python(self, code: str, line: int) -> None:
        # Blank lines before the code make a traceback name the line of the page.
        program = compile("\n" * line + code, str(self.page), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(program, self.names)
        self.printed = out.getvalue()

    def _run_console(self, code: str, line: int) -> None:
        for command, expected in _commands(code):
            if not command.startswith(("steno", "jq")):
                continue
            where = f"{self.page.name}:{line}: {command}"
            command = self._filled_in(command)
            if re.search(r"steno tail .*(-f|--follow)\b", command):
                self.followers.append(_Following(command, expected if self.checks_output else "", where))
                continue
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=30)
            assert done.returncode == 0, f"{where}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
            if expected and self.checks_output:
                _compare(expected, done.stdout + done.stderr, where)

    def _filled_in(self, command: str) -> str:
        """The command with an id of the author's replaced by that of the first run here, made when there is none."""

        def known(match: re.Match[str]) -> str:
            journals = sorted(Path("storage/transcripts").glob("*.jsonl"), key=lambda file: file.stat().st_mtime_ns)
            if any(file.stem.startswith(match[0]) for file in journals) or "-f" in command.split():
                return match[0]
            return _outermost(journals).stem if journals else _demo_run()

        return _RUN_ID.sub(known, command)


class _Following:
    """`steno tail -f` in a second terminal: goes on while the page does, and is interrupted at its end."""

    def __init__(self, command: str, expected: str, where: str) -> None:
        self._expected = expected
        self._where = where
        self._printed = ""
        self._process = subprocess.Popen(f"exec {command}", shell=True, stdout=subprocess.PIPE)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._printed += line.decode()

    def check(self) -> None:
        wanted = max(1, len(self._expected.splitlines()))
        until = time.monotonic() + 60
        while self._printed.count("\n") < wanted and time.monotonic() < until:
            time.sleep(0.02)
        _compare(self._expected or "…", self._printed, self._where)
        self._process.send_signal(signal.SIGINT)
        assert self._process.wait(60) == 130, self._where

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()


def _fences(page: Path) -> Iterator[tuple[str, int, str]]:
    text = page.read_text()
    for match in _FENCE.finditer(text):
        if match[2] is None or importlib.util.find_spec(match[2]) is not None:
            yield match[1], text.count("\n", 0, match.start(3)), match[3]


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
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def _demo_run() -> str:
    done = subprocess.run(["steno", "demo", "--pace", "0", "--json"], capture_output=True, text=True, check=True)
    found = _RUN_ID.search(done.stdout)
    assert found is not None
    return found[0]


def _outermost(journals: list[Path]) -> Path:
    """The first run that no other run called."""
    return next(file for file in journals if '"parent_run_id"' not in file.read_text().partition("\n")[0])


@pytest.fixture
def folder(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder to read a page in, and a home without agents; errors are not swallowed, `steno` is at hand."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("STENOGRAPH_HOME", str(home / "archive"))
    for name in ("STENOGRAPH_STORAGE", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STENOGRAPH_STRICT", "1")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


RUNNABLE = [page for page in PAGES if any(language in ("python", "console") for language, _, _ in _fences(page))]


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
    languages = {language for language, _, _ in _fences(page)}
    assert languages <= {"python", "console", "output", "json", "text", "sh", "toml"}, languages
