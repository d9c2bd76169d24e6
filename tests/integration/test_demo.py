"""`steno demo` and what it leaves: the tour that a newcomer takes, and the six jq commands on its journal."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stenograph import Event, read_events, run_tree, verify_journal

COMMANDS = Path(__file__).with_name("jq_commands.sh")
"""The six commands of the design document, as given."""


def environment() -> dict[str, str]:
    """A person's environment: no strictness, no storage of their own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("STENOGRAPH")}


def steno(cwd: Path, *arguments: object) -> str:
    command = [sys.executable, "-W", "error", "-m", "stenograph", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@dataclass(frozen=True)
class Demo:
    """Where the demo ran, and what it printed."""

    cwd: Path
    output: str
    journals: list[Path]

    @property
    def run_id(self) -> str:
        return self.journals[0].stem

    def events(self, number: int = 0) -> list[Event]:
        return list(read_events(self.cwd / self.journals[number]))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    cwd = tmp_path_factory.mktemp("demo")
    output = steno(cwd, "demo", "--pace", "0.01")
    journals = [Path(path) for path in re.findall(r"^  (storage/transcripts/\S+\.jsonl)  \(", output, re.MULTILINE)]
    return Demo(cwd, output, journals)


def test_the_demo_records_three_runs_in_order(demo: Demo) -> None:
    """The workflow and its sub-workflows two levels deep, each in its own good file."""
    assert len(demo.journals) == 3
    for path in demo.journals:
        report = verify_journal(demo.cwd / path)
        assert report.ok, report.findings
    tree = run_tree(demo.cwd / "storage", demo.run_id)
    child = tree.steps[-1].child
    assert child is not None
    grandchild = child.steps[-1].child
    assert grandchild is not None
    assert [tree.name, child.name, grandchild.name] == ["review", "release", "announce"]
    assert [child.parent_run_id, grandchild.parent_run_id] == [tree.run_id, child.run_id]


def test_the_demo_shows_everything_a_run_can_have(demo: Demo) -> None:
    """Kinds of steps, iterations, a mixed reply, a system prompt, a command, a retry after a failing tool."""
    events = demo.events()
    kinds = {event.payload.kind for event in events if event.type == "step.started"}
    assert kinds >= {"agent", "command", "parallel", "for_each", "while", "operation"}
    assert [e.iteration for e in events if e.type == "step.started" and e.path == "cases.case"] == [0, 1, 2]
    assert {e.path for e in events if e.type == "step.started"} >= {"inspect.style", "inspect.types"}
    (user,) = [event.payload for event in events if event.type == "message.user"]
    assert user.system_prompt is not None
    mixed = [event.payload.blocks for event in events if event.type == "message.assistant"]
    assert ["thinking", "text", "tool_use"] in [[b.__struct_config__.tag for b in blocks] for blocks in mixed]
    tests = [event.payload for event in events if event.type == "tool.result" and event.payload.name == "run_tests"]
    assert [payload.error for payload in tests] == ["exit status 1", None]
    assert any(event.payload.blocks for event in events if event.type == "tool.call")


def test_the_demo_prints_the_transcript_live_and_what_to_try_next(demo: Demo) -> None:
    """What the subscriber printed is what is stored; the commands at the end work as printed."""
    for text in (
        "━━ review",
        "━━ release",
        "━━ announce",
        "Review stats.py for bugs.",
        "零除",
        "✓ review",
        "Try next:",
    ):
        assert text in demo.output
    commands = re.findall(r"^  ((?:steno|jq) .*)$", demo.output, re.MULTILINE)
    assert len(commands) == 6
    for command in commands:
        runnable = command.replace("steno ", f"'{sys.executable}' -m stenograph ", 1)
        done = subprocess.run(
            ["sh", "-c", runnable], cwd=demo.cwd, env=environment(), capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, ""), command
        assert done.stdout, command


def test_the_demo_as_json_names_its_runs(tmp_path: Path) -> None:
    """An array of run id, name and path, and no transcript; --root is where they are."""
    runs = json.loads(steno(tmp_path, "demo", "--pace", "0", "--json", "--root", "elsewhere"))
    assert [run["name"] for run in runs] == ["review", "release", "announce"]
    assert all((tmp_path / run["path"]).is_file() and run["run_id"] in run["path"] for run in runs)
    assert not (tmp_path / "storage").exists()


def test_a_demo_that_cannot_record_is_exit_code_4(tmp_path: Path) -> None:
    """A root that cannot be made: said on stderr, never a traceback."""
    (tmp_path / "file").touch()
    command = [sys.executable, "-m", "stenograph", "demo", "--pace", "0", "--root", "file/storage"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (4, "")
    assert "Traceback" not in done.stderr
    assert "Not a directory" in done.stderr


needs_jq = pytest.mark.usefixtures("_jq")


@pytest.fixture
def _jq() -> None:
    assert shutil.which("jq") is not None, "jq is missing: apt-get install jq (make test does it where it may)"


@pytest.fixture
def jq(demo: Demo) -> Callable[[str], str]:
    """Runs the command under that title, verbatim but for the run id, where `storage/` is."""
    found = re.findall(r"^# (.*)\n((?:[^#].*\n?)+)", COMMANDS.read_text(), re.MULTILINE)
    commands = dict(found)
    assert len(commands) == 6

    def run(title: str) -> str:
        (command,) = [text for name, text in commands.items() if name.startswith(title)]
        filled = command.replace("<run-id>", demo.run_id)
        done = subprocess.run(["sh", "-c", filled], cwd=demo.cwd, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, ""), filled
        return done.stdout

    return run


def documents(text: str) -> list[Any]:
    """JSON values one after another, as jq prints them."""
    decoder = json.JSONDecoder()
    values = []
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        values.append(value)
        text = text[end:]
    return values


@needs_jq
def test_jq_pretty_prints_a_run(demo: Demo, jq: Callable[[str], str]) -> None:
    """Every line is an object, and none is lost."""
    lines = (demo.cwd / demo.journals[0]).read_text("utf-8").splitlines()
    assert documents(jq("Pretty-print")) == [json.loads(line) for line in lines]


@needs_jq
def test_jq_extracts_tool_calls_with_results(demo: Demo, jq: Callable[[str], str]) -> None:
    """Calls and results pair by their id."""
    found = documents(jq("Extract every tool call"))
    assert [event["seq"] for event in found] == [
        event.seq for event in demo.events() if event.type in ("tool.call", "tool.result")
    ]
    ids = [event["payload"]["call_id"] for event in found]
    assert len(found) == 12
    assert all(ids.count(call_id) == 2 for call_id in ids)


@needs_jq
def test_jq_lists_the_assistants_text(jq: Callable[[str], str]) -> None:
    """Text blocks only: no thinking, no stream chunks, no tool use."""
    assert jq("List all assistant text").splitlines() == [
        "Let me read it.",
        "It fails for an empty list: 零除 (division by zero).",
        "Attempt 1: running the tests.",
        "Attempt 2: running the tests.",
    ]


@needs_jq
def test_jq_shows_router_tool_events(demo: Demo, jq: Callable[[str], str]) -> None:
    """Ground truth only, each call once."""
    found = documents(jq("Show only router-fidelity"))
    assert sorted(event["payload"]["name"] for event in found) == [
        "_line_count",
        "_line_count",
        "command",
        "read_file",
        "run_tests",
        "run_tests",
    ]
    assert {event["payload"]["fidelity"] for event in found} == {"router"}


@needs_jq
def test_jq_reconstructs_the_step_tree(demo: Demo, jq: Callable[[str], str]) -> None:
    """Number, path and kind of each step."""
    rows = [row.split("\t") for row in jq("Reconstruct the step path").splitlines()]
    expected = [event for event in demo.events() if event.type == "step.started"]
    assert rows == [[str(event.seq), event.path, event.payload.kind] for event in expected]
    assert [row[1:] for row in rows if not row[1].startswith("inspect.")] == [
        ["read", "agent"],
        ["count", "command"],
        ["inspect", "parallel"],
        ["cases", "for_each"],
        ["cases.case", "operation"],
        ["cases.case", "operation"],
        ["cases.case", "operation"],
        ["fix", "while"],
        ["fix", "while"],
    ]


@needs_jq
def test_jq_finds_every_child_run(demo: Demo, jq: Callable[[str], str]) -> None:
    """The id is the name of the child's file."""
    assert jq("Follow nested sub-workflows") == f"{demo.journals[1].stem}\n"
