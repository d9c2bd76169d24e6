"""One status everywhere: `ls`, SQL, trees and manifests say the same of a run."""

from __future__ import annotations

import json
import os
import re
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner

from counters import PRICES, make_archive, write_journal
from golden_cases import FOLDER
from stenograph.bundle import BundleOptions, DebugBundle, create_bundle
from stenograph.cli.program import cli
from stenograph.fold.subagents import subagent_tree
from stenograph.liveness import RECENT
from stenograph.model import Event, decode
from stenograph.query.archive_database import views_of
from stenograph.query.runs import list_runs
from stenograph.query.scope import Scope
from stenograph.query.sql import run_sql
from stenograph.query.tree import archived_tree

BARE = BundleOptions(environment=False, page=False)
CASES = {
    "claude_code/2.1.325-basic": "finished",
    "claude_code/2.1.325-api-down": "failed",
    "codex_rollout/context-length": "failed",
    "copilot_cli/http-500": "failed",
    "copilot_cli/killed": "unknown",
    "gemini_cli/tools": "finished",
    "opencode/tools": "finished",
    "exchange/awf": "failed",
}


def events_of(case: str) -> list[Event]:
    return [decode(line) for line in (FOLDER / case / "expected.jsonl").read_bytes().splitlines()]


def statuses(events: list[Event], folder: Path, *, age: float) -> set[tuple[str, str]]:
    """What an archive says of a journal that was last written so many seconds ago."""
    journal = write_journal(events, folder / "journals")
    at = journal.stat().st_mtime - age
    os.utime(journal, (at, at))
    with make_archive(folder / "archive", folder / "journals") as archive, views_of(archive, PRICES) as views:
        ((line,), _) = list_runs(archive.index, Scope(), PRICES)
        tree = archived_tree(archive, archive.find_run(line.run_id)[0])
        (row,) = run_sql(views, "SELECT status, status_reason FROM runs")
    pages = {_on_page("html", journal), _on_page("markdown", journal)}
    return {
        *pages,
        (line.status, line.status_reason),
        (str(row[0]), str(row[1])),
        (tree.status, str(tree.status_reason)),
    }


def _on_page(form: str, journal: Path) -> tuple[str, str]:
    """What a page of the journal says at its head."""
    shown = CliRunner().invoke(cli, ["show", str(journal), "--as", form]).stdout
    (told,) = re.findall(r"<dt>Status</dt><dd>(.*?)</dd>|^- Status: (.*)$", shown, re.MULTILINE)
    status, _, why = "".join(told).partition(": ")
    return status, unescape(why.replace("\\", ""))


@pytest.mark.parametrize(("case", "status"), CASES.items())
def test_every_surface_says_the_same(case: str, status: str, tmp_path: Path) -> None:
    """In the same words, with the same reason; a failed run's bundle has its `error.json`."""
    events = events_of(case)
    ((told, why),) = statuses(events, tmp_path, age=2 * RECENT)
    assert told == status
    assert (subagent_tree(events).status, subagent_tree(events).status_reason) == (told, why)
    bundle = DebugBundle.load(create_bundle(tmp_path / "a.zip", events, options=BARE))
    assert (bundle.manifest.status, bundle.manifest.status_reason) == (told, why)
    assert ("error.json" in [file.name for file in bundle.manifest.files]) == (status == "failed")
    if status == "failed":
        assert json.loads(bundle.read("error.json"))["message"]


def test_a_run_that_was_written_lately_is_running(tmp_path: Path) -> None:
    """The same events as of one that was killed yesterday."""
    ((told, _),) = statuses(events_of("copilot_cli/killed"), tmp_path, age=0)
    assert told == "running"
