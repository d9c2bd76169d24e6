"""`steno serve --store`: everybody's runs, with the figures and pages that the archive of each machine has."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from archive_of_goldens import CLAUDE, PARENT, make_archive
from lakes import age, push_and_load, store_of
from served import Client
from stenograph.archive.store.home import home_of
from stenograph.archive.store.identity import FILE
from stenograph.cli.program import cli
from stenograph.server import store_runs
from stenograph.server.store_runs import StoreRuns

LONG_AGO = "since=2020-01-01"


def _long(value: str) -> Any:
    """A case of `make scale`."""
    return pytest.param(value, marks=pytest.mark.scale)


class Place:
    """An archive, the store that has it, and clients of both."""

    def __init__(self, folder: Path) -> None:
        self.home, sessions = make_archive(folder)
        age(sessions)
        identity = self.home / "kept" / FILE
        known = json.loads(identity.read_text())
        identity.write_text(json.dumps({**known, "host": "build-7", "user": "ada", "team": "compilers"}))
        store = store_of(folder / "store")
        push_and_load([self.home], store)
        self.url = store.url
        self.folder = folder / "indexes"
        self.folder.mkdir()
        self.own = Client(self.home)
        self.everybody = self.client()

    def client(self, redact: bool = False, **owners: str) -> Client:
        runs = StoreRuns(self.url, self.folder, owners)
        return Client(self.folder, redact=redact, store=runs)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Golden sessions of four agents."""
    return Place(tmp_path_factory.mktemp("store"))


@pytest.mark.parametrize(
    "target",
    [
        "/api/v1/runs?limit=1000",
        "/api/v1/runs?limit=3&sort=tokens",
        "/api/v1/runs?agent=codex&status=finished&errors=1",
        "/api/v1/stats?by=model",
        f"/api/v1/runs/{CLAUDE}/events?limit=1000",
        f"/api/v1/runs/{CLAUDE}/units",
        f"/api/v1/runs/{CLAUDE}/find?q=the",
    ],
)
def test_the_api_answers_as_on_the_machine(place: Place, target: str) -> None:
    """The very same documents."""
    own, everybody = place.own.get(target), place.everybody.get(target)
    assert (own.status, everybody.status) == (200, 200), everybody.text
    assert everybody.json == own.json


def test_a_run_has_the_figures_of_the_list(place: Place) -> None:
    """Also those that depend on other runs, such as the calls that a fork copied."""
    for info in place.own.get("/api/v1/runs?limit=1000").json["runs"][::3]:
        found = place.everybody.get(f"/api/v1/runs/{info['run_id']}").json
        assert {name: found[name] for name in info} == info


@pytest.mark.parametrize("part", ["", "/changes", "/explain", "/find?q=the", _long("?types=tools"), _long("?unit=1")])
def test_the_pages_of_a_run_say_the_same(place: Place, part: str) -> None:
    """Without what only a machine has: marks, the neighbours in its list, and the stream."""
    own, everybody = (each.get(f"/runs/{CLAUDE}{part}") for each in (place.own, place.everybody))
    assert (own.status, everybody.status) == (200, 200), everybody.text
    assert _content(everybody.text) == _content(own.text)
    assert "data-cursor" not in everybody.text


def _content(page: str) -> str:
    """The page without its frame, and without the form for marks and links to other runs."""
    inner = page.partition('<div id="content">')[2].partition("<footer")[0]
    inner = inner.replace("<div><dt>Machine</dt><dd>build-7 · ada</dd></div>", "")
    inner = re.sub(r'<details class="marks">.*?</details>', "", inner, flags=re.DOTALL)
    return re.sub(r' <button class="star".*?</button>', "", inner, flags=re.DOTALL)


def test_words_are_found(place: Place) -> None:
    """The page says what was looked at, seven days where nothing else is asked for; hits lead to their events."""
    own = place.own.get(f"/api/v1/search?q=hello&limit=1000&{LONG_AGO}").json["hits"]
    found = place.everybody.get(f"/api/v1/search?q=hello&limit=1000&{LONG_AGO}").json
    assert sorted(map(str, found["hits"])) == sorted(map(str, own))
    assert found["looked_at"] == "815 events of 20 runs since 2020-01-01"
    page = place.everybody.get(f"/search?q=hello&{LONG_AGO}").text
    assert f"/at/{found['hits'][0]['seq']}?q=hello" in page
    assert re.search(r"Looked at \d+ events of \d+ runs since 7d", place.everybody.get("/search?q=hello").text)
    at = place.everybody.get(f"/runs/{found['hits'][0]['run_id']}/at/{found['hits'][0]['seq']}")
    assert at.status == 303


