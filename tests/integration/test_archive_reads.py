"""What a sync says that it read of the agents' files is what it read, by the kernel's own count."""

from __future__ import annotations

import json
from pathlib import Path

from archive_of_goldens import copy_case
from file_reads import needs_strace, traced_sync

pytestmark = needs_strace
CASES = [
    ("claude_code", "2.0-parallel"),  # the session's lines tell who spawned whom
    ("claude_code", "2.1.325-nested"),  # sidecars do
    ("claude_code", "2.1.325-side-files"),  # outputs in files of their own
    ("codex_rollout", "subagent-v2"),
    ("gemini_cli", "big-output"),
    ("gemini_cli", "subagent"),
    ("copilot_cli", "parity"),
]


def test_bytes_read_are_the_bytes_read(tmp_path: Path) -> None:
    """Heads, documents, sidecars, parked outputs and the search for parents count, each as often as it is read."""
    folder, archive, logs = tmp_path / "sessions", tmp_path / "archive", tmp_path / "logs"
    for kind, case in CASES:
        copy_case(kind, case, folder / f"{kind}-{case}")
    message = {"id": "u", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": "Hello " * 50_000}
    header = {"sessionId": "abcdef01-old", "projectHash": "p", "startTime": "T0", "lastUpdated": "T1", "kind": "main"}
    document = folder / "chats" / "session-2025-01-01T00-00-abcdef01.json"
    document.parent.mkdir()
    document.write_text(json.dumps({**header, "messages": [message]}, indent=2))
    (folder / "notes.json").write_text("[\n1,\n2]\n")

    summary, read = traced_sync(archive, "--path", folder, logs)
    assert (summary["failed"], summary["bytes_read"]) == (0, read.total())
    assert read[str(document)] == 2 * document.stat().st_size  # to know it, and to keep it
    assert any("tool-results" in path for path in read)
    assert any("tool-outputs" in path for path in read)
    assert any(path.endswith(".meta.json") for path in read)

    assert traced_sync(archive, "--path", folder, logs)[1].total() == 0

    for path in folder.rglob("*.jsonl"):
        with path.open("ab") as file:
            file.write(path.read_bytes().splitlines()[-1] + b"\n")
    summary, read = traced_sync(archive, "--path", folder, logs)
    assert summary["grown"] + summary["rewritten"] > 10
    assert summary["bytes_read"] == read.total() > 0
