"""The shipped prices are what their script makes, and the page says how others count."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

REPO = Path(__file__).parents[2]
SCRIPT = REPO / "tools" / "update-prices"
TABLE = json.loads((REPO / "src" / "stenograph" / "query" / "prices.json").read_text())
OVERRIDES = json.loads((REPO / "tools" / "price-overrides.json").read_text())["models"]


def _model(provider: str, **costs: Any) -> dict[str, Any]:
    """An entry of a map, with dollars for a million tokens."""
    return {"litellm_provider": provider, "mode": "chat"} | {
        name: cost / 1e6 if name.endswith(("_cost", "token", "tokens", "1hr", "batches", "flex")) else cost
        for name, cost in costs.items()
    }


MAP = {
    "claude-x-20260101": _model(
        "anthropic",
        input_cost_per_token=5,
        output_cost_per_token=25,
        cache_read_input_token_cost=0.5,
        cache_creation_input_token_cost=6.25,
        input_cost_per_token_batches=2.5,
        output_cost_per_token_batches=12.5,
        provider_specific_entry={"fast": 2.0, "us": 1.1},
    ),
    "gpt-x": _model(
        "openai",
        input_cost_per_token=1,
        output_cost_per_token=2,
        input_cost_per_token_flex=0.5,
        output_cost_per_token_flex=1,
        input_cost_per_token_above_272k_tokens=3,
        output_cost_per_token_above_272k_tokens=4,
    ),
    "gpt-x-2026-02-02": _model("openai", input_cost_per_token=1, output_cost_per_token=9),
    "gpt-x-2026-03-03": _model("openai", input_cost_per_token=1, output_cost_per_token=2,
        input_cost_per_token_above_272k_tokens=3, output_cost_per_token_above_272k_tokens=4),
    "gpt-x-realtime": _model("openai", input_cost_per_token=7, output_cost_per_token=9),
    "other/gpt-x": _model("somebody", input_cost_per_token=7, output_cost_per_token=9),
}  # fmt: skip
OWN = {
    "gpt-x": {"why": "w", "source": "https://example.org", "date": "2026-01-01", "output": 5},
    "gpt-y": {"why": "w", "source": "https://example.org", "date": "2026-01-01", "input": 1, "output": 5},
    "claude-x": {"why": "w", "source": "https://example.org", "date": "2026-01-01", "input": 5},
}


def _run(folder: Path, *options: str) -> tuple[int, str, dict[str, Any]]:
    """The script over that map: its exit code, what it prints, and the table."""
    files = {
        "map": MAP,
        "overrides": {"models": OWN},
        "table": {"date": "2025-01-01", "models": {"gpt-x": {"input": 9}}},
    }
    for name, value in files.items():
        if not (folder / name).exists():
            (folder / name).write_text(json.dumps(value))
    places = [argument for name in files for argument in (f"--{name}", str(folder / name))]
    done = subprocess.run([sys.executable, SCRIPT, *places, *options], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout, json.loads((folder / "table").read_text())


def test_the_script_makes_a_table_of_a_map(tmp_path: Path) -> None:
    """Durations, long inputs, tiers and speed; variants with the same price are one, other sellers are left out."""
    code, _, table = _run(tmp_path, "--date", "2026-11-17")
    assert (code, table["date"]) == (0, "2026-11-17")
    assert table["models"] == {
        "claude-x": {
            "input": 5,
            "output": 25,
            "cache_read": 0.5,
            "cache_write": 6.25,
            "cache_write_1h": 10,
            "tiers": {
                "batch": {"input": 2.5, "output": 12.5, "cache_read": 0.25, "cache_write": 3.125, "cache_write_1h": 5}
            },
            "fast": 2,
        },
        "gpt-x": {
            "input": 1,
            "output": 5,
            "long": {"above": 272_000, "input": 3, "output": 4},
            "tiers": {"flex": {"input": 0.5, "output": 1}},
        },
        "gpt-x-2026-02-02": {"input": 1, "output": 9},
        "gpt-y": {"input": 1, "output": 5},
    }


def test_the_script_lists_what_changes_and_what_overrides_win_over(tmp_path: Path) -> None:
    """With source and date; an override that says what the map says is called needless."""
    code, printed, table = _run(tmp_path, "--check")
    assert (code, table["date"]) == (1, "2025-01-01")
    assert "changes: gpt-x: {'input': 9} -> " in printed
    assert "override: gpt-x: output is 5, the map has 2.0 (2026-01-01, https://example.org: w)" in printed
    assert "override: claude-x: the override is needless, the map says the same" in printed
    assert _run(tmp_path)[0] == _run(tmp_path, "--check")[0] == 0


def test_the_shipped_table_has_every_override_with_its_source() -> None:
    """And says from which map the rest is."""
    assert re.fullmatch(r"litellm \d+\.\d+\.\d+", TABLE["map"])
    for name, own in OVERRIDES.items():
        assert own["why"]
        assert own["source"].startswith("https://")
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", own["date"])
        facts = {key: value for key, value in own.items() if key not in ("why", "source", "date")}
        assert {key: TABLE["models"][name][key] for key in facts} == facts


def test_every_difference_to_other_programs_has_its_cause() -> None:
    """The table of the page is written by the script; no cost in it differs by more than 1 % without a reason."""
    page = (REPO / "docs" / "benchmarks.md").read_text()
    table = page.partition("<!-- compared: begin -->")[2].partition("<!-- compared: end -->")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| ")][
        1:
    ]
    assert len(rows) > 10
    for _, _, _, ours, *theirs, causes in rows:
        mine = 0.0 if ours == "unknown" else float(ours)
        for name, cost in zip(("ccusage", "agentsview"), theirs, strict=True):
            differs = abs(mine - float(cost)) > 0.01 * max(mine, float(cost)) + 0.01  # cents are rounded
            assert not differs or f"{name}: " in causes
    assert "unexplained" not in table
