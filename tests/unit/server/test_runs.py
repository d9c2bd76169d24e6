"""The list of runs, the page of a run, and the API: rows in the first answer, the figures of `steno ls --json`."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

from archive_cases import SESSION, claude_line, session_path, synced, written
from served import KINDS, Client, archive_of
from stenograph import open_archive
from stenograph.cli.program import cli
from stenograph.render.figures import cost

LINES = 1700


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return archive_of(tmp_path_factory.mktemp("runs"), LINES)


@pytest.fixture(scope="module")
def client(home: Path) -> Client:
    return Client(home)


def listed(home: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> list[dict[str, object]]:
    monkeypatch.setenv("STENOGRAPH_HOME", str(home))
    result = CliRunner().invoke(cli, ["ls", "--json", *options], catch_exceptions=False)
    return json.loads(result.stdout)


def seqs_on(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="seq-(\d+)"', page)]


def test_the_list_has_its_rows_in_the_first_answer(client: Client, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run with its status, its title and what it cost, in the order of `steno ls`."""
    page = client.get("/").text
    runs = listed(home, monkeypatch)
    assert re.findall(r'<tr id="run-([^"]+)"', page) == [run["run_id"] for run in runs]
    for run in runs:
        row = unescape(page.partition(f'id="run-{run["run_id"]}"')[2].partition("</tr>")[0])
        assert str(run["status"]) in row
        assert str(run["title"]) in row
        assert f">{run['tool_calls']:,}<" in row
        assert f">{cost(run['cost_usd'], run['cost_is_partial'])}<" in row


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("agent=codex", ["--agent", "codex"]),
        ("project=other", ["--project", "other"]),
        ("q=codex", ["--grep", "codex"]),
        ("status=running", ["--status", "running"]),
        ("model=claude-x", ["--model", "claude-x"]),
        ("since=2026-03-01&until=2026-03-01", ["--since", "2026-03-01", "--until", "2026-03-01"]),
    ],
)
def test_filters_are_in_the_url(
    client: Client, home: Path, monkeypatch: pytest.MonkeyPatch, query: str, options: list[str]
) -> None:
    """List and API pick the runs that `steno ls` picks."""
    expected = [run["run_id"] for run in listed(home, monkeypatch, *options)]
    assert re.findall(r'<tr id="run-([^"]+)"', client.get(f"/?{query}").text) == expected
    assert [run["run_id"] for run in client.get(f"/api/v1/runs?{query}").json["runs"]] == expected


def test_runs_with_errors_and_runs_of_their_own(client: Client) -> None:
    """Nothing failed here and no run started another: the one filter leaves nothing, the other everything."""
    assert client.get("/api/v1/runs?errors=1").json["runs"] == []
    assert len(client.get("/api/v1/runs?sub=0").json["runs"]) == 2


def test_a_mistake_in_a_filter_is_one_line(client: Client) -> None:
    """With the words of the command line."""
    assert client.get("/?status=odd").status == 400
    assert "is not a status" in client.get("/?status=odd").text
    assert "is not a status" in client.get("/api/v1/runs?status=odd").json["error"]


def test_the_list_is_paged_by_the_last_run(client: Client) -> None:
    """Two pages of one run each are the two runs."""
    first = client.get("/api/v1/runs?limit=1").json
    second = client.get(f"/api/v1/runs?limit=1&after={first['after']}").json
    assert second["after"] is None
    assert {first["runs"][0]["run_id"], second["runs"][0]["run_id"]} == {
        run["run_id"] for run in client.get("/api/v1/runs").json["runs"]
    }


