"""`steno install`: somebody's settings are changed as little as possible, and never broken."""

from __future__ import annotations

import copy
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stenograph.cli.installing.hooks import install_hooks
from stenograph.formats.claude_code import SPEC
from strategies import examples

assert SPEC.hooks is not None
HOOKS = SPEC.hooks.events

Steno = Callable[..., Any]

THEIRS = {
    "permissions": {"allow": ["Bash(ls:*)"], "deny": []},
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "notify-send done", "timeout": 5}]}],
        "PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "make fmt # 整形"}]}],
    },
    "model": "opus",
}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Claude Code's settings are, in a home of their own; the one on the PATH is new."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    _claude(tmp_path, "echo '2.1.325 (Claude Code)'")
    return tmp_path / "claude" / "settings.json"


def _claude(tmp_path: Path, script: str) -> None:
    """Put a program called claude on the PATH of the fixture above."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def _write(path: Path, value: Any, *, indent: int | str = 2) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps(value, indent=indent, ensure_ascii=False).encode() + b"\n"
    path.write_bytes(data)
    return data


def _backups(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}.*.bak"))


def test_hooks_are_added_where_there_were_no_settings(steno: Steno, path: Path) -> None:
    """A new file, for its owner alone, in which every hook calls us by our full name."""
    outcome = steno("install", "claude")
    written = json.loads(path.read_text())
    assert list(written["hooks"]) == list(HOOKS)
    commands = {matcher["hooks"][0]["command"] for matchers in written["hooks"].values() for matcher in matchers}
    (command,) = commands
    program, *arguments = shlex.split(command.removesuffix(" 2>/dev/null || true"))
    assert arguments[-3:] == ["hook", "claude", "$PPID"]
    assert Path(program).is_absolute()
    assert os.access(program, os.X_OK)
    assert path.stat().st_mode & 0o777 == 0o600
    assert outcome.code == 0
    assert str(path) in outcome.out
    assert _backups(path) == []


def test_the_installed_command_works(steno: Steno, path: Path, tmp_path: Path) -> None:
    """What stands in the settings, run by a shell as the agent does it, takes a call and says nothing."""
    steno("install", "claude")
    command = json.loads(path.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    environment = {**os.environ, "STENOGRAPH_STORAGE": str(tmp_path / "storage")}
    done = subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, env=environment, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (tmp_path / "storage" / "collectors" / "problems.log").read_text().count("\n") == 1


def test_a_command_that_is_gone_says_nothing(steno: Steno, path: Path) -> None:
    """Run by a shell as the agent does it, it is a success without a word."""
    steno("install", "claude")
    command = json.loads(path.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    program = shlex.split(command)[0]
    done = subprocess.run(["sh", "-c", command.replace(program, "/nowhere/steno")], input=b"{}", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_everything_else_stays(steno: Steno, path: Path) -> None:
    """Other hooks, keys, their order, the indentation and the mode are as they were; the old file is kept."""
    before = _write(path, THEIRS, indent="\t")
    path.chmod(0o640)
    outcome = steno("install", "claude", "--json")
    after = json.loads(path.read_text("utf-8"))
    assert list(after) == list(THEIRS)
    assert after["permissions"] == THEIRS["permissions"]
    assert after["hooks"]["Stop"][0] == THEIRS["hooks"]["Stop"][0]
    assert after["hooks"]["PostToolUse"][0] == THEIRS["hooks"]["PostToolUse"][0]
    assert path.read_text("utf-8").startswith('{\n\t"permissions"')
    assert "整形" in path.read_text("utf-8")
    assert path.stat().st_mode & 0o777 == 0o640
    (backup,) = _backups(path)
    assert (backup.read_bytes(), backup.stat().st_mode & 0o777) == (before, 0o640)
    assert outcome.json["added"] == list(HOOKS)
    assert (outcome.json["settings"], outcome.json["backup"]) == (str(path), str(backup))


def test_lines_end_as_they_did(steno: Steno, path: Path) -> None:
    """A file of Windows lines stays one."""
    path.parent.mkdir()
    path.write_bytes(b'{\r\n    "model": "opus"\r\n}\r\n')
    steno("install", "claude")
    text = path.read_bytes()
    assert text.count(b"\r\n") == text.count(b"\n") > 3
    assert text.startswith(b'{\r\n    "model": "opus",\r\n    "hooks"')
    assert set(json.loads(text)["hooks"]) == set(HOOKS)


def test_twice_is_once(steno: Steno, path: Path) -> None:
    """The second time nothing is written, not even a backup."""
    _write(path, THEIRS)
    steno("install", "claude")
    first, backups = path.read_bytes(), _backups(path)
    outcome = steno("install", "claude")
    assert (path.read_bytes(), _backups(path)) == (first, backups)
    assert "nothing to change" in outcome.out
    assert steno("install", "claude", "--json").json["added"] == []


@pytest.mark.parametrize(
    ("script", "is_known"),
    [
        ("echo '2.1.325 (Claude Code)'", True),
        ("echo '2.2.0 (Claude Code)'", True),
        ("echo '2.1.29 (Claude Code)'", False),
        ("echo '2.0.30 (Claude Code)'", False),
        ("echo nonsense", False),
        ("exit 1", False),
    ],
)
def test_the_agent_never_waits_for_a_hook_after_each_tool(
    steno: Steno, path: Path, tmp_path: Path, script: str, is_known: bool
) -> None:
    """`PostToolUse` is asynchronous where Claude Code knows that, and not there otherwise; no other hook is."""
    _claude(tmp_path, script)
    assert steno("install", "claude").code == 0
    hooks = json.loads(path.read_text())["hooks"]
    flags = {name: matchers[0]["hooks"][0].get("async") for name, matchers in hooks.items()}
    assert flags == {name: None for name in HOOKS if name != "PostToolUse"} | (
        {"PostToolUse": True} if is_known else {}
    )
    assert "nothing to change" in steno("install", "claude").out


@pytest.mark.parametrize("is_known", [True, False])
def test_an_old_installation_is_brought_up_to_date(steno: Steno, path: Path, tmp_path: Path, is_known: bool) -> None:
    """A `PostToolUse` that is waited for becomes asynchronous or goes; the other hooks, and a timeout on one, stay."""
    steno("install", "claude")
    settings = json.loads(path.read_text())
    del settings["hooks"]["PostToolUse"][0]["hooks"][0]["async"]
    settings["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 5
    settings["hooks"]["PostToolUse"].insert(0, THEIRS["hooks"]["PostToolUse"][0])
    _write(path, settings)
    if not is_known:
        _claude(tmp_path, "echo '2.0.30 (Claude Code)'")
    outcome = steno("install", "claude")
    assert f"PostToolUse {'calls' if is_known else 'no longer calls'} " in outcome.out
    after = json.loads(path.read_text())["hooks"]
    ours = [hook for matcher in after["PostToolUse"] for hook in matcher["hooks"] if "hook claude" in hook["command"]]
    assert [hook.get("async") for hook in ours] == ([True] if is_known else [])
    assert after["PostToolUse"][0] == THEIRS["hooks"]["PostToolUse"][0]
    assert {name: after[name] for name in HOOKS if name != "PostToolUse"} == {
        name: settings["hooks"][name] for name in HOOKS if name != "PostToolUse"
    }


def test_remove_takes_out_ours_only(steno: Steno, path: Path) -> None:
    """Afterwards the settings are what they were before; removing what is not there changes nothing."""
    _write(path, THEIRS)
    steno("install", "claude")
    outcome = steno("install", "claude", "--remove", "--json")
    assert json.loads(path.read_text("utf-8")) == THEIRS
    assert sorted(outcome.json["removed"]) == sorted(HOOKS)
    assert "nothing to change" in steno("install", "claude", "--remove").out
    assert not (path.parent / "other.json").exists()
    assert "nothing to change" in steno("install", "claude", "--remove", "--settings", path.parent / "other.json").out
    assert not (path.parent / "other.json").exists()


def test_a_command_of_another_place_is_replaced(steno: Steno, path: Path) -> None:
    """After a move of the program each hook calls us once, by the new name."""
    old = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/bin/steno hook claude"}]}]}}
    _write(path, old)
    steno("install", "claude")
    stops = json.loads(path.read_text())["hooks"]["Stop"]
    assert [hook["command"] for matcher in stops for hook in matcher["hooks"] if "hook claude" in hook["command"]] == [
        json.loads(path.read_text())["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    ]


def test_hooks_of_others_that_look_like_ours_stay(steno: Steno, path: Path) -> None:
    """Somebody's own wrapper, or a program that happens to have our arguments, is not ours to remove."""
    theirs = ["my-steno-wrapper hook claude", "other hook claude", "echo 'unbalanced", "steno hook claude --x", 5]
    _write(path, {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": each} for each in theirs]}, "odd"]}})
    before = json.loads(path.read_text())
    steno("install", "claude")
    steno("install", "claude", "--remove")
    assert json.loads(path.read_text()) == before


def test_a_link_stays_a_link(steno: Steno, path: Path, tmp_path: Path) -> None:
    """Settings that are kept elsewhere are changed there."""
    target = tmp_path / "dotfiles" / "claude.json"
    _write(target, THEIRS)
    path.parent.mkdir()
    path.symlink_to(target)
    steno("install", "claude")
    assert path.is_symlink()
    assert set(json.loads(target.read_text("utf-8"))["hooks"]) >= set(HOOKS)
    assert len(_backups(target)) == 1


@pytest.mark.parametrize(
    "text",
    [
        *(b"{not json", b"[]", b'{"hooks": []}', b'{"hooks": null}', b'{"hooks": {"Stop": {}}}', b'{"a": "\xff"}'),
        *(b"[" * 100_000, b'{"a": 1e400}', b'{"a": NaN}', b"// mine\n{}", b"\xef\xbb\xbf{}"),
    ],
)
def test_settings_that_are_not_understood_are_left_alone(steno: Steno, path: Path, text: bytes) -> None:
    """One line says why, and nothing is written."""
    path.parent.mkdir()
    path.write_bytes(text)
    outcome = steno("install", "claude")
    assert outcome.code == 3
    assert outcome.err.startswith(f"steno: {path} ")
    assert outcome.err.count("\n") == 1
    assert path.read_bytes() == text
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a file that even root cannot change")
def test_settings_that_cannot_be_written_are_said(steno: Steno, path: Path) -> None:
    """A folder that takes no files: one line, exit code 4, nothing changed."""
    outcome = steno("install", "claude", "--settings", "/proc/settings.json")
    assert (outcome.code, outcome.err.count("\n")) == (4, 1)
    assert "cannot write /proc/settings.json" in outcome.err


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
_matchers = st.lists(st.fixed_dictionaries({"hooks": st.lists(_json, min_size=1, max_size=2)}) | _json, max_size=3)
_settings = st.dictionaries(st.text(max_size=6), _json, max_size=3).flatmap(
    lambda plain: st.dictionaries(st.sampled_from([*HOOKS, "Notification"]), _matchers, max_size=4).map(
        lambda hooks: {**plain, "hooks": hooks} if hooks else plain
    )
)


@settings(examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_settings=_settings, indent=st.sampled_from([None, 1, 4, "\t"]))
def test_any_settings_survive(tmp_path: Path, given_settings: dict[str, Any], indent: int | str | None) -> None:
    """Whatever is in them is in them after installing, and after removing they are what they were, byte for byte."""
    path = tmp_path / "settings.json"
    before = copy.deepcopy(given_settings)
    if not isinstance(before.get("hooks", {}), dict):
        return
    path.write_text(json.dumps(before, indent=indent), "utf-8")
    written = path.read_bytes()
    install_hooks(SPEC, path, remove=False)
    if "hooks" not in before:
        assert path.read_bytes().startswith(written.rstrip(b"\n}"))
    after = json.loads(path.read_text("utf-8"))
    for name, value in before.items():
        if name != "hooks":
            assert after[name] == value
    for name, matchers in before.get("hooks", {}).items():
        assert after["hooks"][name][: len(matchers)] == matchers
    install_hooks(SPEC, path, remove=True)
    ours = [name for name in HOOKS if name in after["hooks"] and after["hooks"][name]]
    kept = {name: matchers for name, matchers in before.get("hooks", {}).items() if matchers or name not in ours}
    expected = {name: value for name, value in before.items() if name != "hooks"} | ({"hooks": kept} if kept else {})
    assert json.loads(path.read_text("utf-8")) == expected
    if expected == before:
        assert path.read_bytes() == written


def test_it_does_not_need_a_steno_on_the_path(tmp_path: Path) -> None:
    """Where there is no script beside the interpreter, the hook runs the module, and not one of the agent's folder."""
    code = f"""
        import sys
        sys.executable = {str(tmp_path / "python")!r}
        from stenograph.cli.installing.hooks import hook_command
        from stenograph.formats.claude_code import SPEC
        print(hook_command(SPEC))
    """
    import textwrap

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env={"PATH": str(tmp_path)}
    )
    assert done.stdout == f"{tmp_path}/python -P -m stenograph hook claude\n"
