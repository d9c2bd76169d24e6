"""A bundle in the browser: its runs, its transcript, its logs, and questions to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from served import Client
from stenograph import open_run, start_run
from stenograph.bundle import BundleOptions, create_bundle
from stenograph.bundle.loaded import DebugBundle
from stenograph.cli.program import cli
from stenograph.journal.reader import read_events
from stenograph.server.bundling import bundle_home

SECRET = "sk-ant-api03-" + "A1b2C3d4E5" * 9


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a call, a log and something secret."""
    tmp_path = tmp_path_factory.mktemp("bundled")
    log = tmp_path / "app.jsonl"
    records = [{"level": "INFO", "message": "begun"}, {"level": "ERROR", "message": "<b>broken</b>"}]
    log.write_text("".join(json.dumps(each) + "\n" for each in records))
    with start_run("review", root=tmp_path) as run:
        run.user(f"Any **bugs** in stats.py? {SECRET}")
        with run.tool("read_file", {"path": "stats.py"}) as call:
            call.output = "def mean(values): ..."
        run.assistant("mean([]) divides by zero.")
    options = BundleOptions(environment=False)
    return create_bundle(tmp_path / "a.zip", read_events(run.path), logs=log, options=options)


@pytest.fixture(scope="module")
def home(bundle: Path) -> Iterator[Path]:
    """Its runs as an archive."""
    with bundle_home(bundle) as home:
        yield home.path


def test_the_runs_of_a_bundle_are_pages(bundle: Path, home: Path) -> None:
    """With the figures that the bundle itself has, and with search."""
    run_id = DebugBundle.load(bundle).manifest.run_id
    with open_run(bundle) as opened:
        client = Client(home, bundle=bundle)
        told = client.get(f"/api/v1/runs/{run_id}").json
        mine = opened.info.to_dict()
        assert {name: value for name, value in told.items() if name in mine and name != "archive_id"} == {
            name: value for name, value in mine.items() if name != "archive_id"
        }
        assert "divides by zero" in client.get(f"/runs/{run_id}").text
        assert client.get("/api/v1/search?q=divides").json["hits"][0]["run_id"] == run_id
        assert 'data-do="star"' not in client.get(f"/runs/{run_id}").text
        assert "a bundle is not changed" in _mark(client, run_id)


def _mark(client: Client, run_id: str) -> str:
    body = json.dumps({"run_id": run_id, "star": True}).encode()
    return client.get(
        "/api/v1/marks", method="POST", body=body, content_type="application/json", sec_fetch_site="same-origin"
    ).text


def test_the_transcript_panel_filters_entries(bundle: Path, home: Path) -> None:
    """All entries in order with a summary; by type, source, words and detail."""
    client = Client(home, bundle=bundle)
    page = client.get("/bundle").text
    entries = DebugBundle.load(bundle).entries
    assert f"<dt>Entries</dt><dd>{len(entries)}</dd>" in page
    assert len(re.findall(r'<article class="ev', page)) == len(entries)
    assert "<strong>bugs</strong>" in page
    one = client.get("/bundle?type=tool_use").text
    assert len(re.findall(r'<article class="ev', one)) == 1
    assert len(re.findall(r'<article class="ev', client.get("/bundle?q=DIVIDES").text)) == 1
    assert "No entry is like that." in client.get("/bundle?source=subagent%3Ax").text
    assert client.get("/bundle?detail=no-such-detail").text.count("<article") == 0


def test_logs_are_shown(bundle: Path, home: Path) -> None:
    """By level and by words; what they say is text."""
    client = Client(home, bundle=bundle)
    page = client.get("/bundle/logs?level=ERROR").text
    assert "&lt;b&gt;broken&lt;/b&gt;" in page
    assert page.count('<article class="ev error"') == 1
    assert client.get("/bundle/logs?q=begun").text.count("<article") == 1


@pytest.mark.parametrize(
    "sql", ["SELECT tool_name, count(*) AS calls FROM tool_calls GROUP BY 1", "SELECT title FROM runs"]
)
def test_a_question_is_answered_as_steno_query_does(bundle: Path, home: Path, sql: str) -> None:
    """The same columns and rows."""
    told = CliRunner().invoke(cli, ["query", str(bundle), sql, "--json"], catch_exceptions=False).stdout
    page = Client(home, bundle=bundle).get(f"/bundle/sql?sql={quote(sql)}").text
    body = page.rpartition("<tbody>")[2].partition("</tbody>")[0]  # the first lists the files
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in body.splitlines() if row]
    assert rows == [[str(value).replace('"', "&quot;") for value in row.values()] for row in json.loads(told)]


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELEC 1", "syntax error"),
        ("DELETE FROM logs", "SELECT"),
        ("SELECT foo FROM logs", "no such column"),
        ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n", "rows"),
    ],
)
def test_a_mistake_in_a_question_is_one_line(bundle: Path, home: Path, sql: str, says: str) -> None:
    """And nothing is written, and nothing runs for ever."""
    page = Client(home, bundle=bundle).get(f"/bundle/sql?sql={quote(sql)}")
    (told,) = re.findall(r'role="alert">(.*?)</p>', page.text)
    assert page.status == 200
    assert says in told


def test_a_masked_bundle_shows_no_secret(bundle: Path, home: Path) -> None:
    """Neither as an entry, nor as a record, nor as a row, nor in the run."""
    places = ("/bundle", "/bundle/logs", "/bundle/sql?sql=SELECT+*+FROM+entries", "/")
    run_id = DebugBundle.load(bundle).manifest.run_id
    client = Client(home, bundle=bundle, redact=True)
    for place in (*places, f"/runs/{run_id}", f"/runs/{run_id}/raw/2"):
        answer = client.get(place)
        assert answer.status == 200, place
        assert SECRET not in answer.text, place
    assert SECRET in Client(home, bundle=bundle).get("/bundle").text


def test_an_archive_has_no_bundle(bundle: Path, home: Path) -> None:
    """The page of a bundle is there only for one."""
    assert Client(home).get("/bundle").status == 404
