"""The strip of a run, and what happened in it, on its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from archive_cases import SESSION
from archive_of_goldens import CLAUDE, make_archive
from served import Client, archive_of
from stenograph.render.explanation import explanation_lines
from stenograph.render.html.escape import text
from stenograph.render.html.strip import MOST


@pytest.fixture(scope="module")
def goldens(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return Client(make_archive(tmp_path_factory.mktemp("overview"))[0])


def cells_of(page: str) -> list[tuple[str, int, str]]:
    """The kind, the event and the title of each cell of the strip."""
    found = re.findall(r'<a href="/runs/[^/]+/at/(\d+)" tabindex="-1"><rect class="(\w+)"[^>]*><title>([^<]*)', page)
    return [(kind, int(seq), title) for seq, kind, title in found]


def test_the_strip_leads_to_errors_and_prompts(goldens: Client) -> None:
    """Every error and every prompt of the run has its cell, and each cell leads to an event in order."""
    cells = cells_of(goldens.get(f"/runs/{CLAUDE}").text)
    events = goldens.get(f"/api/v1/runs/{CLAUDE}/events?limit=1000").json["events"]
    seqs = [seq for _, seq, _ in cells]
    assert seqs == sorted(seqs)
    failed = {event["seq"] for event in events if event["type"] == "error" or event["payload"].get("error")}
    asked = {event["seq"] for event in events if event["type"] == "message.user" and "source" not in event["origin"]}
    assert {seq for kind, seq, _ in cells if kind == "bad"} == failed
    assert {seq for kind, seq, _ in cells if kind == "ask"} == asked
    assert 'class="sub"' in goldens.get(f"/runs/{CLAUDE}").text


def test_a_long_run_has_a_strip_of_bounded_length(tmp_path: Path) -> None:
    """Of 3,000 events, too; the page that is shown is marked, and moves with it."""
    client = Client(archive_of(tmp_path, 2000))
    page = client.get(f"/runs/{SESSION}?unit=1").text
    assert 100 <= len(cells_of(page)) <= MOST
    places = [
        re.search(r'<rect class="here" x="([\d.]+)"', client.get(f"/runs/{SESSION}?unit={unit}").text)
        for unit in (1, 300)
    ]
    first, later = (float(place[1]) for place in places if place is not None)
    assert first < later
    assert "What happened <small>" not in page  # all of the run would have to be read for it


def test_a_run_begins_with_what_happened(goldens: Client) -> None:
    """The page of a run has what its own view says."""
    with goldens.site.run(CLAUDE) as (reader, run, _):
        lines = "\n".join(explanation_lines(goldens.site.explained(reader, run).explanation))
    page = goldens.get(f"/runs/{CLAUDE}").text
    assert text(lines) in page
    assert page.index("What happened <small>") < page.index("<main")
