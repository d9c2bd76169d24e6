"""The same numbers everywhere: what `steno ls --json` says is on every page, to the cent."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from archive_of_goldens import make_archive
from served import Client
from stenograph import open_archive
from stenograph.cli.program import cli
from stenograph.render.figures import amount, cost, duration


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_archive(tmp_path_factory.mktemp("numbers"))[0]


@pytest.fixture(scope="module")
def client(home: Path) -> Client:
    return Client(home)


@pytest.fixture(scope="module")
def listed(home: Path) -> list[dict[str, Any]]:
    """What `steno ls --json` says."""
    told = CliRunner().invoke(cli, ["ls", "--json", "--limit", "1000", "--archive", str(home)], catch_exceptions=False)
    return json.loads(told.stdout)


def paid(run: dict[str, Any]) -> str:
    return cost(run["cost_usd"], run["cost_is_partial"])


def facts_of(page: str) -> dict[str, str]:
    """The facts in the head of a page, without tags."""
    found = re.findall(r"<div[^>]*><dt>([^<]+)</dt><dd>(.*?)</dd></div>", page)
    return {name: unescape(re.sub(r"<[^>]+>", "", value)) for name, value in found}


def test_the_list_says_them(client: Client, listed: list[dict[str, Any]]) -> None:
    """Each cell of each row."""
    page = client.get("/").text
    assert len(listed) > 12
    for run in listed:
        (row,) = re.findall(rf'<tr[^>]* data-run="{run["run_id"]}".*?</tr>', page, re.DOTALL)
        cells = dict(re.findall(r'<td data-head="([^"]+)">(.*?)</td>', row, re.DOTALL))
        shown = {name: unescape(re.sub(r"<[^>]+>", "", cell)).strip() for name, cell in cells.items()}
        assert shown["Turns"] == f"{run['turns']:,}"
        assert shown["Tools"] == f"{run['tool_calls']:,}"
        assert shown["Errors"] == f"{run['errors']:,}"
        assert shown["Tokens"] == amount(run["input_tokens"] + run["output_tokens"])
        assert shown["Cost"] == paid(run)
        assert shown["Took"] == ("" if run["duration_ms"] is None else duration(run["duration_ms"] / 1000))
        assert run["status"] in shown["Status"]


def test_the_pages_of_a_run_say_them(client: Client, listed: list[dict[str, Any]]) -> None:
    """Its transcript, tree, changes, and the API."""
    for number, run in enumerate(listed):
        place = f"/runs/{run['run_id']}"
        api = client.get(f"/api/v1{place}").json
        assert {name: api[name] for name in api if name in run} == {name: run[name] for name in api if name in run}
        for view in ("", "/tree", "/changes") if number < 2 else ("",):
            facts = facts_of(client.get(f"{place}{view}").text)
            assert facts["Turns"] == f"{run['turns']:,}"
            assert facts["Tool calls"] == f"{run['tool_calls']:,}"
            assert facts["Tokens"] == f"{run['input_tokens'] + run['output_tokens']:,}"
            assert facts.get("Cost", "") == paid(run)
            assert facts.get("Errors", "0") == f"{run['errors']:,}"


def test_what_happened_and_exports_say_them(home: Path, client: Client, listed: list[dict[str, Any]]) -> None:
    """The block of `steno explain`, the exported page and Markdown; what was copied from another run is named."""
    query = "SELECT run_id, copied_calls, copied_tokens FROM runs"
    with open_archive(home) as archive:
        copied = {row["run_id"]: (row["copied_calls"], row["copied_tokens"]) for row in archive.sql(query)}
    assert any(calls for calls, _ in copied.values())
    for run in listed:
        place = f"/runs/{run['run_id']}"
        told = unescape(client.get(f"{place}/explain").text)
        calls, tokens = copied[run["run_id"]]
        if calls:
            assert f"{calls} call" in told.partition('class="hint"')[2]
        if calls or tokens:
            continue
        assert f"{run['tool_calls']} tool call" in told
        assert f"({run['failed_calls']} failed, {run['open_calls']} open)" in told
        exported = facts_of(client.get(f"{place}/export.html").text)
        markdown = client.get(f"{place}/export.md").text.replace("\\", "")
        assert exported.get("Tool calls", "0") == f"{run['tool_calls']:,}"
        assert exported.get("Errors", "0") == f"{run['errors']:,}"
        assert exported.get("Cost", "") == paid(run)
        assert not paid(run) or f"- Cost: {paid(run)}" in markdown


def test_sums_are_those_of_the_list(client: Client, listed: list[dict[str, Any]]) -> None:
    """The totals of the stats page, by whatever they are split."""
    dollars = sum(run["cost_usd"] or 0 for run in listed)
    tokens = sum(run["input_tokens"] for run in listed), sum(run["output_tokens"] for run in listed)
    for by in ("day", "week", "model", "agent", "project"):
        answer = client.get(f"/api/v1/stats?by={by}").json
        assert answer["totals"]["cost_usd"] == pytest.approx(dollars, abs=0.00001)
        assert (answer["totals"]["input_tokens"], answer["totals"]["output_tokens"]) == tokens
        assert sum(row["cost_usd"] or 0 for row in answer["rows"]) == pytest.approx(dollars, abs=0.00001)
        page = client.get(f"/stats?by={by}").text
        row = next(each for each in page.splitlines() if "<b>Together</b>" in each)
        assert f"<td>{cost(answer['totals']['cost_usd'], answer['totals']['cost_is_partial'])}</td>" in unescape(row)


def test_a_chart_says_what_its_table_says(client: Client) -> None:
    """A bar without a price is not a bar of no dollars."""
    page = unescape(client.get("/stats?by=model").text)
    assert "$0.00<" not in page
    for row in client.get("/api/v1/stats?by=model").json["rows"]:
        told = cost(row["cost_usd"], row["cost_is_partial"])
        assert page.count(f">{told}<") >= 2
