"""Tables of transcripts. `data/transcripts.parquet` was written by inspect_scout 0.6.1."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from golden_cases import FOLDER
from stenograph.cli.program import cli
from stenograph.model import Event
from stenograph.sources.conversion import convert

TABLE = Path(__file__).parent / "data" / "transcripts.parquet"


@pytest.mark.more_agents
def test_each_transcript_of_a_table_is_a_run() -> None:
    """Two rows of Scout, each with its messages, calls and tokens (needs pyarrow)."""
    runs: dict[str, list[Event]] = {}
    for event in convert(TABLE):
        runs.setdefault(event.run_id, []).append(event)
    assert len(runs) == 2
    for events in runs.values():
        assert sum(event.type == "message.assistant" for event in events) == 2
        assert sum(event.type == "tool.result" for event in events) == 2
        assert sum(event.type == "token.usage" for event in events) == 2


def test_without_pyarrow_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of such a file alone; others in the same folder are read all the same."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    shutil.copy(TABLE, tmp_path / "transcripts.parquet")
    shutil.copy(FOLDER / "openai_chat" / "nostream" / "input.jsonl", tmp_path)
    alone = CliRunner().invoke(cli, ["convert", str(tmp_path / "transcripts.parquet")])
    assert alone.exit_code == 3
    assert alone.stderr.endswith("pyarrow is not installed; in a checkout, run: pip install '.[parquet]'\n")
    among_others = CliRunner().invoke(cli, ["convert", str(tmp_path)])
    assert among_others.exit_code == 0
    assert among_others.stdout
