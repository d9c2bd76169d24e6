"""`steno ps`, `errors`, `files`, `resume` and `blame`: what a person asks after a run."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, claude_line, session_path, synced, written
from golden_cases import CASES, input_of, name_of
from here import SHEBANG
from stenograph import start_run
from stenograph.formats.registry import formats
from stenograph.runs.resuming import resumable_agents

Steno = Callable[..., Any]
FILE = "def add(a, b):\n    return a + b\n\n\nprint(add(1, 2))\n"


def edit(number: int, path: str, old: str, new: str, **more: Any) -> bytes:
    call = {
        "type": "tool_use",
        "id": f"toolu_{number:08}",
        "name": "Edit",
        "input": {"file_path": path, "old_string": old, "new_string": new},
    }
    message = {"id": f"msg_{number:08}", "role": "assistant", "model": "claude-x", "content": [call]}
    return claude_line(number, type="assistant", message=message, **more)


def result(number: int, *, error: bool = False, **more: Any) -> bytes:
    told = {"type": "tool_result", "tool_use_id": f"toolu_{number - 1:08}", "content": "done", "is_error": error}
    return claude_line(number, message={"role": "user", "content": [told]}, **more)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file that two prompts of one run changed, and an archive that knows it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "sums.py").write_text(FILE)
    path, where = str(folder / "sums.py"), {"cwd": str(folder)}
    written(
        session_path(tmp_path / "home"),
        claude_line(1, "user", "Write add.", **where),
        edit(2, path, "", "def add(a, b):\n    return a - b\n", **where),
        result(3, **where),
        claude_line(4, "user", "It subtracts! Mend it.", **where),
        edit(5, path, "    return a - b", "    return a + b", **where),
        result(6, **where),
        edit(7, path, "nothing", "print(add(1, 2))", **where),
        result(8, error=True, **where),
        edit(9, "/elsewhere/sums.py", "", "x = 1", **where),
        result(10, **where),
        claude_line(11, "assistant", "Done.", **where),
    )
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)
    synced(tmp_path / "home", tmp_path / "archive")
    return folder


def test_errors_of_a_run_are_listed_with_what_was_tried(steno: Steno, project: Path) -> None:
    """Exit code 1 where something failed, 0 and a line where nothing did."""
    found = steno("errors", "@", "--json")
    assert found.code == 1
    assert [(each["tool"], each["target"], each["message"]) for each in found.json] == [
        ("Edit", str(project / "sums.py"), "done")
    ]
    assert "sums.py" in steno("errors", "@").out
    with start_run("fine", root=project / "storage") as run:
        pass
    quiet = steno("errors", run.run_id, "--root", project / "storage")
    assert (quiet.code, quiet.out) == (0, "")
    assert "nothing failed" in quiet.err


def test_files_of_a_run_are_listed_with_what_was_done(steno: Steno, project: Path) -> None:
    """A change that failed is not a change."""
    found = {each["path"]: each for each in steno("files", "@", "--json").json}
    mine = found[str(project / "sums.py")]
    assert (mine["changes"], mine["added"], mine["removed"], mine["failed"]) == (2, 3, 1, 1)
    assert [line.split()[0] for line in steno("files", "@", "--changed").out.splitlines()[2:]] == list(found)


def test_a_file_is_blamed_on_the_prompts_that_changed_it(steno: Steno, project: Path) -> None:
    """Newest first; another file of that name, and a change that failed, are not meant."""
    found = steno("blame", "sums.py", "--json")
    assert found.code == 0
    assert [(each["prompt"], each["kind"]) for each in found.json["changes"]] == [
        ("It subtracts! Mend it.", "edit"),
        ("Write add.", "write"),
    ]
    assert {each["run_id"] for each in found.json["changes"]} == {SESSION}
    shown = steno("blame", "sums.py", "--limit", "1")
    assert "It subtracts! Mend it." in shown.out
    assert shown.err == "steno: 1 of 2 changes; --limit 0 lists all\n"


@pytest.mark.parametrize(
    ("line", "prompt"), [(1, "Write add."), (2, "It subtracts! Mend it."), (5, None), (3, "refused"), (99, "refused")]
)
def test_a_line_is_blamed_on_the_newest_change_that_wrote_it(
    steno: Steno, project: Path, line: int, prompt: str | None
) -> None:
    """A line that no run wrote is nobody's; an empty line and one that is not there are refused."""
    found = steno("blame", f"sums.py:{line}", "--json")
    if prompt == "refused":
        assert found.code == 2
        return
    assert [each["prompt"] for each in found.json["changes"]] == ([] if prompt is None else [prompt])
    assert found.json["text"] == FILE.split("\n")[line - 1]
    assert found.code == (1 if prompt is None else 0)


def test_commits_stand_beside_it(steno: Steno, project: Path) -> None:
    """Where the file is in a git repository: those of the file, or the one of the line."""
    names = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    for words in (["init", "-q"], ["add", "sums.py"], [*names, "commit", "-qm", "Add sums"]):
        subprocess.run(["git", *words], cwd=project, check=True, timeout=60)
    with (project / "sums.py").open("a") as file:
        file.write("print(3)\n")
    for place in ("sums.py", "sums.py:2"):
        (commit,) = steno("blame", place, "--json").json["commits"]
        assert (commit["author"], commit["subject"]) == ("Ada", "Add sums")
    assert steno("blame", "sums.py:6", "--json").json["commits"] == []
    assert "Add sums" in steno("blame", "sums.py").out


