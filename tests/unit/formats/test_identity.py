"""What the beginning of a file tells about its run, whichever agent wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden_cases import FOLDER
from stenograph.formats.base import Identity
from stenograph.model import encode
from stenograph.sources import convert, detect_file

HOME = "/home/user/"
TOLD = {
    "claude_code/2.1.325-basic": ("tests/ws/cli-basic", "HEAD", "2.1.325", None),
    "claude_code/1.0-basic": ("tests/ws/old1-basic", None, "1.0.60", "claude-sonnet-4-20250514"),
    "claude_stream/2.1.325-parallel": ("tests/ws/cli-parallel", None, "2.1.325", "claude-opus-5-5"),
    "codex_rollout/tools": ("code/work/exec_tools", "master", "0.166.0", "gpt-5.5"),
    "codex_exec/v0.42-mcp": ("code/work/old_0.42.0_mcp", None, None, "gpt-5-codex"),
    "copilot_cli/tools": ("proj0/work/copilot-json-tools/proj", "master", "1.0.102", "gpt-4.1"),
    "gemini_cli/tools": ("gemini-streamjson-tools/proj", None, None, "gemini-2.5-flash"),
    "opencode/tools": ("project", None, "1.18.33", "fake-model"),
    "acp/copilot-tools": ("proj", None, "1.0.102", None),
    "codex_app_server/0.166-success": ("code/work/app_success", None, "0.166.0", "gpt-5.5"),
}
"""Folder below the home, branch, version, model."""


def _told(identity: Identity) -> tuple[str | None, ...]:
    cwd = None if identity.cwd is None else identity.cwd.removeprefix(HOME)
    return cwd, identity.branch, identity.agent_version, identity.model


def _input(case: str) -> Path:
    (found,) = (FOLDER / case).glob("input*")
    return (
        found
        if found.is_file()
        else next(path for path in sorted(found.rglob("*.jsonl")) if "subagents" not in path.parts)
    )


@pytest.mark.parametrize("case", TOLD)
def test_a_file_tells_where_its_agent_worked(case: str) -> None:
    """Folder, branch, version and model, as far as the agent writes them."""
    assert _told(detect_file(_input(case)).identity) == TOLD[case]


JOURNALS = ["claude_code/2.1.325-basic", "codex_rollout/tools", "copilot_cli/tools", "gemini_cli/tools"]


@pytest.mark.parametrize("case", JOURNALS)
def test_a_journal_tells_what_its_agents_lines_tell(case: str, tmp_path: Path) -> None:
    """A journal that was taken down from an agent's file is that agent's work in that folder."""
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"".join(encode(event) + b"\n" for event in convert(_input(case))))
    found = detect_file(journal)
    assert found.spec is not None
    assert found.spec.name == "exchange"
    assert _told(found.identity) == TOLD[case]
