"""Runs with several witnesses: what each of them says is in the run once, and the agent's own file leads."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, claude_line, rows, session_path, synced, written
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.unreported import UnreportedEvents
from stenograph.archive.keep.walk import roots_of
from stenograph.archive.reader import IndexReader
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.fold.messages import messages
from stenograph.journal.reader import read_events
from stenograph.journal.recorder import Recorder
from stenograph.model.block import TextBlock, words_of
from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload
from stenograph.sources.conversion import convert, convert_stream
from stenograph.sources.detection import detect_file, format_named
from stenograph.transcript import entries
from witness_cases import collected, run_as_told, synced_part

GOLDEN = Path(__file__).parents[2] / "golden"
PRINTED = [
    ("claude_stream/1.0-basic", "claude_code/1.0-basic"),
    ("claude_stream/2.0-parallel", "claude_code/2.0-parallel"),
    ("claude_stream/2.1.197-subagent", "claude_code/2.1.197-subagent"),
    ("claude_stream/2.1.325-api-down", "claude_code/2.1.325-api-down"),
    ("claude_stream/2.1.325-compact", "claude_code/2.1.325-compact"),
    ("claude_stream/2.1.325-denied", "claude_code/2.1.325-denied"),
    ("codex_exec/code-mode", "codex_rollout/code-mode"),
    ("codex_exec/tools", "codex_rollout/tools"),
    ("codex_exec/v0.120-tools", "codex_rollout/v0.120-tools"),
    ("codex_exec/v0.144-mcp", "codex_rollout/v0.144-mcp"),
    ("codex_exec/v0.63-mcp", "codex_rollout/v0.63-mcp"),
    ("codex_exec/v0.98-tools", "codex_rollout/v0.98-tools"),
]
"""What a program printed, and what the same program kept of the same session."""


def _placed(home: Path, case: Path) -> str:
    """Put a session where its agent keeps it; its run id."""
    source = case / "input" if (case / "input").is_dir() else case
    mains = [path for path in sorted(source.glob("*.jsonl")) if path.name != "expected.jsonl"]
    main = next(path for path in mains if detect_file(path).identity.source == "main")
    found = detect_file(main)
    assert found.spec is not None
    folder = home / (".codex/sessions/2026/11/15" if found.spec.name == "codex_rollout" else ".claude/projects/x")
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("expected.jsonl", "origin.md"))
    is_codex = found.spec.name == "codex_rollout"
    name = f"rollout-2026-11-15T10-00-00-{found.run_id}.jsonl" if is_codex else f"{found.identity.native_id}.jsonl"
    (folder / main.name).rename(folder / name)
    return found.run_id


def _recorded(case: Path, archive: Path) -> None:
    """What `steno run` records of a program that keeps no session: what it printed."""
    at = datetime(2026, 11, 15, 19, 0, tzinfo=UTC)
    spec = format_named(case.parent.name)
    recorders: dict[str, Recorder] = {}
    for event in convert_stream(io.BytesIO((case / "input.jsonl").read_bytes()), spec, at=at):
        if event.run_id not in recorders:
            recorders[event.run_id] = Recorder(archive, run_id=event.run_id)
        recorders[event.run_id].append(event)
    for recorder in recorders.values():
        recorder.close()


def _events(archive: Path, run_id: str) -> list[Event]:
    with IndexReader(archive) as opened:
        return list(opened.events(opened.find_run(run_id)[0]))


def _said(events: list[Event]) -> Counter[str]:
    """What was written and thought, however it was cut."""
    texts = (words_of(block) for each in messages(events) for block in each.blocks)
    return Counter(word for text in texts for word in text.split())


def _calls(events: list[Event]) -> tuple[int, int]:
    """How many calls there are, and how many results without one."""
    calls = [event.payload.call_id for event in events if event.type == "tool.call"]
    results = [event.payload.call_id for event in events if event.type == "tool.result"]
    return len(calls), len(set(results) - set(calls))


def _told(archive: Path, run_id: str) -> dict[str, Any]:
    """What a run comes to."""
    events = _events(archive, run_id)
    tokens = "SELECT agent, model, turns, tools, input_tokens, output_tokens, status FROM runs WHERE run_id = ?"
    return {"said": _said(events), "calls": _calls(events), "run": rows(archive, tokens, run_id)}


@pytest.mark.parametrize("first", ["files", "journal", "both"])
@pytest.mark.parametrize(("printed", "kept"), PRINTED)
def test_what_an_agent_printed_is_told_once_beside_what_it_kept(
    tmp_path: Path, printed: str, kept: str, first: str
) -> None:
    """The words, calls, tokens and status of a run are those of the agent's file, in whatever order both came."""
    home, archive, alone = tmp_path / "home", tmp_path / "archive", tmp_path / "alone"
    run_id = _placed(home, GOLDEN / kept)
    synced_part(home, alone, files=True, journals=False)
    _recorded(GOLDEN / printed, archive)
    if first != "both":
        synced_part(home, archive, files=first == "files", journals=first == "journal")
    synced(home, archive)
    assert _told(archive, run_id) == _told(alone, run_id)
    kind = kept.partition("/")[0]
    own = [event for event in _events(archive, run_id) if event.origin and event.origin.adapter == kind]
    for source in {event.source for event in own}:
        assert _facts(own, source) == _facts(_events(alone, run_id), source)


def _facts(events: list[Event], source: str) -> list[Any]:
    return [(event.type, event.timestamp, event.payload) for event in events if event.source == source]


