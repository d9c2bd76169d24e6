"""Hermes Agent: one database with all sessions, those of subagents and branches among them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from comparison import count
from golden_cases import FOLDER
from hermes_database import change, make_database
from oracle.hermes_agent import count_database
from stenograph.fold.usage import usage_totals
from stenograph.formats.base import Context, Report
from stenograph.formats.hermes_agent import SPEC
from stenograph.model import MessagePayload, SystemPayload
from stenograph.sources import convert
from stenograph.sources.detection import detect_file
from stenograph.testing import check_format
from stored_sessions import listed, steno, synced

CASES = sorted(path.name for path in (FOLDER / "hermes_agent").iterdir() if path.name != "parity")
"""Those of one database."""
RESUMED, FAILED, DELEGATING = "20261116_125918_570964", "20261116_130044_6d188e", "20261116_130143_c2c13d"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with all golden sessions, at its place in a home."""
    return make_database(tmp_path / ".hermes" / "state.db", *CASES)


def test_the_laws_of_a_format_hold(database: Path) -> None:
    """Of rows as lines, of a database, and of a session of old."""
    old = {"session_id": "s", "platform": "cli", "session_start": "2026-04-29T20:10:00Z", "messages": []}
    lines = [FOLDER / "hermes_agent" / case / "input.jsonl" for case in CASES]
    check_format(SPEC, [*lines, database, json.dumps(old).encode()])


def test_plain_sql_finds_the_same(database: Path) -> None:
    """Calls, results, failures and tokens of the whole database."""
    ours, theirs = count(list(convert(database)), Report()), count_database(database)
    names = ("tool_uses", "tool_results", "failed_results", "input_tokens", "output_tokens", "cached_tokens")
    assert {name: sorted(ours[name]) for name in names} == {name: sorted(theirs[name]) for name in names}
    assert all(ours[name] == theirs[name] for name in names[3:])


def test_tokens_are_those_of_the_model(database: Path) -> None:
    """Hermes counts what was cached apart; we count it inside."""
    total = usage_totals(convert(Path(f"{database}#{RESUMED}"))).total
    assert (total.input_tokens, total.cache_read_input_tokens) == (6700, 1600)
    assert (total.output_tokens, total.reasoning_output_tokens) == (176, 49)


def test_a_sync_finds_sessions_with_their_subagents(database: Path, tmp_path: Path) -> None:
    """A run for each session that a person began; a subagent is in the run of its parent, below the call."""
    assert synced(tmp_path)["new"] == 5
    runs = {run["first_prompt"].split()[0]: run for run in listed(tmp_path)}
    assert {run["agent"] for run in runs.values()} == {"hermes-agent"}
    parent = runs["Delegate"]
    assert (parent["subagents"], parent["input_tokens"], parent["cwd"]) == (1, 3100, "/home/user/proj")
    assert "call_0_0_9c63fb" in json.dumps(steno(tmp_path, "tree", parent["run_id"]))
    assert (runs["Look"]["status"], runs["Will"]["status"]) == ("finished", "unknown")


def test_only_rows_that_are_new_are_kept(database: Path, tmp_path: Path) -> None:
    """A message and the counters of its session; other sessions are not read."""
    synced(tmp_path)
    with change(database) as connection:
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', 'again', 1794834099.5)",
            (FAILED,),
        )
        connection.execute("UPDATE sessions SET message_count = 4 WHERE id = ?", (FAILED,))
    found = synced(tmp_path)
    assert (found["grown"], found["unchanged"], found["bytes_written"] < 2000) == (1, 4, True)
    assert synced(tmp_path)["events"] == 0


def test_a_rewound_message_was_said(database: Path, tmp_path: Path) -> None:
    """A row that was flagged later is not told again: a note says what became of it."""
    synced(tmp_path)
    with change(database) as connection:
        connection.execute("UPDATE messages SET active = 0 WHERE id = 9")
        connection.execute("UPDATE messages SET compacted = 1 WHERE id = 2")
    assert synced(tmp_path)["events"] == 2
    events = list(convert(Path(f"{database}#{RESUMED}")))
    notes = [event.payload.subtype for event in events if isinstance(event.payload, SystemPayload)]
    assert (notes.count("rewound"), notes.count("compacted")) == (1, 1)
    assert sum(event.type == "message.assistant" for event in events) == 6


def test_a_branch_is_a_run_that_continues_another(database: Path, tmp_path: Path) -> None:
    """So is the session that goes on after a compression; neither is a subagent."""
    with change(database) as connection:
        settings = json.dumps({"_branched_from": RESUMED})
        row = ("branch", "cli", settings, RESUMED, 1794835000.0)
        connection.execute(
            "INSERT INTO sessions (id, source, model_config, parent_session_id, started_at) VALUES (?, ?, ?, ?, ?)", row
        )
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('branch', 'user', 'other', 1794835001)"
        )
    synced(tmp_path)
    runs = {run["first_prompt"]: run for run in listed(tmp_path)}
    origin = next(run for prompt, run in runs.items() if prompt.startswith("Look"))
    assert runs["other"]["forked_from"] == origin["run_id"]


def test_an_older_database_counts_by_session(tmp_path: Path) -> None:
    """Without the table of models, and of delegations, the session's own counters are told."""
    older = make_database(tmp_path / "state.db", "resumed", without=("session_model_usage", "async_delegations"))
    total = usage_totals(convert(older)).total
    assert (total.input_tokens, total.output_tokens) == (6700, 176)


def test_a_database_of_another_program_is_not_taken(tmp_path: Path) -> None:
    """Tables that many programs have do not make it Hermes'."""
    other = make_database(tmp_path / "other.db", without=("state_meta", "messages_fts"))
    assert detect_file(other).spec is None


def test_a_session_of_old_is_read(tmp_path: Path) -> None:
    """One document for each session, before there was a database."""
    call = {"id": "c", "type": "function", "function": {"name": "shell", "arguments": '{"command": "pwd"}'}}
    messages = [
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": "Let me see.", "reasoning": "pwd", "tool_calls": [call]},
        {"role": "tool", "content": "/home", "tool_call_id": "c", "tool_name": "shell"},
        {"role": "session_meta"},
        {},
    ]
    document = {"session_id": "s", "platform": "cli", "session_start": "2026-04-29T20:10:00Z", "messages": messages}
    (tmp_path / "s.json").write_text(json.dumps(document, indent=1), "utf-8")
    events = list(convert(tmp_path / "s.json"))
    assert [event.type for event in events] == [
        "system.event", "message.user", "message.assistant", "tool.call", "tool.result", "system.event", "unknown",
    ]  # fmt: skip


def test_parts_of_a_message_may_stand_in_its_text() -> None:
    """Pictures are kept as parts in JSON; a user who types JSON is a user who types JSON."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}
    kinds = []
    for content in (json.dumps([{"type": "text", "text": "look"}, picture]), '["a"]'):
        parser = SPEC.open(Context(run_id="550e8400-e29b-41d4-a716-446655440000"))
        row = {"table": "messages", "session_id": "s", "role": "user", "content": content}
        (event,) = parser.feed_object(row)
        assert isinstance(event.payload, MessagePayload)
        kinds.append([block.__class__.__name__ for block in event.payload.blocks])
    assert kinds == [["TextBlock", "AttachmentBlock"], ["TextBlock"]]
