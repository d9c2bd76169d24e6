"""`steno config`: what is in force, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Steno = Callable[..., Any]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration of this test."""
    path = tmp_path / "config.toml"
    monkeypatch.setenv("STENOGRAPH_CONFIG", str(path))
    return path


def test_each_value_says_where_it_comes_from(steno: Steno, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environment, file and default, for programs and for people."""
    file.write_text('[archive]\nhome = "/of/the/file"\nstorage = "/runs"\n[redact]\nnames = ["pin"]\n', "utf-8")
    monkeypatch.setenv("STENOGRAPH_HOME", "/of/the/environment")
    told = steno("config", "--json")
    assert told.code == 0
    assert told.json["file"] == str(file)
    found = {name: (each["value"], each["from"]) for name, each in told.json["settings"].items()}
    assert found["archive.home"] == ("/of/the/environment", "environment")
    assert found["archive.storage"] == ("/runs", "file")
    assert found["redact.names"] == (["pin"], "file")
    assert found["prices.file"] == (None, "default")
    shown = steno("config").out.splitlines()
    assert shown[0] == f"file: {file}"
    assert [line.split() for line in shown if line.startswith("archive.")] == [
        ["archive.home", "/of/the/environment", "$STENOGRAPH_HOME"],
        ["archive.storage", "/runs", "file"],
        ["archive.texts", "-", "default"],
        ["archive.index", "false", "$STENOGRAPH_INDEX"],
    ]


@pytest.mark.parametrize("command", [("config",), ("ls",), ("stats",), ("show", "abc"), ("sync",)])
def test_a_mistake_ends_a_command_with_2(
    steno: Steno, file: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command that asks for a value says the same line."""
    monkeypatch.delenv("STENOGRAPH_HOME")
    file.write_text("[archive]\nhoem = 1\n", "utf-8")
    ended = steno(*command)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"steno: {file}: unknown key archive.hoem; keys of [archive]: home, storage, texts, index\n"


def test_an_option_wins(steno: Steno, file: Path, recorded: tuple[Any, Any], root: Path) -> None:
    """`--root` over what the file says."""
    file.write_text('[archive]\nstorage = "/nowhere"\n', "utf-8")
    run, _ = recorded
    assert steno("verify", run.run_id).code == 3
    assert steno("verify", run.run_id, "--root", root).code == 0
