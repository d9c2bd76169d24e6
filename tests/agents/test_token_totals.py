"""Tokens as `steno stats` counts them after a real run, compared with what the agent itself says that it took."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.session import Session
from reported_tokens import Tokens, claude_reasons, claude_totals, codex_reasons, codex_totals

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the programs


def _steno(archive: Path, *arguments: str) -> Any:
    environment = {**os.environ, "STENOGRAPH_HOME": str(archive)}
    command = [sys.executable, "-m", "stenograph", *arguments, "--json"]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)


def _counted(session: Session, archive: Path) -> dict[str, Tokens]:
    """By model."""
    assert _steno(archive, "sync", "--path", str(session.transcripts))["failed"] == 0
    found = {}
    for row in _steno(archive, "stats", "--by", "model")["rows"]:
        cached = row["cache_read_input_tokens"], row["cache_creation_input_tokens"]
        found[row["model"]] = (row["input_tokens"], row["output_tokens"], *cached, row["reasoning_output_tokens"])
    return found


def test_claude_code_says_the_same(claude: Session, tmp_path: Path) -> None:
    """Its `cost-state`, by model, the subagent's calls included; before 2.1.325 it told none."""
    told = claude_totals(claude.main_file)
    assert (told is not None) is (claude.version == "2.1.325")
    if told is not None:
        assert claude_reasons(claude.main_file) == set()
        assert _counted(claude, tmp_path) == told


def test_codex_says_the_same(codex: Session, tmp_path: Path) -> None:
    """The last word of every thread, added up: a subagent's thread is one of its own."""
    told = [codex_totals(path) for path in codex.files]
    assert all(codex_reasons(path) == set() for path in codex.files)
    assert None not in told
    counted = _counted(codex, tmp_path).values()
    assert [sum(each) for each in zip(*counted, strict=True)] == [sum(each) for each in zip(*told, strict=True)]
