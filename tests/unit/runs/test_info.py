"""What a run is and what it came to, whatever it was opened as."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from archive_cases import SESSION, THREAD, claude_line, session_path, synced, written
from run_kinds import make_database
from stenograph import RunInfo, RunReader, open_archive, open_run, start_run

FIELDS = [
    "run_id",
    "parent_run_id",
    "agent",
    "agent_version",
    "project",
    "cwd",
    "branch",
    "title",
    "model",
    "started_at",
    "ended_at",
    "duration_ms",
    "status",
    "status_reason",
    "turns",
    "messages",
    "tool_calls",
    "failed_calls",
    "open_calls",
    "errors",
    "subagents",
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "cost_usd",
    "cost_is_partial",
    "host",
    "user",
    "archive_id",
]
OF_THE_PLACE = {"agent", "agent_version", "project", "cwd", "branch", "host", "user", "archive_id"}
"""What a journal or a bundle cannot know of the agent's own file."""


def test_the_fields_are_the_promised_ones() -> None:
    """Those, in their order, and no other."""
    assert list(RunInfo.__struct_fields__) == FIELDS
    info = RunInfo(run_id="r")
    assert list(info.to_dict()) == FIELDS
    with pytest.raises(AttributeError):
        info.run_id = "s"  # type: ignore[misc]


def test_every_kind_says_the_same(run: RunReader, kinds: dict[str, Path]) -> None:
    """Counts, times, tokens and cost; and by hand for this session."""
    info = run.info.to_dict()
    with open_run(kinds["agent file"]) as other:
        wanted = other.info.to_dict()
    ignored = OF_THE_PLACE | ({"status", "status_reason"} if run.kind.name == "a bundle" else set())
    assert {name: info[name] for name in FIELDS if name not in ignored} == {
        name: wanted[name] for name in FIELDS if name not in ignored
    }
    assert (info["run_id"], info["title"], info["model"]) == (SESSION, "Mend the parser.", "claude-x")
    assert (info["turns"], info["messages"], info["subagents"]) == (2, 8, 1)
    assert (info["tool_calls"], info["failed_calls"], info["open_calls"], info["errors"]) == (3, 1, 1, 1)
    assert (info["started_at"], info["ended_at"]) == ("2026-03-01T10:00:01.000Z", "2026-03-01T10:00:12.000Z")
    assert (info["duration_ms"], info["cost_usd"], info["cost_is_partial"]) == (11_000, None, True)
    assert (info["input_tokens"], info["output_tokens"]) == (3 * 3 + 2 * 10 + 2 * 5, 3 * 2 + 4 + 12)


def test_an_agents_file_and_the_archive_know_the_agent(kinds: dict[str, Path]) -> None:
    """Its name; and the archive says which archive it is."""
    with open_run(kinds["agent file"]) as run:
        of_file = run.info
    assert (of_file.agent, of_file.agent_version) == ("claude", "2.1.197")
    with open_run(SESSION, archive=kinds["archive"]) as run:
        info = run.info
    identity = open_archive(kinds["archive"]).identity
    assert identity is not None
    assert (info.archive_id, info.host, info.user) == (identity.id, identity.host, identity.user)
    assert (info.cwd, info.project) == (of_file.cwd, of_file.project) == ("/home/user/project", "project")
    assert (info.agent, info.agent_version) == (of_file.agent, of_file.agent_version)


def test_start_and_end_are_times_that_the_source_tells(tmp_path: Path) -> None:
    """Not the file's own time, when any line has one; without one, nothing is known."""
    untimed = claude_line(1).replace(b'"timestamp": "2026-03-01T10:00:01.000Z", ', b"")
    assert b"timestamp" not in untimed
    path = written(session_path(tmp_path), untimed, claude_line(2, "assistant"), claude_line(5), untimed)
    with open_run(path) as run:
        info = run.info
    assert (info.started_at, info.ended_at) == ("2026-03-01T10:00:02.000Z", "2026-03-01T10:00:05.000Z")
    archive = tmp_path / "archive"
    synced(tmp_path, archive)
    with open_archive(archive).run(SESSION) as archived:
        assert (archived.info.started_at, archived.info.ended_at) == (info.started_at, info.ended_at)
    with open_run(written(tmp_path / "untimed.jsonl", untimed)) as run:
        assert (run.info.started_at, run.info.ended_at, run.info.duration_ms) == (None, None, None)


