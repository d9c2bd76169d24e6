"""`steno convert`, `detect`, `formats`, and the reading commands on agents' files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from golden_cases import FOLDER

CASE = FOLDER / "claude_code"


def steno(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "stenograph", *arguments], input=stdin, capture_output=True)


@pytest.fixture
def transcript() -> Path:
    """A real Claude Code session."""
    return sorted(path for path in CASE.rglob("*.jsonl") if "input" in str(path) and "agent-" not in path.name)[0]


def test_convert_prints_canonical_events(transcript: Path) -> None:
    """JSON Lines with every required field, numbered from 1."""
    done = steno("convert", str(transcript))
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert all(
        {"seq", "run_id", "type", "path", "iteration", "timestamp", "payload"} <= event.keys() for event in events
    )
    assert any("raw" in event for event in events)


def test_convert_can_leave_raw_out_and_print_entries(transcript: Path) -> None:
    """`--no-raw` and `--entries` do what they say."""
    plain = [json.loads(line) for line in steno("convert", "--no-raw", str(transcript)).stdout.splitlines()]
    assert plain
    assert not any("raw" in event for event in plain)
    entries = [json.loads(line) for line in steno("convert", "--entries", str(transcript)).stdout.splitlines()]
    assert all({"entry_type", "sequence_number", "role", "content"} <= entry.keys() for entry in entries)


def test_convert_reads_standard_input_like_the_file(transcript: Path) -> None:
    """The same events from `-`, run and all, when the file is alone."""
    from_file = steno("convert", "--no-raw", "--from", "claude_code", str(transcript)).stdout
    from_stdin = steno("convert", "--no-raw", "-", stdin=transcript.read_bytes()).stdout
    count = [line for line in from_file.splitlines() if b'"source"' not in line]
    assert len(from_stdin.splitlines()) >= len(count) > 0


def test_convert_reports_what_it_read(transcript: Path, tmp_path: Path) -> None:
    """Malformed lines are counted on stderr and in the report; the exit code stays 0."""
    damaged = tmp_path / transcript.name
    damaged.write_bytes(transcript.read_bytes() + b"{torn\n")
    report = tmp_path / "report.json"
    done = steno("convert", str(damaged), "--report", str(report))
    assert done.returncode == 0
    assert b"1 lines are not JSON" in done.stderr
    (file,) = json.loads(report.read_text())
    assert (file["format"], file["report"]["malformed"]) == ("claude_code", 1)


def test_convert_says_what_it_cannot_do(tmp_path: Path) -> None:
    """Exit code 3 for what cannot be read, 2 for an unknown format, 4 for a report that cannot be written."""
    missing = steno("convert", str(tmp_path / "nothing"))
    assert (missing.returncode, missing.stderr.count(b"\n")) == (3, 1)
    unknown = steno("convert", "--from", "nope", "-")
    assert unknown.returncode == 2
    assert b"known formats: acp, " in unknown.stderr
    unwritable = steno("convert", "-", "--report", "/nonexistent/report.json")
    assert unwritable.returncode == 4
    assert b"Traceback" not in unwritable.stderr


def test_detect_names_the_format_or_says_unknown(transcript: Path, tmp_path: Path) -> None:
    """Exit code 1 when a file is in no format we know."""
    other = tmp_path / "other.jsonl"
    other.write_text('{"a": 1}\n')
    done = steno("detect", "--json", str(transcript), str(other))
    assert done.returncode == 1
    assert [row["format"] for row in json.loads(done.stdout)] == ["claude_code", None]
    assert steno("detect", str(tmp_path / "nothing")).returncode == 3


def test_formats_lists_what_can_be_read() -> None:
    """Name, what, versions and home of each."""
    rows = json.loads(steno("formats", "--json").stdout)
    assert {"claude_code", "codex_rollout", "exchange"} <= {row["name"] for row in rows}
    assert all(row["what"] and row["versions"] for row in rows)


@pytest.mark.parametrize("command", [["show"], ["show", "--json"], ["tree"], ["tree", "--json"], ["verify"]])
def test_the_reading_commands_take_agents_files(command: list[str], transcript: Path) -> None:
    """show, tree and verify read an agent's file as they read a journal."""
    done = steno(*command, str(transcript))
    assert done.returncode == 0, done.stderr
    assert done.stdout