def _lines(*kinds: str) -> list[bytes]:
    return [claude_line(number, kind) for number, kind in enumerate(kinds, 1)]


def _journal(archive: Path, lines: list[bytes], folder: Path) -> None:
    """A journal of these lines, recorded from a file that is gone."""
    session = written(session_path(folder), *lines)
    collected(session, archive)


def test_a_renumbered_run_counts_it(tmp_path: Path) -> None:
    """What a file tells in between what a journal told is put there, and the revision says so; else it stays."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    lines = _lines("user", "assistant", "user", "assistant", "user", "assistant")
    _journal(archive, [*lines[:2], *lines[4:]], tmp_path / "other")
    synced(home, archive)
    assert rows(archive, "SELECT revision, events FROM runs") == [(0, 6)]
    session = written(session_path(home), *lines)
    synced(home, archive)
    assert rows(archive, "SELECT revision, turns, agent FROM runs") == [(1, 3, "claude")]
    times = [event.timestamp for event in _events(archive, SESSION)]
    assert times == sorted(times)
    assert len(times) == 9
    written(session, claude_line(7))
    synced(home, archive)
    assert rows(archive, "SELECT revision, turns FROM runs") == [(1, 4)]


def test_the_agent_s_own_word_stands_for_a_masked_one(tmp_path: Path) -> None:
    """A journal that hides what the file says gives way to the file, whichever came first."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    line = claude_line(1, text="the key is sk-secret")
    _journal(archive, [line], tmp_path / "other")
    (journal,) = (archive / "transcripts").glob("*.jsonl")
    journal.write_bytes(journal.read_bytes().replace(b"sk-secret", b"[masked]"))
    synced(home, archive)
    written(session_path(home), line)
    synced(home, archive)
    (event,) = _events(archive, SESSION)
    assert event.payload.blocks[0].text == "the key is sk-secret"
    query = "SELECT count(*) FROM words WHERE words MATCH ?"
    assert rows(archive, query, "masked") == [(0,)]
    assert rows(archive, query, "secret") == [(1,)]


def test_a_prompt_that_was_said_twice_is_there_twice(tmp_path: Path) -> None:
    """Each event answers for one of another witness: the same words again are another event."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    lines = [claude_line(1, text="go on"), claude_line(2, "assistant"), claude_line(3, text="go on")]
    written(session_path(home), *lines)
    with Recorder(archive, run_id=SESSION) as recorder:
        for _ in range(3):
            block = TextBlock(fidelity="router", text="go on")
            recorder.record("message.user", MessagePayload(role="user", blocks=(block,)))
    synced(home, archive)
    assert rows(archive, "SELECT turns FROM runs") == [(3,)]


def test_a_follower_is_compared_with_what_is_new_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal beside its file is looked up among what the file told since the last sync; nothing is indexed."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    session = written(session_path(home), *_lines(*["user"] * 50))
    collected(session, archive)
    synced(home, archive)
    read: list[int] = []
    entering = UnreportedEvents.__init__

    def counted(self: UnreportedEvents, read_events: Any, **options: Any) -> None:
        entering(self, read_events, **options)
        read.append(len(self.all))

    monkeypatch.setattr(UnreportedEvents, "__init__", counted)
    written(session, claude_line(51), claude_line(52))
    collected(session, archive)
    summary = synced(home, archive)
    assert (summary.grown, summary.events) == (2, 2)
    assert read == [0, 2]
    assert rows(archive, "SELECT count(*) FROM blocks") == [(2,)]


def test_two_journals_of_one_session_are_told_once(tmp_path: Path) -> None:
    """Journals in two places that hold the same session are two witnesses of one run."""
    home, archive, other = tmp_path / "home", tmp_path / "archive", tmp_path / "storage"
    session = written(session_path(home), *_lines("user", "call", "result", "assistant"))
    collected(session, other)
    written(session, claude_line(9))
    collected(session, archive)
    with Store(home_of(archive)) as store:
        sync(store, roots_of({"STENOGRAPH_STORAGE": str(other)}, tmp_path / "nowhere", archive))
    assert len(rows(archive, "SELECT name FROM witnesses")) == 2
    alone = tmp_path / "alone"
    synced_part(home, alone, files=True, journals=False)
    found, expected = run_as_told(archive, SESSION), run_as_told(alone, SESSION)
    assert {name: found[name] for name in ("sources", "calls", "usage")} == {
        name: expected[name] for name in ("sources", "calls", "usage")
    }


def test_an_entry_keeps_its_id_when_another_witness_renumbers_the_run(tmp_path: Path) -> None:
    """Our own events, which no line of the agent's tells, have the id that they have in their journal."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    path = written(session_path(home), claude_line(1), claude_line(2, "assistant"))
    recorder = Recorder(archive, run_id=SESSION)
    recorder.record("run.started", {"name": "claude", "kind": "command"}, timestamp="2026-03-01T10:00:00.000000Z")
    recorder.record("run.completed", {"name": "claude", "kind": "command"}, timestamp="2026-03-01T10:00:09.000000Z")
    recorder.close()
    synced(home, archive)
    written(path, claude_line(20), claude_line(21, "assistant"))
    synced(home, archive)
    told = {entry.entry_id: entry.content for entry in entries(_events(archive, SESSION))}
    journal = {entry.entry_id: entry.content for entry in entries(read_events(recorder.path))}
    file = {entry.entry_id: entry.content for entry in entries(convert(path))}
    assert len(_events(archive, SESSION)) > len(journal)
    assert told == journal | file