def test_a_time_that_is_not_one_is_not_a_start(tmp_path: Path) -> None:
    """Redacted files have words in its place: the file and the archive say alike that nothing is known."""
    line = claude_line(1).replace(b"2026-03-01T10:00:01.000Z", b"[redacted]")
    path = written(session_path(tmp_path), line)
    synced(tmp_path, tmp_path / "archive")
    with open_run(path) as run, open_archive(tmp_path / "archive").run(SESSION) as archived:
        for info in (run.info, archived.info):
            assert (info.started_at, info.ended_at, info.duration_ms) == (None, None, None)


def test_a_run_without_an_answer_has_the_model_that_it_began_with(tmp_path: Path) -> None:
    """A killed or refused run names it only at its beginning; the file says what the archive says."""
    meta = {"id": THREAD, "timestamp": "2026-11-15T19:00:00.000Z", "cwd": "/w"}
    lines = [
        {"timestamp": "2026-11-15T19:00:00.000Z", "type": kind, "payload": payload}
        for kind, payload in (("session_meta", meta), ("turn_context", {"model": "gpt-5.5"}))
    ]
    path = tmp_path / f".codex/sessions/2026/11/15/rollout-2026-11-15T19-00-00-{THREAD}.jsonl"
    written(path, *(json.dumps(line).encode() + b"\n" for line in lines))
    synced(tmp_path, tmp_path / "archive")
    with open_run(path) as run, open_archive(tmp_path / "archive").run(THREAD) as archived:
        assert run.info.model == archived.info.model == "gpt-5.5"


def test_the_status_of_a_journal_asks_whether_it_is_being_written(tmp_path: Path) -> None:
    """A run with a recorder is running, and finished when it ended."""
    run = start_run("review", root=tmp_path)
    with open_run(run.path) as reader:
        assert (reader.info.status, reader.info.title) == ("running", "review")
    run.complete()
    with open_run(run.path) as reader:
        assert reader.info.status == "finished"


def test_an_empty_journal_is_a_run_of_which_nothing_is_known(tmp_path: Path) -> None:
    """Its name is its id."""
    path = tmp_path / f"{SESSION}.jsonl"
    path.touch()
    with open_run(path) as run:
        assert (run.info.run_id, run.info.turns, run.info.status) == (SESSION, 0, "unknown")


def test_a_session_of_a_database_has_its_own(tmp_path: Path) -> None:
    """By the session that was opened."""
    with open_run(make_database(tmp_path / "opencode.db")) as run:
        assert (run.info.agent, run.info.turns, run.info.run_id) == ("opencode", 1, run.kind.run_id)
        assert msgspec.json.decode(msgspec.json.encode(run.info), type=RunInfo) == run.info


SECRET = "ghp_" + "aB3" * 12


@pytest.fixture(scope="module")
def secret_kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A journal, an agent's file and an archived run that hold a secret in their titles."""
    folder = tmp_path_factory.mktemp("secrets")
    with start_run(f"deploy {SECRET}", root=folder) as run, run.step(f"push {SECRET}") as step:
        step.user(f"Use {SECRET}.")
    home, archive = folder / "home", folder / "archive"
    written(session_path(home), claude_line(1, text=f"Use {SECRET}."), claude_line(2, "call", f"curl {SECRET}"))
    synced(home, archive)
    return {"journal": run.path, "agent file": session_path(home), "archived": Path(SESSION), "archive": archive}


@pytest.mark.parametrize("kind", ["journal", "agent file", "archived"])
def test_redacted_nothing_of_a_reader_shows_a_secret(secret_kinds: dict[str, Path], kind: str) -> None:
    """Neither events, entries, lines, what is folded from them, the tree nor the info."""
    archive = secret_kinds["archive"] if kind == "archived" else None
    with open_run(secret_kinds[kind], archive=archive) as run:
        assert SECRET in _everything(run)
    with open_run(secret_kinds[kind], archive=archive, redact=True) as run:
        shown = _everything(run)
    assert SECRET not in shown
    assert "masked" in shown
    assert SESSION in shown or kind == "journal"


def test_a_masker_of_ones_own_masks_everything(secret_kinds: dict[str, Path]) -> None:
    """Also what it was not made for: the title of the info and the names of steps."""

    def shout(event: object) -> object:
        text = msgspec.json.encode(event).replace(SECRET.encode(), b"HUSH")
        return msgspec.json.decode(text, type=type(event))

    with open_run(secret_kinds["journal"], redact=shout) as run:  # type: ignore[arg-type]
        shown = _everything(run)
    assert SECRET not in shown
    assert "HUSH" in shown


def _everything(run: RunReader) -> str:
    values = [
        list(run.events()),
        [entry.as_dict() for entry in run.entries()],
        [line.decode() for _, line in run.lines()],
        run.messages(),
        run.calls(),
        list(run.units()),
        run.tree(),
        run.info,
    ]
    return msgspec.json.encode(values).decode()
