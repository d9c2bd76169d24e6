"""`steno secrets`, what `steno sync` warns of, and the rules of the configuration."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from stenograph import start_run
from stenograph.redact.rules import filled

TOKEN = filled("ghp_{a:36}")
PASSWORD = "hunter2x9"
RULES = """
[[rule]]
name = "acme-key"
keyword = "acme_"
pattern = "acme_[a-z0-9]{24}"
example = "acme_{b:24}"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with two runs: one with secrets, one without."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    monkeypatch.setenv("STENOGRAPH_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("")
    with start_run("loud", root=tmp_path / "storage") as loud:
        loud.user(f"the password is {PASSWORD}, and it is {filled('acme_{b:24}')}")
        with loud.tool("Bash", {"command": "true", "token": TOKEN}):
            pass
    with start_run("calm", root=tmp_path / "storage") as calm:
        calm.user("hello")
    (tmp_path / "loud").write_text(loud.run_id)
    (tmp_path / "calm").write_text(calm.run_id)
    return tmp_path


def steno(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stenograph", *map(str, arguments)], capture_output=True, text=True, timeout=110
    )


def test_secrets_says_where_and_never_what(home: Path) -> None:
    """Run, number, field, rule and how sure; exit code 1 when something was found, 0 when not."""
    run_id = (home / "loud").read_text()
    done = steno("secrets", run_id, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == [
        {"run_id": run_id, "seq": 2, "field": "payload.blocks[0].text", "rule": "password", "sure": "likely"},
        {"run_id": run_id, "seq": 3, "field": "payload.input.token", "rule": "github-token", "sure": "certain"},
    ]
    table = steno("secrets", run_id)
    assert table.returncode == 1
    assert "payload.input.token" in table.stdout
    assert "2 secrets in 1 runs" in table.stderr
    for printed in (done, table):
        assert TOKEN not in printed.stdout + printed.stderr
        assert PASSWORD not in printed.stdout + printed.stderr
    calm = steno("secrets", (home / "calm").read_text())
    assert (calm.returncode, calm.stdout, calm.stderr) == (0, "", "steno: no secrets found\n")


def test_secrets_gives_sarif(home: Path) -> None:
    """For code hosts: each rule once, each finding with its level and place."""
    done = steno("secrets", (home / "loud").read_text(), (home / "calm").read_text(), "--format", "sarif")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    (run,) = document["runs"]
    assert document["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["github-token", "password"]
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("password", "warning"),
        ("github-token", "error"),
    ]
    place = run["results"][1]["locations"][0]
    assert place["physicalLocation"]["region"]["startLine"] == 3
    assert place["logicalLocations"][0]["fullyQualifiedName"].endswith("#3/payload.input.token")
    assert TOKEN not in done.stdout


def test_secrets_of_the_archive(home: Path) -> None:
    """All runs, or those that the options choose; one of both must be said."""
    assert steno("sync", "--path", home / "storage").returncode == 0
    everything = steno("secrets", "--all", "--json")
    assert everything.returncode == 1
    assert len(json.loads(everything.stdout)) == 2
    assert steno("secrets", "--since", "1d", "--json").stdout == everything.stdout
    nothing = steno("secrets", "--until", "2001-01-01", "--json")
    assert (nothing.returncode, json.loads(nothing.stdout)) == (0, [])
    for arguments in ((), ("--all", (home / "loud").read_text())):
        wrong = steno("secrets", *arguments)
        assert wrong.returncode == 2
        assert "--all" in wrong.stderr


def test_secrets_are_shown_on_a_terminal_to_who_says_yes(home: Path) -> None:
    """Not into a pipe, and not to who says no."""
    run_id = (home / "loud").read_text()
    refused = steno("secrets", run_id, "--show")
    assert refused.returncode == 2
    assert "needs a terminal" in refused.stderr
    for answer, is_shown in (("y", True), ("n", False)):
        code, printed = on_terminal(answer, "secrets", run_id, "--show")
        assert (TOKEN in printed) == is_shown
        assert code == (1 if is_shown else 130)


def on_terminal(answer: str, *arguments: str) -> tuple[int, str]:
    """The exit code of a command on a terminal, and what it shows there."""
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "stenograph", *arguments]
    environment = {**os.environ, "COLUMNS": "200"}
    process = subprocess.Popen(command, stdin=child, stdout=child, stderr=child, env=environment)
    os.close(child)
    os.write(parent, f"{answer}\n".encode())
    shown = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(parent)
    return process.wait(60), shown.decode("utf-8", "replace").replace("\r\n", "")


def test_sync_warns_of_secrets_that_are_new(home: Path) -> None:
    """When the configuration says so, of each run once."""
    quiet = steno("sync", "--path", home / "storage")
    assert "secrets" not in quiet.stderr
    (home / "config.toml").write_text("[redact]\nwarn = true\n")
    with start_run("more", root=home / "storage") as run:
        run.user(f"password={PASSWORD}")
    warned = steno("sync", "--path", home / "storage")
    assert warned.stderr == f"steno: 1 new secrets in run {run.run_id}; steno secrets {run.run_id} says where\n"
    assert steno("sync", "--path", home / "storage").stderr == ""


def test_rules_names_and_exceptions_of_the_configuration(home: Path) -> None:
    """They hold for --redact and for steno secrets; a rule that cannot be used is an error before anything is shown."""
    (home / "mine.toml").write_text(RULES)
    (home / "config.toml").write_text(f'[redact]\nrules = "mine.toml"\nnames = ["command"]\nkeep = ["{PASSWORD}"]\n')
    run_id = (home / "loud").read_text()
    found = json.loads(steno("secrets", run_id, "--json").stdout)
    assert [each["rule"] for each in found] == ["acme-key", "secret", "github-token"]
    shown = steno("show", run_id, "--redact")
    assert PASSWORD in shown.stdout
    assert "[masked:acme-key]" in shown.stdout
    assert shown.stderr == "steno: masked 3 (1 acme-key, 1 github-token, 1 secret)\n"
    (home / "mine.toml").write_text(RULES.replace("[a-z0-9]{24}", "(?:[a-z]+)+x"))
    refused = steno("show", run_id, "--redact")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "rule acme-key: the pattern could be slow" in refused.stderr
    (home / "mine.toml").unlink()
    assert steno("show", run_id, "--redact").returncode == 3