def test_runs_can_be_chosen_by_words_and_owner(place: Place) -> None:
    """By words in the period; by machine, user and team; and a server of one team shows nobody else's."""
    ids = [
        [run["run_id"] for run in each.get(f"/api/v1/runs?q=hello&{LONG_AGO}&limit=1000").json["runs"]]
        for each in (place.own, place.everybody)
    ]
    assert ids[0] == ids[1] != []
    for query, number in (("machine=build-7", 20), ("user=ada&team=compilers", 20), ("team=kernel", 0)):
        assert len(place.everybody.get(f"/api/v1/runs?limit=1000&{query}").json["runs"]) == number
    page = place.everybody.get("/").text
    assert 'name="machine"' in page
    assert 'data-head="Machine">build-7<' in page
    assert 'name="starred"' not in page
    others = place.client(team="kernel")
    assert others.get("/api/v1/runs?team=compilers").json["runs"] == []
    assert others.get(f"/runs/{CLAUDE}").status == 404
    assert 'name="team"' not in others.get("/").text
    assert place.own.get("/api/v1/runs?machine=build-7").status == 400


@pytest.mark.parametrize(
    ("target", "status", "line"),
    [
        ("/api/v1/marks", 404, "a store has no marks"),
        ("/api/v1/stream?runs=list", 404, "a store is not followed here"),
        ("/api/v1/runs?starred=1", 400, "stars and tags are a machine&#x27;s own|stars and tags are a machine's own"),
        ("/bundle", 404, "steno serve BUNDLE.zip shows a bundle"),
        ("/runs/ffffffff", 404, "no run 'ffffffff'|no run &#x27;ffffffff&#x27;"),
        ("/stats?by=nonsense", 400, "cannot add up by"),
    ],
)
def test_what_a_store_does_not_have_is_one_line(place: Place, target: str, status: int, line: str) -> None:
    """With the right status."""
    answer = place.everybody.get(target)
    assert answer.status == status
    assert re.search(line, answer.text)


def test_nothing_can_be_changed(place: Place) -> None:
    """No form for marks, and none is taken."""
    body = json.dumps({"run_id": CLAUDE, "star": True}).encode()
    sent = {"content_type": "application/json", "sec_fetch_site": "same-origin"}
    answer = place.everybody.get("/api/v1/marks", method="POST", body=body, **sent)
    assert (answer.status, answer.json["error"][:20]) == (400, "a store has no marks")
    page = place.everybody.get(f"/runs/{CLAUDE}").text
    assert 'class="star"' not in page
    assert 'class="marks"' not in page


@pytest.mark.parametrize("target", ["/", "/live", "/stats", "/help", f"/runs/{PARENT}/tree", f"/runs/{CLAUDE}/raw/1"])
def test_every_page_answers(place: Place, target: str) -> None:
    """Masked, too; and where the store is, its pages say."""
    page = place.client(redact=True).get(target)
    assert page.status == 200
    assert place.url in page.text


@pytest.mark.parametrize("kind", ["html", _long("md"), _long("txt"), _long("json"), "zip"])
def test_a_run_can_be_taken_away(place: Place, kind: str) -> None:
    """The documents are those of the machine; a bundle has its events."""
    own, everybody = (each.get(f"/runs/{CLAUDE}/export.{kind}") for each in (place.own, place.everybody))
    assert everybody.status == 200
    assert everybody.body[:2] == b"PK" if kind == "zip" else everybody.text == own.text


def test_indexes_of_runs_are_kept_while_they_are_of_use(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as may be kept; one that is asked for again is not made again."""
    monkeypatch.setattr(store_runs, "KEPT", 2)
    client = place.client()
    ids = [run["run_id"] for run in client.get("/api/v1/runs?limit=3").json["runs"]]
    before = set(place.folder.iterdir())
    for run_id in (*ids, ids[2], ids[1]):
        assert client.get(f"/api/v1/runs/{run_id}").status == 200
    assert len(set(place.folder.iterdir()) - before) == 2


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--store", "file:///nowhere"), "there is no lake in file:///nowhere yet; run: steno lake load"),
        (("--store", "file:///nowhere", "--archive", "x"), "--archive is about this machine"),
        (("--store", "file:///nowhere", "--otlp"), "--otlp is about this machine's archive"),
        (("--store", "file:///nowhere", "a.zip"), "a bundle is shown alone; leave out --store"),
        (("--team", "x"), "--machine, --user and --team need --store URL"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], line: str) -> None:
    """Before anything listens."""
    done = CliRunner().invoke(cli, ["serve", "--no-open", *words])
    assert done.exit_code != 0
    assert line in f"{done.output} {done.exception}"


def test_the_folder_of_the_archive_is_not_made(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no archive of its own shows a store without making one."""
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "own"))
    assert place.client().get("/").status == 200
    assert not home_of().path.exists()
