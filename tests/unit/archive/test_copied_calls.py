"""Calls that several runs tell of: forks, resumes, and journals of adapters beside the agent's own files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from archive_cases import claude_line, rows, session_path, synced, whole_index, written
from stenograph.archive.keep.old_run import MADE_OF_EVENTS
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.journal.recorder import Recorder
from stenograph.model.payload import ToolPayload

FORK = "1f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f1"
UNIQUE = "toolu_01A09q90qw90lq917835lq9"


def _call(number: int, call_id: str, session: str, **more: Any) -> list[bytes]:
    """A call that failed, in a model call of its own."""
    call, result = json.loads(claude_line(number, "call")), json.loads(claude_line(number + 1, "result"))
    call["message"]["content"][0]["id"] = call_id
    result["message"]["content"][0] |= {"tool_use_id": call_id, "is_error": True}
    lines = [{**each, "sessionId": session, **more} for each in (call, result)]
    return [json.dumps(line).encode() + b"\n" for line in lines]


def _counts(archive: Path) -> list[tuple[Any, ...]]:
    query = "SELECT tools, failed_calls, open_calls, errors, copied_calls, copied_errors FROM runs ORDER BY id"
    return rows(archive, query)


@pytest.mark.parametrize("call_id", [UNIQUE, "call_1"])
def test_a_copied_call_counts_in_the_run_it_came_from(tmp_path: Path, call_id: str) -> None:
    """A fork repeats a call with its id and its time: `ls`, `stats` and SQL count it once, in the first run."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    own = session_path(home)
    written(own, claude_line(1), *_call(2, call_id, own.stem))
    synced(home, archive)
    fork = written(session_path(home, FORK), claude_line(1, session=FORK), *_call(2, call_id, FORK))
    synced(home, archive)
    assert _counts(archive) == [(1, 1, 0, 1, 0, 0), (0, 0, 0, 0, 1, 1)]
    written(fork, *_call(5, "toolu_01B19q90qw90lq917835lq8", FORK), claude_line(9, session=FORK))
    synced(home, archive)
    assert _counts(archive) == [(1, 1, 0, 1, 0, 0), (1, 1, 0, 1, 1, 1)]
    assert rows(archive, "SELECT sum(calls), sum(failed) FROM calls_sums") == [(2, 2)]
    copied = "SELECT shared.run FROM usage_shared AS shared JOIN usage USING (key) WHERE usage.run <> shared.run"
    assert rows(archive, copied) == [(2,)]
    maintained = whole_index(archive)
    with Store(home_of(archive), rebuild=True):
        pass
    assert whole_index(archive) == maintained


def test_calls_that_only_share_a_short_id_are_two(tmp_path: Path) -> None:
    """Local servers number their calls: the same number at another time is another call."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    own = session_path(home)
    written(own, *_call(2, "call_1", own.stem))
    written(session_path(home, FORK), *_call(20, "call_1", FORK))
    synced(home, archive)
    assert [count[0] for count in _counts(archive)] == [1, 1]


def test_a_journal_of_an_adapter_does_not_count_its_agent_s_calls_again(tmp_path: Path) -> None:
    """The journal of an adapter has a run id of its own; its calls are those of the agent's file, by their ids."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    own = session_path(home)
    written(own, claude_line(1), *_call(2, UNIQUE, own.stem))
    with Recorder(archive) as recorder:
        call = ToolPayload(name="Bash", call_id=UNIQUE, input={}, output=None, fidelity="agent_emitted")
        recorder.record("tool.call", call)
        mine = ToolPayload(
            name="Read", call_id="toolu_01C29q90qw90lq917835lq7", input={}, output=None, fidelity="router"
        )
        recorder.record("tool.call", mine)
    synced(home, archive)
    assert [count[0] for count in _counts(archive)] == [1, 1]
    assert rows(archive, "SELECT count(*), count(DISTINCT call_id) FROM calls WHERE copy_of IS NULL") == [(2, 2)]


def test_everything_that_is_made_of_events_goes_when_a_run_is_put_in_order(tmp_path: Path) -> None:
    """Each table with rows of a run is one that `OldRun` empties, or is known to be kept."""
    archive = tmp_path / "archive"
    synced(tmp_path / "home", archive)
    tables = [name for (name,) in rows(archive, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    of_runs = {name for name in tables if "run" in [row[1] for row in rows(archive, f"PRAGMA table_info({name})")]}
    assert of_runs == {*MADE_OF_EVENTS, "witnesses", "blocks", "calls_sums", "usage_sums", "shares_sums"}
