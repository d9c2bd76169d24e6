"""Real agents run again: recorded against a fake model, then against nothing but their own session files."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents import programs, session
from agents.reading import read
from agents.recorded import STENO
from agents.servers.script import Call, Scripts, Text, Thinking, mark
from agents.session import PATIENCE, Session

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the programs

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BASIC = f"Please do the basic things. {mark('basic')}"
ERRORS = f"Please do what fails. {mark('errors')}"
PARALLEL = f"Please let two of you count. {mark('parallel')}"
FIRST = f"Please count to one. {mark('first')}"
CONTINUE = f"continue {mark('next')}"
PATCH = f"Please patch. {mark('patch')}"
TEAM = f"Please let another thread count. {mark('team')}"
TOOLS = ["--allowedTools", "Bash,Read,Write,Edit,Task,Agent", "--"]


def _bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "Run it"})


def _claude_scripts(work: Path) -> Scripts:
    def child(name: str) -> Call:
        given = {"description": f"Count {name}", "prompt": f"Count {name} in {work}. {mark(f'child_{name}')}"}
        return Call("agent", {**given, "subagent_type": "general-purpose", "run_in_background": False})

    out = str(work / "out.txt")
    return {
        "basic": [
            [Thinking("First a look."), Text("I look around."), _bash(f"cat {work}/notes.txt")],
            [Call("Read", {"file_path": str(work / "notes.txt")})],
            [Text("Now a file."), Call("Write", {"file_path": out, "content": "one\ntwo\n"})],
            [Call("Edit", {"file_path": out, "old_string": "two", "new_string": "三"})],
            [Text("Done.")],
        ],
        "errors": [
            [_bash("echo wrong; exit 3")],
            [Call("Read", {"file_path": str(work / "nothing.txt")})],
            [Call("Edit", {"file_path": str(work / "notes.txt"), "old_string": "not there", "new_string": "x"})],
            [Call("Read", {"path": "misnamed"})],
            [Call("NoSuchTool", {"x": 1})],
            [Text("All of it failed.")],
        ],
        "parallel": [[Text("Two at once."), child("a"), child("b")], [], [Text("Both counted.")]],
        "child_a": [[_bash("echo a > a.txt; cat a.txt")], [Text("a: 1")]],
        "child_b": [[_bash("echo b > b.txt; cat b.txt")], [Text("b: 1")]],
        "first": [[_bash("echo 1 >> count.txt; cat count.txt")], [Text("One.")]],
        "next": [[_bash("echo + >> count.txt; cat count.txt")], [Text("One more.")]],
    }


def _shell(command: str) -> Call:
    return Call("shell", {"command": command})


_CODEX_SCRIPTS: Scripts = {
    "basic": [
        [Thinking("First a look."), Text("I look around."), _shell("cat notes.txt")],
        [Text("Now a file."), _shell("echo one > out.txt; cat out.txt")],
        [Text("Done.")],
    ],
    "errors": [[_shell("echo wrong; exit 3")], [_shell("cat nothing.txt")], [Text("All of it failed.")]],
    "patch": [
        [Call("patch", {"patch": "*** Begin Patch\n*** Add File: 新しい.txt\n+hello 你好\n*** End Patch\n"})],
        [Call("patch", {"patch": "*** Begin Patch\n*** Update File: none.txt\n@@\n-a\n+b\n*** End Patch\n"})],
        [_shell("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: second.txt\n+two\n*** End Patch\nEOF\n")],
        [Text("Patched.")],
    ],
    "team": [
        [
            Text("Another may count."),
            Call("spawn_agent", {"message": f"Count. {mark('child')}", "agent_type": "default"}),
        ],
        [Call("wait_agent", {"targets": ["@agent"], "timeout_ms": 600_000})],
        [Call("close_agent", {"target": "@agent"})],
        [Text("Counted.")],
    ],
    "child": [[_shell("echo child > child.txt; cat child.txt")], [Text("42 files.")]],
    "first": [[_shell("echo 1 >> count.txt; cat count.txt")], [Text("One.")]],
    "next": [[_shell("echo + >> count.txt; cat count.txt")], [Text("One more.")]],
}

Start = Callable[[Path], AbstractContextManager[Session]]


@contextlib.contextmanager
def _claude(place: Path) -> Iterator[Session]:
    with session.claude(programs.CLAUDE[0], place) as found:
        found.model.play(_claude_scripts(found.folder))
        yield found


@contextlib.contextmanager
def _codex(place: Path) -> Iterator[Session]:
    with session.codex(programs.CODEX[0], place) as found:
        found.model.play(_CODEX_SCRIPTS)
        yield found


@dataclass
class Replayed:
    """A recorded session, and the same agent that ran again in another folder."""

    recorded: Session
    live: Session
    report: dict[str, Any]
    code: int

    def assert_equal(self) -> None:
        """The same calls, the same files; no model was asked, and nothing but the workspace was written."""
        assert (self.code, self.report["equal"]) == (0, True), self.report
        assert self.report["results"]["different"] == 0
        assert _calls(self.live) == _calls(self.recorded)
        assert _files(self.live.folder) == _files(self.recorded.folder)
        assert self.live.model.answers == {}, "the fake model was asked"


def _calls(found: Session) -> list[tuple[str, str]]:
    def told(given: object) -> str:
        return _UUID.sub("ID", json.dumps(given, ensure_ascii=False, sort_keys=True)).replace(str(found.place), "PLACE")

    calls = [(pair.name, told(pair.call.payload.input)) for pair in read(found.transcripts).calls() if pair.call]
    return sorted(calls)  # those of parallel agents come in any order


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _run(start: Start, place: Path, *prompts: str, options: tuple[str, ...] = ()) -> Session:
    with start(place) as found:
        for prompt in prompts:
            found.run(prompt, *options)
    return found


def _replay(
    start: Start,
    recorded: Session,
    place: Path,
    prompt: str,
    *,
    options: tuple[str, ...] = (),
    asked: str | None = None,
    prepare: Callable[[Path], object] = lambda folder: None,
    words: Callable[[Session], list[str]] | None = None,
) -> Replayed:
    """The agent again, in a folder of its own, with nothing but the recording to ask."""
    before = _files(recorded.folder)
    with start(place) as live:
        prepare(live.folder)
        target = recorded.main_file_of(prompt)
        command = words(live) if words is not None else [*live.command, *options, asked or prompt]
        report = place / "report.json"
        done = subprocess.run(
            [*STENO, "replay", str(target), "--yes", "--report", str(report), "--", *command],
            cwd=live.folder,
            env=live.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
        )
    assert report.exists(), done.stderr.decode()
    assert _files(recorded.folder) == before, "the recorded folder was written to"
    return Replayed(recorded, live, json.loads(report.read_bytes()), done.returncode)


@pytest.mark.parametrize("prompt", [BASIC, ERRORS, PARALLEL])
def test_claude_code_runs_again(tmp_path: Path, prompt: str) -> None:
    """Reads, writes and edits; what fails; and two subagents at once."""
    recorded = _run(_claude, tmp_path / "recorded", prompt, options=(*TOOLS,))
    _replay(_claude, recorded, tmp_path / "live", prompt, options=(*TOOLS,)).assert_equal()


@pytest.mark.parametrize("prompt", [BASIC, ERRORS, PATCH, TEAM])
def test_codex_runs_again(tmp_path: Path, prompt: str) -> None:
    """Commands, what fails, patches, and a child thread whose id is drawn anew."""
    recorded = _run(_codex, tmp_path / "recorded", prompt)
    _replay(_codex, recorded, tmp_path / "live", prompt).assert_equal()


def test_a_resumed_claude_session_runs_again(tmp_path: Path) -> None:
    """Asked the same twice: the history says which answer is next."""
    with _claude(tmp_path / "recorded") as recorded:
        recorded.run(FIRST, *TOOLS)
        for _ in range(2):
            recorded.run(CONTINUE, "--continue", *TOOLS)

    def words(live: Session) -> list[str]:
        again = shlex.join([*live.command, "--continue", *TOOLS, CONTINUE])
        return ["sh", "-c", f"{shlex.join([*live.command, *TOOLS, FIRST])} && {again} && {again}"]

    _replay(_claude, recorded, tmp_path / "live", FIRST, words=words).assert_equal()


def test_a_resumed_codex_session_runs_again(tmp_path: Path) -> None:
    """The same for Codex, which is told its server on the command line."""
    with _codex(tmp_path / "recorded") as recorded:
        recorded.run(FIRST)
        for _ in range(2):
            recorded.run(CONTINUE, "resume", "--last")

    def words(live: Session) -> list[str]:
        again = _codex_words(live, ["resume", "--last", CONTINUE])
        return ["sh", "-c", f"{_codex_words(live, [FIRST])} && {again} && {again}"]

    _replay(_codex, recorded, tmp_path / "live", FIRST, words=words).assert_equal()


def test_a_claude_session_whose_context_was_summarised_runs_again(tmp_path: Path) -> None:
    """It asks for a summary and gets the recorded one; what follows is found by it."""
    with _claude(tmp_path / "recorded") as recorded:
        recorded.run(FIRST, *TOOLS)
        recorded.run("/compact", "--continue")
        recorded.run(CONTINUE, "--continue", *TOOLS)

    def words(live: Session) -> list[str]:
        begun = shlex.join([*live.command, *TOOLS, FIRST])
        summed = shlex.join([*live.command, "--continue", "/compact"])
        again = shlex.join([*live.command, "--continue", *TOOLS, CONTINUE])
        return ["sh", "-c", f"{begun} && {summed} && {again}"]

    found = _replay(_claude, recorded, tmp_path / "live", FIRST, words=words)
    found.assert_equal()
    assert "summary" in [each["kind"] for each in found.report["entries"]]


def test_a_codex_session_whose_context_was_summarised_runs_again(tmp_path: Path) -> None:
    """By itself, when the recorded usage says that the context is full."""
    limit = ["-c", "model_auto_compact_token_limit=50000"]
    with _codex(tmp_path / "recorded") as recorded:
        recorded.model.input_tokens = _full_after_the_first_prompt
        recorded.run(FIRST, *limit)
        recorded.run(CONTINUE, *limit, "resume", "--last")

    def words(live: Session) -> list[str]:
        first, again = _codex_words(live, [*limit, FIRST]), _codex_words(live, [*limit, "resume", "--last", CONTINUE])
        return ["sh", "-c", f"{first} && {again}"]

    found = _replay(_codex, recorded, tmp_path / "live", FIRST, words=words)
    found.assert_equal()
    assert "summary" in [each["kind"] for each in found.report["entries"]]


def _full_after_the_first_prompt(body: dict[str, Any]) -> int:
    is_first = "script:next" not in json.dumps(body["input"])
    return 100_000 if is_first and body["input"][-1]["type"].endswith("_output") else 100


def _codex_words(live: Session, more: list[str]) -> str:
    """Codex in a shell, told where the replay is."""
    start, *rest = live.command
    return (
        f'{shlex.quote(start)} -c "model_providers.fake.base_url=\\"$OPENAI_BASE_URL\\"" {shlex.join([*rest, *more])}'
    )


@pytest.mark.parametrize(("start", "options"), [(_claude, tuple(TOOLS)), (_codex, ())], ids=["claude", "codex"])
def test_a_changed_workspace_gives_exactly_its_differences(
    tmp_path: Path, start: Start, options: tuple[str, ...]
) -> None:
    """Everything is served; the results that read the changed file differ in that line, and no other does."""
    recorded = _run(start, tmp_path / "recorded", BASIC, options=options)

    def change(folder: Path) -> None:
        (folder / "notes.txt").write_text("CHANGED\n第二行\n", "utf-8")

    found = _replay(start, recorded, tmp_path / "live", BASIC, options=options, prepare=change)
    assert found.code == 1
    assert (found.report["misses"], found.report["turns"]["unasked"]) == (0, 0)
    different = [each for each in found.report["entries"] if each["kind"] == "result" and not each["same"]]
    assert {each["name"] for each in different} <= {"Bash", "Read", "exec_command"}
    for each in different:
        assert [re.sub(r"^([-+])\d+\t", r"\1", line) for line in each["diff"]] == ["-Notes of nobody.", "+CHANGED"]
    assert len(different) == (2 if start is _claude else 1)


@pytest.mark.parametrize(("start", "options"), [(_claude, tuple(TOOLS)), (_codex, ())], ids=["claude", "codex"])
def test_a_changed_prompt_ends_the_agent(tmp_path: Path, start: Start, options: tuple[str, ...]) -> None:
    """It is refused with the nearest recorded prompt, and does not wait and try again for long."""
    recorded = _run(start, tmp_path / "recorded", BASIC, options=options)
    found = _replay(start, recorded, tmp_path / "live", BASIC, options=options, asked="Please do something else.")
    assert found.code == 1
    assert found.report["turns"]["served"] == 0
    assert 1 <= found.report["misses"] <= 12
    miss = next(each for each in found.report["entries"] if each["kind"] == "miss")
    assert "no recorded prompt matches" in miss["why"]
    assert "Please do the basic things." in miss["why"]
