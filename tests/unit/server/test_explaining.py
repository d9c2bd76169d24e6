"""The pages of facts and of comparisons say what the command line says."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

from archive_cases import SESSION, claude_line, session_path, synced, written
from served import Client
from stenograph.cli.program import cli

EARLIER = "1f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f1"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions of one folder with the same prompt; the later one does more."""
    root = tmp_path_factory.mktemp("explaining")
    written(
        session_path(root / "home", EARLIER),
        claude_line(1, text="look <b>", session=EARLIER),
        claude_line(2, "call", "ls", EARLIER),
        claude_line(3, "result", "a", EARLIER),
    )
    written(
        session_path(root / "home"),
        claude_line(11, text="look <b>"),
        claude_line(12, "call", "ls"),
        claude_line(13, "result", "b"),
        claude_line(14, "call", "pwd"),
        claude_line(15, "result", "/w"),
    )
    (root / "archive").mkdir(mode=0o700)
    synced(root / "home", root / "archive")
    return root / "archive"


@pytest.fixture(scope="module")
def client(home: Path) -> Client:
    return Client(home)


def _printed(home: Path, *arguments: str) -> list[str]:
    return CliRunner().invoke(cli, [*arguments, "--archive", str(home)]).stdout.splitlines()


def test_the_facts_are_those_of_the_command_line(client: Client, home: Path) -> None:
    """Line by line, escaped; with a link that compares the run with the one before."""
    shown = client.get(f"/runs/{SESSION}/explain").text
    lines = _printed(home, "explain", SESSION)
    assert len(lines) > 10
    page = unescape(shown)
    assert all(line in page for line in lines)
    assert "look <b>" not in shown
    assert f"/diff?left={EARLIER}&amp;right={SESSION}" in shown


def test_two_runs_are_compared_as_the_command_line_does(client: Client, home: Path) -> None:
    """Line by line; the page leads to both runs."""
    page = unescape(client.get(f"/diff?left={EARLIER}&right={SESSION}").text)
    lines = _printed(home, "diff", EARLIER, SESSION)
    assert any(line.strip().startswith("≠ Bash") for line in lines)
    assert any(line.strip().startswith("+ Bash") for line in lines)
    assert all(line in page for line in lines)
    assert f'href="/runs/{EARLIER}"' in page
    assert f'href="/runs/{SESSION}"' in page


@pytest.mark.parametrize(
    ("query", "status"), [("", 400), (f"?left={SESSION}", 400), (f"?left={SESSION}&right=../x", 404)]
)
def test_a_comparison_needs_two_runs(client: Client, query: str, status: int) -> None:
    """A mistake is a page that says so."""
    assert client.get(f"/diff{query}").status == status
