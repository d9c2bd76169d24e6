"""The list of runs: its order, what is taken away from it, and what is noted of a run."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from archive_cases import SESSION, THREAD, claude_line, session_path, synced, written
from archive_of_goldens import make_archive
from served import Client, archive_of
from stenograph import open_run
from stenograph.archive.store.home import home_of
from stenograph.bundle.loaded import DebugBundle
from stenograph.cli.program import cli
from stenograph.query.runs import SORTS

OTHER = SESSION.replace("0f1e2d3c", "1f1e2d3c")


@pytest.fixture(scope="module")
def goldens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of real sessions of several agents."""
    return make_archive(tmp_path_factory.mktemp("goldens"))[0]


VALUES = {
    "started": lambda run: run["started_at"] or "",
    "took": lambda run: -1 if run["duration_ms"] is None else run["duration_ms"],
    "turns": lambda run: run["turns"],
    "tools": lambda run: run["tool_calls"],
    "errors": lambda run: run["errors"],
    "tokens": lambda run: run["input_tokens"] + run["output_tokens"],
    "cost": lambda run: -1 if run["cost_usd"] is None else run["cost_usd"],
    "ended": lambda run: run["ended_at"] or "",
}


@pytest.mark.parametrize("sort", SORTS)
def test_the_list_is_sorted_and_paged(goldens: Path, sort: str) -> None:
    """Most first, or least first; page by page it has every run once."""
    client = Client(goldens)
    everything = {run["run_id"] for run in client.get("/api/v1/runs?limit=1000").json["runs"]}
    for sign in ("", "-"):
        found: list[dict[str, object]] = []
        after = ""
        while after is not None:
            answer = client.get(f"/api/v1/runs?limit=7&sort={sign}{sort}&after={after}").json
            found += answer["runs"]
            after = answer["after"]
        values = [VALUES[sort](run) for run in found]
        assert values == sorted(values, reverse=not sign)
        assert [run["run_id"] for run in found] == list(dict.fromkeys(run["run_id"] for run in found))
        assert {run["run_id"] for run in found} == everything


def test_heads_of_columns_sort(goldens: Path) -> None:
    """A click sorts by the column, the next one the other way round; filters stay."""
    client = Client(goldens)
    page = client.get("/?agent=claude").text
    assert '<a href="/?agent=claude&amp;sort=cost">Cost</a>' in page
    assert '<a href="/?agent=claude&amp;sort=-ended">Last event ↓</a>' in page
    page = client.get("/?agent=claude&sort=cost").text
    assert '<a href="/?agent=claude&amp;sort=-cost">Cost ↓</a>' in page
    assert 'data-topic="list"' not in page  # what comes live stands at the top, which is not its place here
    answer = client.get("/?sort=colour")
    assert answer.status == 400
    assert "cannot sort by" in answer.text


def test_several_runs_are_taken_away(tmp_path: Path) -> None:
    """One document for each in a zip, each as it is exported alone; a mistake is one line."""
    client = Client(archive_of(tmp_path))
    answer = client.get(f"/export.zip?run={SESSION}&run={THREAD}&kind=md")
    assert answer.headers["content-type"] == "application/zip"
    assert "attachment" in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.body)) as packed:
        assert sorted(packed.namelist()) == sorted([f"{SESSION}.md", f"{THREAD}.md"])
        alone = client.get(f"/runs/{SESSION}/export.md").body
        assert packed.read(f"{SESSION}.md") == alone
    for query, status in (("", 400), ("run=ffff", 404), (f"run={SESSION}&kind=exe", 400), ("run=../x", 404)):
        assert client.get(f"/export.zip?{query}").status == status
    page = client.get("/").text
    assert len(re.findall(r'<input type="checkbox" form="take" name="run" value="[0-9a-f-]{36}"', page)) == 2


def test_a_run_is_taken_away_as_a_bundle(tmp_path: Path) -> None:
    """The zip of a run is a bundle that verifies, with the run's events."""
    client = Client(archive_of(tmp_path))
    path = tmp_path / "a.zip"
    path.write_bytes(client.get(f"/runs/{SESSION}/export.zip").body)
    bundle = DebugBundle.load(path)
    assert bundle.verify().ok
    assert bundle.manifest.run_id == SESSION
    assert len(bundle.events) == client.get(f"/api/v1/runs/{SESSION}").json["last_seq"]


FORM = {"content_type": "application/x-www-form-urlencoded", "sec_fetch_site": "same-origin"}


