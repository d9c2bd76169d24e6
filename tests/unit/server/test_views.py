"""The other views of a run and of the archive: tree, changes, exports, stats, help."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

from archive_cases import SESSION, claude_line, session_path, subagent_path, synced, written
from served import Client
from stenograph.cli.program import cli
from stenograph.render.figures import cost
from stenograph.server.exporting import KINDS
from stenograph.server.helping import KEYS


def call(number: int, name: str, given: dict[str, object]) -> bytes:
    record = json.loads(claude_line(number, "call"))
    record["message"]["content"][0] |= {"name": name, "input": given}
    return json.dumps(record).encode() + b"\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("views")
    edit = {"file_path": "/w/a.py", "old_string": "x = 1", "new_string": "x = 2\ny = 3"}
    lines = [
        claude_line(0, text="change it"),
        call(1, "Edit", edit),
        claude_line(2, "result"),
        call(3, "Write", {"file_path": "/w/b.txt", "content": "one\ntwo"}),
        claude_line(4, "result"),
        claude_line(5, "assistant", "done <b>"),
    ]
    written(session_path(root / "home"), *lines)
    side = {"isSidechain": True, "agentId": "a1"}
    written(
        subagent_path(root / "home"), claude_line(6, text="look", **side), claude_line(7, "assistant", "seen", **side)
    )
    (root / "archive").mkdir(mode=0o700)
    synced(root / "home", root / "archive")
    return root / "archive"


@pytest.fixture(scope="module")
def client(home: Path) -> Client:
    return Client(home)


def test_changes_are_told_by_file_and_linked(client: Client) -> None:
    """Two files, each with its diff, its sums, and a link to the call that made it."""
    page = unescape(client.get(f"/runs/{SESSION}/changes").text)
    assert "2 files" in page
    assert "+2 −1" in page
    assert page.index("/w/a.py") < page.index("/w/b.txt")
    assert re.search(r'<span class="add">\+?\s*x = 2', page)
    for place in re.findall(rf'href="(/runs/{SESSION}/at/\d+)"', page):
        assert client.get(place).status == 303


def test_the_tree_has_the_subagent(client: Client) -> None:
    """In order and on the time axis; it leads to what the subagent said."""
    page = client.get(f"/runs/{SESSION}/tree").text
    assert "<svg" in page
    place = unescape(re.search(rf'href="(/runs/{SESSION}\?source=[^"]+)"', page)[1])
    assert "seen" in client.get(place).text


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_exports_are_what_the_command_line_writes(
    client: Client, home: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte, and as a download that a browser never shows as a page of ours."""
    monkeypatch.setenv("STENOGRAPH_HOME", str(home))
    answer = client.get(f"/runs/{SESSION}/export.{kind}")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-security-policy"].endswith("sandbox")
    form = {"html": "html", "md": "markdown", "txt": "text", "json": "json"}[kind]
    shown = CliRunner().invoke(cli, ["show", SESSION, "--as", form], catch_exceptions=False)
    assert answer.text == shown.stdout
    assert client.get(f"/runs/{SESSION}/export.exe").status == 404


@pytest.mark.parametrize("by", ["day", "week", "model", "agent", "project", "tool"])
def test_stats_are_those_of_the_command_line(
    client: Client, home: Path, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page and API have the rows and the totals of `steno stats --json`."""
    monkeypatch.setenv("STENOGRAPH_HOME", str(home))
    told = json.loads(CliRunner().invoke(cli, ["stats", "--by", by, "--json"], catch_exceptions=False).stdout)
    document = client.get(f"/api/v1/stats?by={by}").json
    assert document["rows"] == told["rows"]
    assert document["totals"] == told["totals"]
    page = unescape(client.get(f"/stats?by={by}").text)
    for row in told["rows"]:
        assert row[by] in page
    assert cost(told["totals"]["cost_usd"], told["totals"]["cost_is_partial"]) in page
    assert client.get("/stats?by=odd").status == 400


def test_help_has_every_key_and_says_where_the_data_is(client: Client, home: Path) -> None:
    """And that nothing leaves the machine."""
    page = unescape(client.get("/help").text)
    for key, what in KEYS:
        assert f"<kbd>{key}</kbd>" in page
        assert what in page
    assert str(home) in page
    assert "Nothing leaves this machine" in page


def test_health_names_the_version(client: Client) -> None:
    """For programs."""
    assert client.get("/api/v1/health").json["keeping"] == "no"


def test_an_export_keeps_what_is_shown(client: Client) -> None:
    """The kinds that were picked and the density; the page links its exports so."""
    page = client.get(f"/runs/{SESSION}?types=prompts&density=all").text
    assert f'href="/runs/{SESSION}/export.html?types=prompts&amp;density=all"' in page
    events = client.get(f"/runs/{SESSION}/export.json?types=prompts").json
    everything = client.get(f"/runs/{SESSION}/export.json").json
    assert [event["seq"] for event in events] == [
        event["seq"] for event in everything if event["type"] == "message.user"
    ]
    exported = client.get(f"/runs/{SESSION}/export.html?types=prompts,tools&density=all").text
    assert '<body data-density="all">' in exported
    assert "<body>" in client.get(f"/runs/{SESSION}/export.html?density=nonsense").text
    assert 'class="ev bot"' not in exported
    assert 'class="ev tool' in exported
