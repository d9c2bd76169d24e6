"""Stars, names and tags on the page, and what was read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from archive_cases import SESSION, claude_line, session_path, synced, written
from served import Answer, Client, archive_of
from stenograph.cli.program import cli


def sent(client: Client, **change: object) -> Answer:
    body = json.dumps(change).encode()
    return client.get(
        "/api/v1/marks", method="POST", body=body, content_type="application/json", sec_fetch_site="same-origin"
    )


def test_a_mark_is_shown_and_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the list, in the run, by the filters of the page, and by those of `steno ls`."""
    home = archive_of(tmp_path)
    client = Client(home)
    assert sent(client, run_id=SESSION, star=True, name="<The slow one>", tags=["perf"]).status == 200
    page = client.get("/").text
    assert page.count("★") == 1
    assert "&lt;The slow one&gt;" in page
    for query in ("starred=1", "tag=perf"):
        assert re.findall(r'id="run-([^"]+)"', client.get(f"/?{query}").text) == [SESSION]
    assert client.get("/api/v1/marks").json["marks"][SESSION]["tags"] == ["perf"]
    assert 'aria-pressed="true"' in client.get(f"/runs/{SESSION}").text
    monkeypatch.setenv("STENOGRAPH_HOME", str(home))
    for option in (["--starred"], ["--tag", "perf"]):
        told = CliRunner().invoke(cli, ["ls", "--json", *option], catch_exceptions=False).stdout
        assert [run["run_id"] for run in json.loads(told)] == [SESSION]
    told = CliRunner().invoke(cli, ["ls", "--json", "--tag", "other"], catch_exceptions=False).stdout
    assert json.loads(told) == []


def test_what_was_read_is_not_new(tmp_path: Path) -> None:
    """A run that grew since it was read to its end is marked as unread."""
    home = archive_of(tmp_path)
    client = Client(home)
    assert "unread" not in client.get("/").text
    sent(client, run_id=SESSION, seen=client.get(f"/api/v1/runs/{SESSION}").json["last_seq"])
    assert "unread" not in client.get("/").text
    written(session_path(tmp_path / "home"), claude_line(50, "assistant", "more"))
    synced(tmp_path / "home", home)
    assert client.get("/").text.count('class="unread"') == 1


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"run_id": 1},
        {"run_id": SESSION, "odd": 1},
        {"run_id": SESSION, "star": "yes"},
        {"run_id": SESSION, "note": "x" * 5000},
    ],
)
def test_a_mistake_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    """In one line; nothing is kept."""
    client = Client(archive_of(tmp_path))
    answer = sent(client, **change)
    assert answer.status == 400
    assert answer.json["error"]
    assert sent(client, run_id="ffffffff", star=True).status == 404
    assert client.get("/api/v1/marks").json["marks"] == {}