def test_marks_are_noted_by_a_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name, tags, note and star, without a script; the page and `steno ls` have them then."""
    home = archive_of(tmp_path)
    client = Client(home)
    body = b"name=+The+%3Cslow%3E+one+&tags=perf%2C+bug%2Cperf&note=look+at+it&star=1"
    answer = client.get(f"/runs/{SESSION}/marks", method="POST", body=body, **FORM)
    assert (answer.status, answer.headers["location"]) == (303, f"/runs/{SESSION}")
    marks = client.get("/api/v1/marks").json["marks"][SESSION]
    assert marks == {
        "star": True,
        "name": "The <slow> one",
        "tags": ["perf", "bug"],
        "note": "look at it",
        "seen": None,
    }
    page = client.get(f"/runs/{SESSION}").text
    assert 'value="The &lt;slow&gt; one"' in page
    assert 'value="perf, bug"' in page
    assert ">look at it</textarea>" in page
    monkeypatch.setenv("STENOGRAPH_HOME", str(home))
    told = CliRunner().invoke(cli, ["ls", "--json", "--starred", "--tag", "bug"], catch_exceptions=False).stdout
    assert [run["run_id"] for run in json.loads(told)] == [SESSION]
    client.get(f"/runs/{SESSION}/marks", method="POST", body=b"name=&tags=&note=", **FORM)
    marks = client.get("/api/v1/marks").json["marks"][SESSION]
    assert (marks["star"], marks["name"], marks["tags"], marks["note"]) == (False, None, [], None)


@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": FORM["content_type"]},
        {**FORM, "sec_fetch_site": "cross-site"},
        {**FORM, "sec_fetch_site": "same-site"},
        {**FORM, "sec_fetch_site": "", "origin": "null"},
        {**FORM, "content_type": "multipart/form-data"},
        {**FORM, "content_type": "application/json"},
    ],
)
def test_only_our_own_form_is_taken(tmp_path: Path, headers: dict[str, str]) -> None:
    """The form of another site, or one that a browser does not vouch for, changes nothing."""
    client = Client(archive_of(tmp_path))
    assert client.get(f"/runs/{SESSION}/marks", method="POST", body=b"star=1", **headers).status == 403
    assert client.get(f"/runs/{SESSION}/marks", method="POST", body=b"star=1", cookie=False, **headers).status == 401


def test_a_form_that_is_too_long_is_refused(tmp_path: Path) -> None:
    """In one line, and nothing is kept of it."""
    client = Client(archive_of(tmp_path))
    answer = client.get(f"/runs/{SESSION}/marks", method="POST", body=b"note=" + b"x" * 5000, **FORM)
    assert answer.status == 400
    assert "too long" in answer.text
    assert client.get("/api/v1/marks").json["marks"] == {}


def test_a_mark_that_has_to_be_masked_has_no_form(tmp_path: Path) -> None:
    """What would be kept is the mask."""
    home = archive_of(tmp_path)
    body = b"note=the+key+is+sk-ant-api03-" + b"A1b2C3d4E5" * 9
    Client(home).get(f"/runs/{SESSION}/marks", method="POST", body=body, **FORM)
    assert "A1b2C3d4E5" in Client(home).get(f"/runs/{SESSION}").text
    page = Client(home, redact=True).get(f"/runs/{SESSION}").text
    assert "A1b2C3d4E5" not in page
    assert "<textarea" not in page


def test_a_synthetic_model_is_not_shown(tmp_path: Path) -> None:
    """Where an agent answered by itself, the run has the model that answered before, or none."""
    home = tmp_path / "home"
    answers = [json.loads(claude_line(number, "assistant")) for number in range(1, 3)]
    answers[1]["message"]["model"] = "<synthetic>"
    lines = [json.dumps(each).encode() + b"\n" for each in answers]
    alone = [each.replace(SESSION.encode(), OTHER.encode()) for each in lines[1:]]
    written(session_path(home), claude_line(0), *lines)
    written(session_path(home, OTHER), claude_line(0, session=OTHER), *alone)
    home_of(tmp_path / "archive").make()
    synced(home, tmp_path / "archive")
    client = Client(tmp_path / "archive")
    models = {run["run_id"]: run["model"] for run in client.get("/api/v1/runs").json["runs"]}
    assert models == {SESSION: "claude-x", OTHER: None}
    with open_run(session_path(home)) as one, open_run(session_path(home, OTHER)) as other:
        assert (one.info.model, other.info.model) == ("claude-x", None)
    for place in ("/", "/stats?by=model", f"/runs/{OTHER}", f"/runs/{SESSION}"):
        assert "synthetic" not in client.get(place).text
