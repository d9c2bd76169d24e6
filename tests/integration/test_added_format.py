"""A format from outside: the example of the how-to page, installed as a real package, is an equal of ours."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from here import SHEBANG

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-format.md"
FENCES = re.findall(r"^```(\w+)(?: \w+=[\w.]+)?\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
LONGEST = 40


def _block(language: str, containing: str) -> str:
    return next(code for kind, code in FENCES if kind == language and containing in code)


MODULE = _block("python", "SPEC = FormatSpec(")
CHECK = _block("python", "check_format(SPEC")


class Machine:
    """A user's machine: a home, an archive, and the package on the path."""

    def __init__(self, folder: Path, packages: Path) -> None:
        self.folder = folder
        self.sessions = folder / "home" / ".tiny" / "sessions"
        self.sessions.mkdir(parents=True)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("STENOGRAPH", "TINY"))},
            "HOME": str(folder / "home"),
            "STENOGRAPH_HOME": str(folder / "archive"),
            "PYTHONPATH": str(packages),
            "STENOGRAPH_STRICT": "1",
        }

    def run(self, *words: str, code: int = 0) -> str:
        """What a command prints."""
        done = subprocess.run(words, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def steno(self, *words: str, code: int = 0) -> str:
        """What `steno` prints."""
        return self.run(sys.executable, "-m", "stenograph", *words, code=code)

    def write(self, name: str, *texts: str) -> Path:
        """A session of the agent."""
        path = self.sessions / f"{name}.jsonl"
        with path.open("a") as file:
            file.writelines(_line(number, text, self.folder) for number, text in enumerate(texts))
        return path


def _line(number: int, text: str, cwd: Path) -> str:
    record = {"role": ("user", "assistant")[number % 2], "content": text, "ts": f"2026-11-17T08:00:0{number}Z"}
    return json.dumps({**record, "cwd": str(cwd)}) + "\n"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip has installed the package of the page, from a wheel; nothing is downloaded."""
    folder = tmp_path_factory.mktemp("packages")
    wheel = _wheel(folder)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(folder / "installed"), str(wheel)], check=True, timeout=240)
    return folder / "installed"


def _wheel(folder: Path) -> Path:
    """A wheel of the module and the project of the page, as a build would make it."""
    project = tomllib.loads(_block("toml", "stenograph.formats"))["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    points = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in project["entry-points"].items()
    )
    files = {
        f"{name}.py": MODULE,
        f"{name}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n",
        f"{name}-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}-{version}.dist-info/entry_points.txt": points,
    }
    files[f"{name}-{version}.dist-info/RECORD"] = "".join(f"{path},,\n" for path in files)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inside, text in files.items():
            wheel.writestr(inside, text)
    return path


@pytest.fixture
def machine(tmp_path: Path, packages: Path) -> Machine:
    """A machine with the package and one session."""
    made = Machine(tmp_path, packages)
    made.write("one", "Count the zebras.", "There are 4711 zebras.")
    return made


def test_the_example_is_short() -> None:
    """At most 40 lines."""
    assert len(MODULE.splitlines()) <= LONGEST


def test_the_example_keeps_the_contract(machine: Machine) -> None:
    """The check of the page passes, also on the file that the agent wrote."""
    more = f"check_format(SPEC, [{str(machine.sessions / 'one.jsonl')!r}])\n"
    machine.run(sys.executable, "-W", "error", "-c", CHECK + more)


def test_it_is_listed_detected_and_converted(machine: Machine) -> None:
    """By `formats`, `detect` and `convert`; its times are kept, which another format would drop."""
    path = str(machine.sessions / "one.jsonl")
    assert "tiny (Tiny, file)" in machine.steno("formats")
    listed = next(each for each in json.loads(machine.steno("formats", "--json")) if each["name"] == "tiny")
    assert (listed["agent"], listed["programs"], listed["home"]) == (
        "tiny",
        ["tiny"],
        "~/.tiny/sessions/<session>.jsonl ($TINY_HOME)",
    )
    assert machine.steno("detect", path) == f"{path}: tiny\n"
    events = [json.loads(line) for line in machine.steno("convert", path).splitlines()]
    assert [(event["type"], event["timestamp"]) for event in events] == [
        ("message.user", "2026-11-17T08:00:00Z"),
        ("message.assistant", "2026-11-17T08:00:01Z"),
    ]


def test_it_is_synced_searched_listed_and_examined(machine: Machine) -> None:
    """By `sync`, `search`, `ls` and `doctor`, by the agent's name, without a path; a grown file is read on."""
    summary: dict[str, Any] = json.loads(machine.steno("sync", "--agent", "tiny", "--json"))
    assert summary["new"] == 1
    assert "4711" in machine.steno("search", "zebras", "--agent", "tiny")
    machine.write("one", "And the okapis?")
    machine.steno("sync")
    (run,) = json.loads(machine.steno("ls", "--json"))
    assert (run["agent"], run["messages"], run["cwd"]) == ("tiny", 3, str(machine.folder))
    agents = {each["agent"]: each for each in json.loads(machine.steno("doctor", "--json"))["agents"]}
    assert (agents["tiny"]["files_kept"], agents["tiny"]["understood"]) == (1, 3)
    assert "Tiny" in machine.steno("show", "last", "--as", "markdown")
    assert "unknown agent 'huge'; known agents: claude, " in machine.steno("sync", "--agent", "huge", code=2)


def test_it_is_watched(machine: Machine) -> None:
    """`steno watch` keeps a session that appears while it runs."""
    command = [sys.executable, "-m", "stenograph", "watch", "--json"]
    with subprocess.Popen(command, env=machine.environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            first = json.loads(process.stdout.readline())
            assert first["new"] == 1
            machine.write("two", "Count the okapis.")
            while not json.loads(process.stdout.readline())["new"]:
                pass
        finally:
            process.terminate()
            process.wait(120)
    assert "okapis" in machine.steno("search", "okapis")


def test_it_is_run(machine: Machine) -> None:
    """`steno run -- tiny` records the session that the program writes in this folder."""
    program = machine.folder / "bin" / "tiny"
    program.parent.mkdir()
    session = machine.sessions / "three.jsonl"
    line = _line(0, "Count the gnus.", machine.folder)
    program.write_text(f"{SHEBANG}open({str(session)!r}, 'w').write({line!r})\nprint('four gnus')\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    printed = machine.steno("run", "--", str(program))
    assert "four gnus" in printed
    journals = list((machine.folder / "archive" / "transcripts").glob("*.jsonl"))
    events = [json.loads(line) for journal in journals for line in journal.read_text().splitlines()]
    assert [(event["type"], event["origin"]["adapter"]) for event in events] == [("message.user", "tiny")]


# Packages that are broken, or gone.


def _package(folder: Path, module: str, name: str, code: str) -> Path:
    """A folder with an installed package whose entry point has this name."""
    information = folder / f"{module}-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[stenograph.formats]\n{name} = {module}:SPEC\n")
    (folder / f"{module}.py").write_text(code)
    return folder


def _huge(old: str, new: str) -> str:
    """The example as the format of another agent, Huge, changed in one place."""
    code = MODULE.replace("TINY", "HUGE").replace("Tiny", "Huge").replace("tiny", "huge").replace('"role"', '"who"')
    assert old in code
    return code.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    cwd = next(", "    cwd = head[0]['nothing'] or next("),
        ('    name = "huge"\n', '    name = "huge"\n\n    def feed(self, data):\n        raise KeyError("nothing")\n'),
        ("open=HugeFormat", "open=lambda context: {}['nothing']"),
    ],
    ids=["identify", "feed", "open"],
)
def test_a_format_that_raises_is_named_and_leaves_the_others(machine: Machine, old: str, new: str) -> None:
    """One line names it, its file and what it raised; what the other agents wrote is kept all the same."""
    folder = _package(machine.folder / "huge", "aa_huge", "huge", _huge(old, new))
    machine.environment["PYTHONPATH"] += f":{folder}"
    session = machine.folder / "home" / ".huge" / "sessions" / "h.jsonl"
    session.parent.mkdir(parents=True)
    session.write_text('{"who": "user", "content": "Count.", "ts": "2026-11-17T08:00:00Z"}\n')
    reason = f"the format huge failed to read {session} (KeyError: 'nothing'); report this to its author"
    assert machine.steno("sync", code=1).count(reason) == 1
    assert "4711" in machine.steno("search", "zebras")
    assert reason in machine.steno("convert", str(session), code=3)


LOADS = {
    "a module that is not there": ("huge", "import no_such_module"),
    "a module that exits": ("huge", "raise SystemExit(7)"),
    "something else": ("huge", "SPEC = 'huge'"),
    "the name of a format of ours": ("claude_code", _huge('name="huge"', 'name="claude_code"')),
}
NAMES = """
from stenograph.fold.agent_tables import name_of_agent
from stenograph.formats.registry import formats
print(name_of_agent("claude"), name_of_agent("tiny"), formats()["claude_code"].agent.name)
"""


@pytest.mark.parametrize(("name", "code"), LOADS.values(), ids=list(LOADS))
def test_a_package_that_cannot_be_used_leaves_the_others(machine: Machine, name: str, code: str) -> None:
    """Whatever its module's name, no other format and no agent's name is lost; `steno doctor` names it."""
    folder = _package(machine.folder / "huge", "aa_huge", name, code)
    machine.environment["PYTHONPATH"] += f":{folder}"
    assert machine.run(sys.executable, "-c", NAMES) == "Claude Code Tiny Claude Code\n"
    assert f"the format {name} cannot be used: aa_huge:SPEC " in machine.steno("doctor", code=1)


def test_an_archive_is_rebuilt_without_the_package_and_read_again_with_it(machine: Machine) -> None:
    """Sessions of a format that is not installed any more stay, as they were written, until it is there again."""
    machine.steno("sync")
    with_package = machine.environment["PYTHONPATH"]
    machine.environment["PYTHONPATH"] = ""
    machine.steno("sync", "--rebuild")
    assert "4711" in machine.steno("search", "zebras")
    (run,) = json.loads(machine.steno("ls", "--json"))
    assert (run["agent"], run["messages"]) == ("tiny", 0)
    machine.environment["PYTHONPATH"] = with_package
    assert json.loads(machine.steno("sync", "--json"))["rebuilt"]
    (run,) = json.loads(machine.steno("ls", "--json"))
    assert (run["agent"], run["messages"]) == ("tiny", 2)
    assert not json.loads(machine.steno("sync", "--json"))["rebuilt"]


def test_files_that_no_format_knew_are_looked_at_again_when_one_is_installed(machine: Machine) -> None:
    """They need not change first: who writes a format for sessions that were left out finds them in the next sync."""
    sessions = machine.folder / "home" / ".huge" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "h.jsonl").write_text('{"who": "user", "content": "Count.", "ts": "2026-11-17T08:00:00Z"}\n')
    everywhere = ("--path", str(machine.folder / "home"), "--json")
    assert json.loads(machine.steno("sync", *everywhere))["left_out"] == {"no format knows it": 1}
    folder = _package(machine.folder / "huge", "aa_huge", "huge", _huge("", ""))
    machine.environment["PYTHONPATH"] += f":{folder}"
    summary = json.loads(machine.steno("sync", "--agent", "huge", "--json"))
    assert (summary["new"], summary["left_out"]) == (1, {})
