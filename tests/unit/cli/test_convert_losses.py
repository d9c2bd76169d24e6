"""`steno convert` of files that other programs wrote for exchange: what of them became events, and what did not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from golden_cases import FOLDER
from stenograph.cli.program import cli

TRAJECTORY = FOLDER / "atif" / "embedded" / "input.json"


def converted(path: Path, tmp_path: Path) -> tuple[str, list[dict[str, Any]]]:
    """What a conversion says on standard error, and its report."""
    report = tmp_path / "report.json"
    done = CliRunner().invoke(cli, ["convert", str(path), "--report", str(report)])
    assert done.exit_code == 0
    return done.stderr, json.loads(report.read_bytes())


def test_the_report_names_what_is_carried_changed_and_dropped(tmp_path: Path) -> None:
    """In the shape of an export's report, with the number of the first event that each line concerns."""
    _, files = converted(TRAJECTORY, tmp_path)
    losses = files[0]["losses"]
    assert list(losses) == ["format", "version", "run_id", "carried", "changed", "dropped"]
    assert (losses["format"], losses["version"], losses["run_id"]) == ("atif", "1.8", files[0]["run_id"])
    assert losses["carried"]["calls"] == 3
    assert losses["carried"]["subagents"] == 1
    assert {"what": "metrics: prompt_token_ids", "count": 1, "first_seq": 9} in losses["dropped"]


def test_a_line_says_what_is_lost(tmp_path: Path) -> None:
    """On standard error, for people; a document over many lines is read like one on a single line."""
    path = tmp_path / "pretty.json"
    path.write_text(json.dumps(json.loads(TRAJECTORY.read_bytes()), indent=2))
    said, files = converted(path, tmp_path)
    assert f"{path}: dropped " in said
    assert "metrics: prompt_token_ids (1)" in said
    assert files[0]["losses"]["carried"] == converted(TRAJECTORY, tmp_path)[1][0]["losses"]["carried"]


def test_an_agents_own_file_has_no_losses(tmp_path: Path) -> None:
    """Its lines are kept as they are, so there is nothing to account for."""
    case = FOLDER / "openai_chat" / "nostream" / "input.jsonl"
    said, files = converted(case, tmp_path)
    assert files[0]["losses"] is None
    assert said == ""
