"""`steno install AGENT --mcp`: the server is registered once, and everything else in the settings stays."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Steno = Callable[..., Any]
CODEX = """# mine
model = "gpt-5"

[mcp_servers.other]
command = "other"  # keep

[profiles.fast]
model = "small"
"""


@pytest.fixture(autouse=True)
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of agents in folders of their own."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.delenv("STENOGRAPH_HOME")


def test_claude_gets_the_server_beside_what_it_has(steno: Steno, tmp_path: Path) -> None:
    """Registered twice it is there once; removed, the file says what it said."""
    path = tmp_path / "claude" / ".claude.json"
    path.parent.mkdir()
    before = {"numStartups": 3, "mcpServers": {"x": {"command": "x"}}}
    path.write_text(json.dumps(before))
    for _ in range(2):
        assert steno("install", "claude", "--mcp").code == 0
    told = json.loads(path.read_text())
    assert told["mcpServers"].pop("stenograph")["args"][-1] == "mcp"
    assert told == before
    assert len(list(path.parent.glob("*.bak"))) == 1
    assert steno("install", "claude", "--mcp", "--remove").code == 0
    assert json.loads(path.read_text()) == before


def test_codex_gets_a_table_of_its_own(steno: Steno, tmp_path: Path) -> None:
    """Comments and order stay; removed, only the empty lines at the end may differ."""
    path = tmp_path / "codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(CODEX)
    for _ in range(2):
        assert steno("install", "codex", "--mcp").code == 0
    text = path.read_text()
    assert text.startswith(CODEX)
    server = tomllib.loads(text)["mcp_servers"]["stenograph"]
    assert server["args"][-1] == "mcp"
    assert Path(server["command"]).is_file()
    path.write_text(text.replace('"mcp"]', '"old"]') + "[mcp_servers.stenograph.env]\nA = 'b'\n\n[last]\nx = 1\n")
    assert steno("install", "codex", "--mcp").code == 0
    told = tomllib.loads(path.read_text())
    assert told["mcp_servers"]["stenograph"] == server
    assert told["last"] == {"x": 1}
    assert steno("install", "codex", "--mcp", "--remove").code == 0
    assert tomllib.loads(path.read_text()) == {**tomllib.loads(CODEX), "last": {"x": 1}}
    assert "# mine" in path.read_text()


def test_settings_that_do_not_exist_are_made(steno: Steno, tmp_path: Path) -> None:
    """For both agents."""
    assert steno("install", "claude", "--mcp").code == 0
    assert steno("install", "codex", "--mcp").code == 0
    assert list(json.loads((tmp_path / "claude" / ".claude.json").read_text())) == ["mcpServers"]
    assert list(tomllib.loads((tmp_path / "codex" / "config.toml").read_text())) == ["mcp_servers"]


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("claude", "{"),
        ("claude", "[]"),
        ("claude", '{"mcpServers": []}'),
        ("codex", "= 3"),
        ("codex", "mcp_servers = 1"),
        ("codex", 'mcp_servers = { stenograph = { command = "x" } }'),
        ("codex", 'x = """\n[mcp_servers.stenograph]\n"""\n[mcp_servers.stenograph]\ncommand = "old"\n'),
    ],
)
def test_settings_that_cannot_be_changed_safely_are_left_alone(
    steno: Steno, tmp_path: Path, agent: str, text: str
) -> None:
    """One line says why, exit code 3, and not a byte is changed."""
    path = tmp_path / "settings"
    path.write_text(text)
    done = steno("install", agent, "--mcp", "--settings", str(path))
    assert done.code == 3, done
    assert "nothing was changed" in done.err
    assert path.read_text() == text


def test_an_archive_of_the_environment_is_registered(
    steno: Steno, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codex passes no variables on, so the server is told by an option."""
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "mine"))
    assert steno("install", "codex", "--mcp").code == 0
    server = tomllib.loads((tmp_path / "codex" / "config.toml").read_text())["mcp_servers"]["stenograph"]
    assert server["args"][-3:] == ["mcp", "--archive", str(tmp_path / "mine")]
