"""However a session is cut into what a journal saw and what the files hold, the run is that of the files alone."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from archive_cases import SESSION, claude_line, rows, session_path, subagent_path, synced, whole_index, written
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.journal.place import journal_path
from stenograph.journal.recorder import Recorder
from stenograph.model.payload import LifecyclePayload
from strategies import examples
from witness_cases import collected, run_as_told, synced_part

KINDS = ("user", "call", "result", "assistant")

operations = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 6)),
        st.tuples(st.just("write_subagent"), st.integers(1, 3)),
        st.tuples(st.just("collect"), st.just(0)),
        st.tuples(st.just("lose_journal"), st.integers(1, 5)),
        st.tuples(st.just("lifecycle"), st.integers(0, 3)),
        st.tuples(st.just("sync"), st.just(0)),
        st.tuples(st.just("sync_files"), st.just(0)),
        st.tuples(st.just("sync_journals"), st.just(0)),
        st.tuples(st.just("rebuild"), st.just(0)),
    ),
    max_size=16,
)


class World:
    """A session with a subagent, its journal, and an archive of both."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.archive = folder / "archive"
        self.number = 0
        self.write(1)

    def do(self, name: str, amount: int) -> None:
        match name:
            case "write":
                self.write(amount)
            case "write_subagent":
                self.write(amount, is_subagent=True)
            case "collect":
                collected(session_path(self.home), self.archive)
            case "lose_journal":
                self._lose(amount)
            case "lifecycle":
                self._lifecycle("run.completed" if amount % 2 else "run.started", is_now=amount > 1)
            case "sync":
                synced(self.home, self.archive)
            case "sync_files":
                synced_part(self.home, self.archive, files=True, journals=False)
            case "sync_journals":
                synced_part(self.home, self.archive, files=False, journals=True)
            case "rebuild":
                synced(self.home, self.archive, rebuild=True)

    def write(self, amount: int, *, is_subagent: bool = False) -> None:
        """Lines of the session; its prompts repeat, because people say the same thing again."""
        more: dict[str, Any] = {"isSidechain": True, "agentId": "a1"} if is_subagent else {}
        for _ in range(amount):
            self.number += 1
            kind = KINDS[self.number % 4]
            line = claude_line(self.number, kind, "go on" if kind == "user" else "", **more)
            written(subagent_path(self.home) if is_subagent else session_path(self.home), line)

    def _lose(self, lines: int) -> None:
        """The end of the journal never reached the disk: its recorder was killed."""
        path = journal_path(self.archive, SESSION)
        if path.exists():
            path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-lines]))

    def _lifecycle(self, kind: str, *, is_now: bool) -> None:
        moment = None if is_now else datetime(2026, 3, 1, 10, self.number // 60, self.number % 60, tzinfo=UTC)
        with Recorder(self.archive, run_id=SESSION) as recorder:
            recorder.record(kind, LifecyclePayload(name="session", kind="agent"), timestamp=moment)


@examples(60)
@given(operations)
def test_a_run_with_a_journal_is_the_run_of_its_files(history: list[tuple[str, int]]) -> None:
    """Whatever the journal saw, whenever either was synced: events, calls, tokens, status and words are the files'."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for step in history:
            world.do(*step)
        synced(world.home, world.archive)
        alone = Path(folder) / "alone"
        synced_part(world.home, alone, files=True, journals=False)
        found, expected = run_as_told(world.archive, SESSION), run_as_told(alone, SESSION)
        if not any(name == "lifecycle" for name, _ in history):
            assert found["run"] == expected["run"]
        del found["run"], expected["run"]
        assert found == expected
        maintained = whole_index(world.archive)
        with Store(home_of(world.archive), rebuild=True):
            pass
        assert whole_index(world.archive) == maintained


@examples(20)
@given(st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=8))
def test_a_journal_that_follows_its_file_never_renumbers_the_run(growth: list[tuple[int, bool]]) -> None:
    """A session that grows with its journal beside it, synced at any time, keeps its numbers."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for amount, is_subagent in growth:
            world.write(amount, is_subagent=is_subagent)
            collected(session_path(world.home), world.archive)
            synced(world.home, world.archive)
        assert rows(world.archive, "SELECT revision FROM runs") == [(0,)]
