"""On what a run ran."""

from __future__ import annotations

import json
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from stenograph.bundle import environment
from stenograph.bundle.environment import environment_files, variables
from stenograph.bundle.git import git_diff, git_facts


def test_the_files_say_what_it_ran_on(tmp_path: Path) -> None:
    """System, Python and packages as they are; outside of a repository nothing of git."""
    problems: list[str] = []
    files = environment_files(tmp_path, problems)
    assert problems == []
    assert json.loads(files["environment/python.json"])["version"] == platform.python_version()
    assert json.loads(files["environment/packages.json"])["msgspec"] == version("msgspec")
    assert json.loads(files["environment/system.json"])["system"] == platform.system()
    assert "environment/git.json" not in files


def test_a_fact_that_cannot_be_had_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One failure costs one file."""

    def fails() -> None:
        raise OSError("no such luck")

    monkeypatch.setattr(environment, "system_facts", fails)
    problems: list[str] = []
    files = environment_files(tmp_path, problems)
    assert problems == ["environment/system.json is missing: no such luck"]
    assert "environment/python.json" in files


def test_only_harmless_variables_have_values() -> None:
    """A name on the list is no licence: its value is masked all the same."""
    token = "ghp_" + "a8Kd02mXq7Lr5Tn1Vb9Zc4Ws6Ye3Uf0Hg2Jd"
    found = variables({"LANG": "C", "ANTHROPIC_API_KEY": "sk-x", "STENOGRAPH_STORAGE": f"/x/{token}", "Z": "1"})
    assert found["others"] == ["ANTHROPIC_API_KEY", "Z"]
    assert found["kept"]["LANG"] == "C"
    assert token not in found["kept"]["STENOGRAPH_STORAGE"]


def test_git_tells_commit_changes_and_diff(tmp_path: Path) -> None:
    """What is committed, what is not, and what differs; nothing before the first commit."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert git_diff(tmp_path) is None
    (tmp_path / "a.txt").write_text("one\n")
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, "commit", "-qm", "x"], cwd=tmp_path, check=True)
    (tmp_path / "a.txt").write_text("two\n")
    (tmp_path / "b.txt").write_text("new\n")
    facts = git_facts(tmp_path)
    assert facts is not None
    assert len(facts["commit"]) == 40
    assert facts["changes"] == [" M a.txt", "?? b.txt"]
    assert b"-one\n+two\n" in (git_diff(tmp_path) or b"")


def test_a_long_diff_is_cut_between_lines(tmp_path: Path) -> None:
    """And says so; half a line could be half a secret, which nothing would mask."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["commit", "-qm", "first", "--allow-empty"]):
        subprocess.run(["git", *identity, *arguments], check=True, capture_output=True, cwd=tmp_path)
    line = "a line of a long file"
    (tmp_path / "long.txt").write_text(f"{line}\n" * 500_000)
    subprocess.run(["git", "add", "-N", "."], check=True, cwd=tmp_path)
    diff = git_diff(tmp_path)
    assert diff is not None
    assert (8 << 20) - 100 < len(diff) <= (8 << 20) + 100
    *lines, last = diff.decode().splitlines()
    assert set(lines[-1000:]) == {f"+{line}"}
    assert last.startswith("[cut: the diff has ")