def test_a_path_that_is_not_there_is_the_end_of_one(steno: Steno, project: Path) -> None:
    """So that the file of another machine can be asked for; nothing found says what was looked through."""
    assert len(steno("blame", "elsewhere/sums.py", "--json").json["changes"]) == 1
    nothing = steno("blame", "no/such.py")
    assert nothing.code == 1
    assert "in the 1 runs of" in nothing.err


RESUMED = {
    "claude_code/2.1.325-errors": "claude --resume 1199653b-45a8-4745-998f-db8701eec32e",
    "codex_rollout/tools": "codex resume ",
    "gemini_cli/startup-only": "gemini --resume ",
    "copilot_cli/parity": "copilot --resume=",
    "opencode/parity": "opencode --session ses_",
}


@pytest.mark.parametrize("name", RESUMED)
def test_a_run_is_resumed_by_its_agents_own_command(steno: Steno, name: str) -> None:
    """In the folder in which it worked, with the session as the agent calls it."""
    (case,) = [case for case in CASES if name_of(case) == name]
    found = steno("resume", input_of(case), "--json").json
    assert shlex.join(found["command"]).startswith(RESUMED[name])
    assert found["session_id"] in found["command"][-1]
    line = steno("resume", input_of(case)).out
    assert line == f"cd {shlex.quote(found['cwd'])} && {shlex.join(found['command'])}\n"


def test_every_agent_with_sessions_of_its_own_can_be_resumed() -> None:
    """Its formats say how; what only passes through an API has no command."""
    named = {spec.agent.id for spec in formats().values() if spec.agent.resume}
    assert {"claude", "codex", "copilot", "gemini", "opencode"} <= named == set(resumable_agents())
    assert not named & {"acp", "anthropic", "openai", "stenograph"}


def test_exec_runs_it_in_its_folder(steno: Steno, project: Path, tmp_path: Path) -> None:
    """The command takes our place; a program that is not there is exit code 127."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"{SHEBANG}import os, sys\nprint(os.getcwd(), *sys.argv[1:])\n")
    program.chmod(0o755)
    command = [sys.executable, "-m", "stenograph", "resume", SESSION, "--exec"]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PATH": str(program.parent)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout) == (0, f"{project} --resume {SESSION}\n")
    missing = subprocess.run(
        command, env={**os.environ, "PATH": "/nowhere"}, capture_output=True, text=True, timeout=60
    )
    assert missing.returncode == 127
    assert "claude does not exist" in missing.stderr


def test_another_agent_is_told_facts_with_secrets_masked(steno: Steno, project: Path, tmp_path: Path) -> None:
    """What was asked, changed and failed, how it ended; as one word of its own command."""
    token = "ghp_" + "a1B2" * 9
    written(session_path(tmp_path / "home"), claude_line(12, "user", f"Use {token} now.", cwd=str(project)))
    synced(tmp_path / "home", tmp_path / "archive")
    found = steno("resume", "@", "--in", "codex", "--json").json
    assert found["command"] == ["codex", found["briefing"]]
    for fact in ("Claude Code", "Write add.", "It subtracts! Mend it.", "sums.py (+3 -1)"):
        assert fact in found["briefing"]
    assert token not in json.dumps(found)
    assert token not in steno("resume", "@", "--in", "codex", "--briefing").out
    line = steno("resume", "@", "--in", "codex").out
    assert line == f'cd {project} && codex "$(steno resume {SESSION} --in codex --briefing)"\n'


def test_a_transcript_cannot_add_an_option_to_the_command(steno: Steno, tmp_path: Path) -> None:
    """The id of a session comes from a file that anybody may have written."""
    path = written(tmp_path / "evil.jsonl", claude_line(1, session="--dangerously-skip-permissions"))
    refused = steno("resume", path)
    assert refused.code == 2
    assert "cannot be the id of a session" in refused.err


def test_mistakes_of_resume(steno: Steno, project: Path) -> None:
    """An unknown agent suggests the nearest; a run that no command goes on with says what does."""
    unknown = steno("resume", "@", "--in", "codx")
    assert unknown.code == 2
    assert "did you mean codex?" in unknown.err
    assert steno("resume", "@", "--briefing").code == 2
    with start_run("ours", root=project / "storage") as run:
        pass
    ours = steno("resume", run.run_id, "--root", project / "storage")
    assert ours.code == 2
    assert "--in AGENT" in ours.err


def test_ps_lists_what_lives_now_and_nothing_else(steno: Steno, project: Path, tmp_path: Path) -> None:
    """A journal that is being written is there at once, without a sync, and gone when it ends."""
    before = steno("ps", "--json").json
    with start_run("build", root=tmp_path / "archive") as run:
        found = {each["run_id"]: each for each in steno("ps", "--json").json}
        assert found[run.run_id]["status"] == "running"
        assert "build" in steno("ps").out
    assert steno("ps", "--json").json == before
    os.utime(session_path(tmp_path / "home"), (1, 1))
    nothing = steno("ps")
    assert nothing.out == ""
    assert "no run is working or waiting now" in nothing.err


def test_ps_without_an_archive(steno: Steno, tmp_path: Path) -> None:
    """There is nothing to list, which is not an error."""
    assert steno("ps", "--json", "--archive", tmp_path / "none").json == []


def test_ls_lists_runs_of_one_status(steno: Steno, project: Path) -> None:
    """Each run has one status, and is listed by that alone; a word that is not one is wrong usage."""
    (run,) = steno("ls", "--json").json
    for status in ("running", "waiting", "finished", "failed", "interrupted", "unknown"):
        found = steno("ls", "--status", status, "--json").json
        assert [each["run_id"] for each in found] == ([run["run_id"]] if status == run["status"] else [])
    assert steno("ls", "--status", "runing").code == 2
