"""What `steno run` makes of a command: which agent it is, which sessions are its, what it printed."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.adapters.commands.agent_program import SessionSearch, formats_of, kept_as
from stenograph.adapters.commands.output import LONGEST, Output
from stenograph.formats.base import Identity
from stenograph.formats.registry import formats

PARENT, CHILD, GRANDCHILD, OTHER = (f"01a1e1ac-d8a0-7cc3-beff-00000000000{number}" for number in range(4))


@pytest.mark.parametrize(
    ("command", "format_name"),
    [
        ("claude -p hello", "claude_code"),
        ("/opt/bin/claude", "claude_code"),
        ("npx -y @anthropic-ai/claude-code -p hello", "claude_code"),
        ("env A=b codex exec --json x", "codex_rollout"),
        ("node /lib/node_modules/codex.js", "codex_rollout"),
        ("grep claude notes.txt", None),
        ("make test", None),
        ("sh -c ls", None),
    ],
)
def test_an_agent_is_known_by_its_name(command: str, format_name: str | None) -> None:
    """Its own, or that of what a launcher launches; not any word that happens to be in a command."""
    assert [spec.name for spec in formats_of(command.split())] == ([] if format_name is None else [format_name])


def test_an_agent_is_known_inside_a_shell_command() -> None:
    """The words of a shell command are looked at, also of one that no shell would take."""
    assert formats_of(["bash", "-c", "cd x && claude -p 'a b'"]) == [formats()["claude_code"]]
    assert formats_of(["sh", "-c", "claude 'unbalanced"]) == []


def test_formats_name_their_programs() -> None:
    """What an agent prints leads to the files of the same agent, and its program is known."""
    printed = {name for name in formats() if name.endswith("_stream") or name == "codex_exec"}
    kept = [spec for name in printed for spec in kept_as(formats()[name])]
    assert {"claude", "codex", "copilot", "gemini", "opencode"} <= {spec.agent.id for spec in kept}
    assert all(spec.programs for spec in kept)


def _rollout(home: Path, thread: str, parent: str | None = None) -> Path:
    folder = home / ".codex" / "sessions" / "2026" / "11" / "16"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rollout-2026-11-16T00-00-00-{thread}.jsonl"
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
    meta = {"id": thread, "cwd": "/work", "source": spawn if parent else "exec", "timestamp": "2026-11-16T00:00:00Z"}
    record = {"timestamp": "2026-11-16T00:00:00.000Z", "type": "session_meta", "payload": meta}
    path.write_text(json.dumps(record, separators=(",", ":")) + "\n")
    return path


def test_sessions_that_a_session_started_are_its(tmp_path: Path) -> None:
    """Codex's child threads, at any depth, go with the thread whose id was printed; others do not."""
    search = SessionSearch({"HOME": str(tmp_path)}, Path("/work"), datetime.now(UTC))
    mine = [_rollout(tmp_path, PARENT), _rollout(tmp_path, CHILD, PARENT), _rollout(tmp_path, GRANDCHILD, CHILD)]
    _rollout(tmp_path, OTHER)
    search.by_id([formats()["codex_rollout"]], Identity(native_id=PARENT))
    search.hurry()
    search.by_id([formats()["codex_rollout"]], Identity(native_id=PARENT))
    assert [Path(path) for path in search.found] == mine


def test_a_session_is_the_commands_by_folder_and_time(tmp_path: Path) -> None:
    """Without an id: a session that names the folder and was written since the command began."""
    old = _rollout(tmp_path, OTHER)
    began = datetime.now(UTC)
    os.utime(old, (began.timestamp() - 60,) * 2)
    fresh = _rollout(tmp_path, PARENT)
    here = SessionSearch({"HOME": str(tmp_path)}, Path("/work"), began)
    here.by_folder([formats()["codex_rollout"]])
    assert list(here.found) == [str(fresh)]
    elsewhere = SessionSearch({"HOME": str(tmp_path)}, Path("/work/deeper"), began)
    elsewhere.by_folder([formats()["codex_rollout"]])
    assert elsewhere.found == {}


def test_an_id_does_not_lead_to_an_old_session(tmp_path: Path) -> None:
    """An agent that was told not to write may print the id of a session that it wrote before."""
    _rollout(tmp_path, PARENT)
    search = SessionSearch({"HOME": str(tmp_path)}, Path("/work"), datetime.now(UTC) + timedelta(seconds=5))
    search.by_id([formats()["codex_rollout"]], Identity(native_id=PARENT))
    assert search.found == {}


@given(st.lists(st.binary(max_size=40)))
def test_what_was_printed_is_kept(pieces: list[bytes]) -> None:
    """All of it, in its order; and nothing of it once it is not needed."""
    output = Output()
    for piece in pieces:
        output.add(piece)
    whole = b"".join(pieces)
    assert output.head == whole
    assert output.stream().read() == whole
    assert output.text() == whole.decode("utf-8", "replace")
    output.forget()
    output.add(b"more")
    assert output.lost == 0


def test_a_long_output_keeps_its_beginning_and_its_end() -> None:
    """And says how much there was in between."""
    output = Output()
    output.add(b"a" + b"x" * (2 * LONGEST) + b"z")
    text = output.text()
    output.forget()
    assert text.startswith("ax")
    assert text.endswith("xz")
    assert f"[… {LONGEST + 2} bytes left out …]" in text
