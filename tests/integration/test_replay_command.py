"""`steno replay` as a command: what it asks, refuses, runs and reports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from stenograph.cli.program import cli, run
from stenograph.model import Event, encode
from stenograph.replay.program import command_for, environment_for
from stenograph.replay.shell_text import bare
from stenograph.testing import answer, call, make_run

PROGRAM = """
import json, os, subprocess, sys, urllib.request

def ask(messages):
    body = {"model": "m", "messages": messages, "tools": [{"name": "Bash"}]}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=120))

messages = [{"role": "user", "content": sys.argv[1]}]
while True:
    content = ask(messages)["content"]
    messages.append({"role": "assistant", "content": content})
    calls = [block for block in content if block["type"] == "tool_use"]
    if not calls:
        print(content[0]["text"])
        break
    results = []
    for call in calls:
        done = subprocess.run(["sh", "-c", call["input"]["command"]], capture_output=True, text=True)
        results.append({"type": "tool_result", "tool_use_id": call["id"], "content": done.stdout})
    messages.append({"role": "user", "content": results})
sys.exit(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
"""
"""A small agent: asks a model, runs the commands that it wants, and gives the results back."""
OLD = "/recorded/work"
PROMPT = "Write a file."


def _events(*commands: tuple[str, str], adapter: str = "claude_code") -> list[Event]:
    calls = [answer("", call("Bash", {"command": command}, output)) for command, output in commands]
    return make_run(PROMPT, *calls, answer("Done."), adapter=adapter, cwd=OLD)


def _journal(folder: Path, events: list[Event]) -> Path:
    path = folder / f"{events[0].run_id}.jsonl"
    path.write_bytes(b"".join(encode(event) + b"\n" for event in events))
    return path


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the command."""
    folder = tmp_path / "live"
    folder.mkdir()
    (tmp_path / "agent.py").write_text(PROGRAM)
    monkeypatch.chdir(folder)
    return folder


class Done(NamedTuple):
    """What a command left."""

    returncode: int
    stdout: str
    stderr: str


Steno = Callable[..., Done]


@pytest.fixture
def steno(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steno:
    """Runs `steno replay` in this process; what the program prints that it starts is captured, too."""

    def run_replay(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["steno", "replay", *words])
        with pytest.raises(SystemExit) as ended:
            run()
        assert isinstance(ended.value.code, int | None)
        return Done(ended.value.code or 0, *capfd.readouterr())

    return run_replay


def _agent(tmp_path: Path, *words: str) -> list[str]:
    return ["--", sys.executable, str(tmp_path / "agent.py"), *words]


WRITING = (f"echo hello > {OLD}/out.txt", ""), (f"cat {OLD}/out.txt", "hello\n")


def test_a_program_runs_again(tmp_path: Path, workspace: Path, steno: Steno) -> None:
    """Its tools really run, in the folder of now; output and exit code are the program's, and the run is equal."""
    path = _journal(tmp_path, _events(*WRITING))
    done = steno(str(path), "--yes", "--report", str(tmp_path / "report.json"), *_agent(tmp_path, PROMPT, "7"))
    assert (done.returncode, done.stdout) == (7, "Done.\n"), done.stderr
    assert (workspace / "out.txt").read_text() == "hello\n"
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["equal"] is True
    assert report["turns"] == {"recorded": 3, "served": 3, "unasked": 0}
    assert [each["kind"] for each in report["entries"]] == ["turn", "result", "turn", "result", "turn"]
    assert "the run was the recorded one" in done.stderr


def test_a_program_runs_again_in_a_folder_with_an_odd_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steno: Steno
) -> None:
    """Commands get it quoted, results are compared without it, and nothing is written elsewhere."""
    (tmp_path / "agent.py").write_text(PROGRAM)
    folder = tmp_path / 'it\'s $(my) "work" & more'
    folder.mkdir()
    monkeypatch.chdir(folder)
    script = f"bash -c 'cat {OLD}/out.txt'; echo \"in {OLD}\"; echo cd {OLD}"
    path = _journal(tmp_path, _events(*WRITING, (f"cd '{OLD}' && pwd", f"{OLD}\n"), (script, f"hello\nin {OLD}\n")))
    refused = steno(str(path), "--yes", *_agent(tmp_path, PROMPT))
    assert refused.returncode == 2
    assert f"1 paths are outside {folder}" in refused.stderr, "the echoed text is not one word"
    done = steno(str(path), "--yes", "--allow-outside", *_agent(tmp_path, PROMPT))
    assert (done.returncode, done.stdout) == (1, "Done.\n"), done.stderr
    assert "    +cd /recorded/work\n" in done.stderr
    assert done.stderr.count("different:") == 1
    assert (folder / "out.txt").read_text() == "hello\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([path.name, "agent.py", folder.name])


def test_a_changed_workspace_gives_exactly_its_difference(tmp_path: Path, workspace: Path, steno: Steno) -> None:
    """Exit code 1, unless differences are allowed."""
    (workspace / "data.txt").write_text("alpha\nCHANGED\n")
    path = _journal(tmp_path, _events(("cat data.txt", "alpha\nbeta\n")))
    done = steno(str(path), "--yes", *_agent(tmp_path, PROMPT))
    assert done.returncode == 1
    assert done.stderr.count("different:") == 1
    assert "    -beta\n    +CHANGED\n" in done.stderr
    assert steno(str(path), "--yes", "--allow-diff", *_agent(tmp_path, PROMPT)).returncode == 0
    assert steno(str(path), "--yes", "--ignore", "beta|CHANGED", *_agent(tmp_path, PROMPT)).returncode == 0


def test_a_changed_prompt_ends_at_once(tmp_path: Path, workspace: Path, steno: Steno) -> None:
    """The program gets an error that says why, and so does the report; differences being allowed changes nothing."""
    path = _journal(tmp_path, _events(*WRITING))
    done = steno(str(path), "--yes", "--allow-diff", *_agent(tmp_path, "Delete a file."))
    assert done.returncode == 1
    assert 'miss: no recorded prompt matches "Delete a file."; the nearest is "Write a file."' in done.stderr
    assert not (workspace / "out.txt").exists()


def test_nothing_runs_again_unasked(tmp_path: Path, workspace: Path, steno: Steno) -> None:
    """The calls are listed; where no person can be asked, --yes is needed."""
    path = _journal(tmp_path, _events(*WRITING))
    done = steno(str(path), *_agent(tmp_path, PROMPT))
    assert done.returncode == 2
    assert f"Bash: cat {bare(str(workspace))}/out.txt" in done.stderr
    assert "not a sandbox" in done.stderr
    assert "add --yes" in done.stderr
    assert not (workspace / "out.txt").exists()


@pytest.mark.parametrize("said", ["y\n", "n\n"])
def test_a_person_is_asked(tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """Only a yes lets the calls run."""
    monkeypatch.setattr("stenograph.cli.commands.replay._may_ask", lambda: True)
    path = _journal(tmp_path, _events(*WRITING))
    CliRunner().invoke(cli, ["replay", str(path), *_agent(tmp_path, PROMPT)], input=said)
    assert (workspace / "out.txt").exists() is (said == "y\n")


def test_paths_outside_the_workspace_are_refused(tmp_path: Path, workspace: Path, steno: Steno) -> None:
    """Each is named, and nothing runs; mapped into the workspace they may be used, or by a word of the user."""
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    path = _journal(tmp_path, _events((f"echo x > {bare(str(outside))}/x.txt", "")))
    done = steno(str(path), "--yes", *_agent(tmp_path, PROMPT))
    assert done.returncode == 2
    assert f"outside the workspace: {outside}/x.txt" in done.stderr
    assert list(outside.iterdir()) == []
    assert steno(str(path), "--yes", "--map", f"{outside}={workspace}", *_agent(tmp_path, PROMPT)).returncode == 0
    assert (workspace / "x.txt").exists()
    assert list(outside.iterdir()) == []
    assert steno(str(path), "--yes", "--allow-outside", *_agent(tmp_path, PROMPT)).returncode == 0
    assert [each.name for each in outside.iterdir()] == ["x.txt"]


def test_a_run_that_called_another_is_replayed_with_it(tmp_path: Path, workspace: Path, steno: Steno) -> None:
    """The journal of the called run is found beside that of the calling one."""
    child = make_run("child task", answer("child done"), run_id="22222222-2222-4222-8222-222222222222")
    parent = make_run(PROMPT, answer("Done."))
    parent = [*parent[:-1], _calling(parent[-1], child[0].run_id), parent[-1]]
    _journal(tmp_path, child)
    done = steno(str(_journal(tmp_path, parent)), "--report", "-", *_agent(tmp_path, "child task"))
    assert done.stdout.startswith("child done\n")
    assert json.loads(done.stdout.removeprefix("child done\n"))["turns"]["served"] == 1


def _calling(event: Event, child: str) -> Event:
    return replace(event, type="step.call_workflow.completed", child_run_id=child)


def test_a_bundle_is_replayed(tmp_path: Path, workspace: Path, steno: Steno) -> None:
    """A run that somebody sent, with the folder that it tells."""
    path = _journal(tmp_path, _events(*WRITING))
    bundle = tmp_path / "run.zip"
    made = CliRunner().invoke(cli, ["bundle", "create", str(path), "-o", str(bundle)])
    assert made.exit_code == 0, made.output
    assert steno(str(bundle), "--yes", *_agent(tmp_path, PROMPT)).returncode == 0


def test_without_a_command_it_serves_until_interrupted(tmp_path: Path, workspace: Path) -> None:
    """The address is printed; an interrupt ends it with the report."""
    path = _journal(tmp_path, make_run("Hello", answer("Hi")))
    command = [sys.executable, "-m", "stenograph", "replay", str(path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        url = line.partition("serving on ")[2].partition(" ")[0]
        body = json.dumps({"messages": [{"role": "user", "content": "Hello"}]}).encode()
        with urllib.request.urlopen(f"{url}/v1/messages", body, timeout=120) as reply:
            assert json.load(reply)["content"][0]["text"] == "Hi"
        os.kill(process.pid, signal.SIGINT)
        assert "the run was the recorded one" in process.stderr.read()
    assert process.returncode == 0


def test_mistakes_are_one_line(tmp_path: Path, workspace: Path, steno: Steno) -> None:
    """What, where, and what to do."""
    path = _journal(tmp_path, make_run("Hello", answer("Hi")))
    empty = _journal(tmp_path, make_run("Hello"))
    for words, code, said in [
        ([str(path), "--map", "x"], 2, "--map 'x' is not OLD=NEW"),
        ([str(path), "--ignore", "("], 2, "'(' is not a regular expression"),
        ([str(empty)], 2, "there is nothing to replay"),
        ([str(tmp_path / "none.jsonl")], 3, "none.jsonl"),
        ([str(path), "--", "no-such-program"], 127, "no-such-program: No such file"),
    ]:
        done = steno(*words)
        assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_commands_find_the_replay() -> None:
    """By environment variables; Codex by options, since it reads no variable."""
    found = environment_for("http://127.0.0.1:9", {"NO_PROXY": "x", "ANTHROPIC_AUTH_TOKEN": "secret", "OTHER": "1"})
    assert found["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"
    assert found["OPENAI_BASE_URL"] == "http://127.0.0.1:9/v1"
    assert found["NO_PROXY"] == "x,127.0.0.1,localhost"
    assert "ANTHROPIC_AUTH_TOKEN" not in found
    assert found["OTHER"] == "1"
    words = command_for("http://127.0.0.1:9", ["/x/codex", "exec", "hi"])
    assert (words[0], words[-2:]) == ("/x/codex", ["exec", "hi"])
    assert any('base_url="http://127.0.0.1:9/v1"' in word for word in words)
    assert command_for("http://127.0.0.1:9", ["claude", "-p"]) == ["claude", "-p"]