def test_the_api_has_the_figures_of_ls(client: Client, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """List, run and `steno ls --json` agree in every field."""
    for told in listed(home, monkeypatch):
        run = client.get(f"/api/v1/runs/{told['run_id']}").json
        in_list = next(each for each in client.get("/api/v1/runs").json["runs"] if each["run_id"] == told["run_id"])
        for name, value in in_list.items():
            assert told[name] == value == run[name], name


def test_every_event_is_on_one_page(client: Client, home: Path) -> None:
    """Following `Later` from the first page shows every event of the run once, in order."""
    with open_archive(home) as archive, archive.run(SESSION) as run:
        expected = [event.seq for event in run.events(keep_raw=False)]
    place, seen, pages = f"/runs/{SESSION}?unit=0", [], 0
    while place:
        page = client.get(place).text
        seen += seqs_on(page)
        pages += 1
        found = re.search(r'rel="next" href="([^"]+)"', page)
        place = unescape(found[1]) if found else ""
    assert sorted(seen) == expected
    assert pages > LINES / 4 / 20


def test_a_long_unit_is_cut_and_its_calls_have_their_results(tmp_path: Path) -> None:
    """A prompt with 900 events has three pages; a call at the end of one has its result beside it."""
    home = tmp_path / "home"
    lines = [claude_line(0), *(claude_line(number, KINDS[2 + number % 2]) for number in range(2, 902))]
    written(session_path(home), *lines)
    (tmp_path / "archive").mkdir(mode=0o700)
    synced(home, tmp_path / "archive")
    client = Client(tmp_path / "archive")
    first = client.get(f"/runs/{SESSION}?unit=1").text
    place = unescape(re.search(r'rel="next" href="([^"]+)"', first)[1])
    second = client.get(place).text
    assert "goes on" in second
    assert "no result" not in first
    assert "no result" not in second
    assert max(seqs_on(first)) < max(seqs_on(second))


def test_a_link_to_an_event_leads_to_its_page(client: Client) -> None:
    """`/at/` knows the page and the anchor; the page has the event."""
    for seq in (1, 2, 700, 2000):
        answer = client.get(f"/runs/{SESSION}/at/{seq}")
        assert answer.status == 303
        place, _, anchor = answer.headers["location"].partition("#")
        assert anchor == f"seq-{seq}"
        assert seq in seqs_on(client.get(place).text)
    assert client.get(f"/runs/{SESSION}/at/999999").status == 404


def test_the_beginning_of_an_id_is_enough(client: Client) -> None:
    """It leads to the whole one."""
    answer = client.get(f"/runs/{SESSION[:8]}")
    assert (answer.status, answer.headers["location"]) == (303, f"/runs/{SESSION}")


def test_an_event_as_it_was_recorded(client: Client) -> None:
    """The raw page has the canonical event and where it came from."""
    page = unescape(client.get(f"/runs/{SESSION}/raw/2").text)
    assert '"seq": 2' in page
    assert client.get(f"/runs/{SESSION}/raw/99999").status == 404


def test_an_event_has_its_source_line(client: Client, tmp_path: Path) -> None:
    """Byte for byte, with its file and number, of a session that is in the archive only."""
    for seq in (1, 2, 400):
        event = client.get(f"/api/v1/runs/{SESSION}/events?after={seq - 1}&limit=1").json["events"][0]
        number = event["origin"]["line"]
        expected = claude_line(number - 1, KINDS[(number - 1) % 4]).decode().rstrip()
        page = unescape(client.get(f"/runs/{SESSION}/raw/{seq}").text)
        assert f"{SESSION}.jsonl:{number}</code>" in page
        assert expected in page


def test_kinds_are_picked_from_the_whole_run(client: Client) -> None:
    """Prompts of a run of many pages, 400 on the first."""
    page = client.get(f"/runs/{SESSION}?types=prompts").text
    events = client.get(f"/api/v1/runs/{SESSION}/units").json["units"]
    assert seqs_on(page) == [unit["first_seq"] for unit in events if unit["unit"]][:400]
    assert 'rel="next"' in page
    assert seqs_on(client.get(f"/runs/{SESSION}?source=subagent").text) == []


def test_the_api_gives_every_event(client: Client, home: Path) -> None:
    """By pages, in the canonical form, to the last."""
    with open_archive(home) as archive, archive.run(SESSION) as run:
        expected = [event.seq for event in run.events(keep_raw=False)]
    after, seen = 0, []
    while after is not None:
        part = client.get(f"/api/v1/runs/{SESSION}/events?after={after}&limit=700").json
        seen += [event["seq"] for event in part["events"]]
        after = part["after"]
    assert seen == expected


def test_units_are_the_runs_units(client: Client, home: Path) -> None:
    """Their first and last numbers are those of the units that Python gives."""
    with open_archive(home) as archive, archive.run(SESSION) as run:
        expected = [(unit.number, unit.events[0].seq, unit.events[-1].seq) for unit in run.units()]
    found = client.get(f"/api/v1/runs/{SESSION}/units").json["units"]
    assert [(unit["unit"], unit["first_seq"], unit["last_seq"]) for unit in found] == expected


def test_find_has_all_hits_of_a_run(client: Client) -> None:
    """All numbers, the first hundred with their text, each a link that leads to the hit."""
    found = client.get(f"/api/v1/runs/{SESSION}/find?q=helloWorld").json
    assert found["total"] == len(found["seqs"]) == LINES
    assert len(found["hits"]) == 100
    at, to = found["hits"][0]["spans"][0]
    assert found["hits"][0]["snippet"][at:to].lower() == "helloworld"
    page = client.get(f"/runs/{SESSION}/find?q=helloWorld").text
    assert page.count("<mark>") >= 100
    assert "1,600 more hits" in page
    assert client.get(f"/api/v1/runs/{SESSION}/find?q=nowhere").json["total"] == 0


def test_search_finds_in_all_runs(client: Client) -> None:
    """With facets; every hit is a permanent link."""
    found = client.get("/api/v1/search?q=codex+line").json
    assert [hit["run_id"] for hit in found["hits"]]
    assert set(found["facets"]["agent"]) == {"codex"}
    page = client.get("/search?q=codex+line").text
    place = unescape(re.search(r'href="(/runs/[^"]+/at/[^"]+)"', page)[1])
    assert client.get(place).status == 303


def test_the_search_page_says_how_to_exclude_a_word_and_when_it_does_not_show_all(client: Client) -> None:
    """The hint names what the search understands; a cut is never silent."""
    page = client.get("/search?q=helloWorld").text
    assert "a NOT b" in page
    assert "-without" not in page
    assert "No more than 100 hits are shown" in page
    assert "No more than" not in client.get("/search?q=codex+line").text
    assert "Nothing was found." in client.get("/search?q=codex+NOT+line").text


def test_a_query_with_a_mistake_is_one_line(client: Client) -> None:
    """In the page and in the API."""
    for place in ('/search?q="open', '/api/v1/search?q="open', f'/runs/{SESSION}/find?q="open'):
        assert client.get(place).status in (200, 400)


def test_what_is_not_there_is_404(client: Client) -> None:
    """Pages and API alike."""
    for place in (
        "/nowhere",
        "/api/v1/nowhere",
        "/runs/ffffffff",
        "/api/v1/runs/ffffffff",
        f"/runs/{SESSION}?unit=99999",
    ):
        assert client.get(place).status == 404


def test_without_an_archive_the_page_says_what_to_do(tmp_path: Path) -> None:
    """One line, no trace; the first sync makes the archive, so nothing is wrong."""
    for place in ("/", "/live"):
        answer = Client(tmp_path).get(place)
        assert answer.status == 200
        assert "There is no archive yet. steno sync makes it." in answer.text
    assert Client(tmp_path).get("/stats").status == 404


def test_answers_are_compressed(client: Client) -> None:
    """Where the browser takes it."""
    plain, packed = client.get("/"), client.get("/", accept_encoding="gzip")
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == plain.text
    assert len(packed.body) < len(plain.body) / 2


def test_secrets_are_masked_everywhere(tmp_path: Path) -> None:
    """With `--redact` no page and no document has the secret; without it, they have it as it was said."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    home = tmp_path / "home"
    written(session_path(home), claude_line(0, text=f"token {secret} helloWorld"), claude_line(1, "assistant", secret))
    (tmp_path / "archive").mkdir(mode=0o700)
    synced(home, tmp_path / "archive")
    masked, plain = Client(tmp_path / "archive", redact=True), Client(tmp_path / "archive")
    places = (
        "/",
        "/live",
        f"/runs/{SESSION}",
        f"/runs/{SESSION}/raw/1",
        f"/runs/{SESSION}/find?q=helloWorld",
        "/search?q=helloWorld",
        "/api/v1/runs",
        f"/api/v1/runs/{SESSION}",
        f"/api/v1/runs/{SESSION}/events",
        f"/api/v1/runs/{SESSION}/find?q=helloWorld",
        "/api/v1/search?q=helloWorld",
    )
    for place in places:
        assert secret not in masked.get(place).text, place
    assert "are masked" in masked.get("/").text
    assert secret in plain.get(f"/runs/{SESSION}").text
    assert "are masked" not in plain.get("/").text


def test_a_transcript_is_data(tmp_path: Path) -> None:
    """Tags, attributes and ends of blocks in a transcript stay text on every page."""
    evil = '</title></style></script><script>alert(1)</script><img src=x onerror=alert(2)>" onclick="alert(3)'
    home = tmp_path / "home"
    written(session_path(home), claude_line(0, text=evil), claude_line(1, "call", evil), claude_line(2, "result", evil))
    (tmp_path / "archive").mkdir(mode=0o700)
    synced(home, tmp_path / "archive")
    client = Client(tmp_path / "archive")
    for place in (
        "/",
        f"/runs/{SESSION}",
        f"/runs/{SESSION}/raw/1",
        f"/runs/{SESSION}/find?q=alert",
        "/search?q=alert",
    ):
        page = client.get(place).text
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert not re.search(r'<[^>]+" onclick=', page)
