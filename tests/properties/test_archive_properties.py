"""The archive under any history of its sources: an index that was maintained equals one made anew."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from archive_cases import (
    check_kept,
    claude_line,
    codex_line,
    session_path,
    subagent_path,
    synced,
    thread_path,
    whole_index,
)
from stenograph.adapters.following.collection import session_in
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import roots_of
from stenograph.archive.keep.watching import Writer
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from strategies import examples
from witness_cases import collected

KINDS = ("user", "assistant", "call", "result")
FILES: list[Callable[[Path], Path]] = [session_path, subagent_path, thread_path]

operations = st.one_of(
    st.tuples(st.just("append"), st.integers(0, 2), st.integers(1, 4)),
    st.tuples(st.just("append_part"), st.integers(0, 2), st.integers(1, 60)),
    st.tuples(st.just("end_line"), st.integers(0, 2), st.just(0)),
    st.tuples(st.just("edit"), st.integers(0, 2), st.integers(0, 5)),
    st.tuples(st.just("truncate"), st.integers(0, 2), st.integers(0, 900)),
    st.tuples(st.just("replace"), st.integers(0, 2), st.integers(0, 900)),
    st.tuples(st.just("delete"), st.integers(0, 2), st.just(0)),
    st.tuples(st.just("rename"), st.integers(0, 2), st.just(0)),
    st.tuples(st.just("copy"), st.integers(0, 2), st.just(0)),
    st.tuples(st.just("collect"), st.sampled_from([0, 2]), st.just(0)),
    st.tuples(st.just("sync"), st.just(0), st.just(0)),
    st.tuples(st.just("sync"), st.just(0), st.just(0)),
    st.tuples(st.just("sync_touched"), st.just(0), st.just(0)),
    st.tuples(st.just("sync_touched"), st.just(0), st.just(0)),
    st.tuples(st.just("kill_watcher"), st.just(0), st.just(0)),
    st.tuples(st.just("save_and_close"), st.just(0), st.just(0)),
    st.tuples(st.just("crash"), st.just(0), st.integers(0, 3)),
    st.tuples(st.just("tear"), st.just(0), st.integers(1, 30)),
)


class World:
    """Some files of agents, and what happens to them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.archive = folder / "archive"
        self.home.mkdir()
        self.number = 0
        self.renamed = 0
        self.touched: set[str] = set()
        self.writer = Writer(home_of(self.archive))

    def do(self, name: str, file: int, amount: int) -> None:
        path = FILES[file](self.home)
        match name:
            case "append":
                self._write(path, b"".join(self._line(file) for _ in range(amount)))
            case "append_part":
                self._write(path, self._line(file)[:-amount])
            case "end_line" if path.exists():
                self._write(path, b"\n")
            case "edit" | "truncate" | "replace" | "delete" | "rename" | "copy" if path.exists():
                self.touched.add(str(path))
                getattr(self, f"_{name}")(path, amount)
            case "collect" if path.exists() and session_in(path) is not None:
                self.touched.add(str(collected(path, self.archive)))
            case "sync":
                synced(self.home, self.archive)
                self.touched.clear()
            case "sync_touched":
                self._sync_touched()
            case "kill_watcher":  # what it had in memory is gone
                self.writer.close()
            case "save_and_close":
                self.writer.save_and_close()
            case "crash":
                self._crash(amount)
            case "tear":
                for pack in sorted((self.archive / "kept").glob("*.pack"))[-1:]:
                    self._write(pack, b"\x93SP1 torn"[:amount])

    def _sync_touched(self) -> None:
        """A sync as `steno watch` does it: told which files changed since the last one, with parsers in memory."""
        with self.writer.writing() as store:
            sync(store, roots_of({}, self.home, self.archive), only=self.touched)
        self.touched.clear()

    def _line(self, file: int) -> bytes:
        self.number += 1
        if file == 2:
            return codex_line(0 if not thread_path(self.home).exists() else self.number)
        sidechain: dict[str, Any] = {"isSidechain": True, "agentId": "a1"} if file == 1 else {}
        return claude_line(self.number, KINDS[self.number % 4], **sidechain)

    def _write(self, path: Path, data: bytes) -> None:
        self.touched.add(str(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(data)

    def _edit(self, path: Path, number: int) -> None:
        lines = path.read_bytes().split(b"\n")
        lines[number % len(lines)] = self._line(0).rstrip()
        path.write_bytes(b"\n".join(lines))

    def _truncate(self, path: Path, size: int) -> None:
        path.write_bytes(path.read_bytes()[:-size] if size else b"")

    def _replace(self, path: Path, cut: int) -> None:
        other = path.with_suffix(".tmp")
        other.write_bytes(path.read_bytes()[cut:] + self._line(0))
        other.replace(path)

    def _delete(self, path: Path, _: int) -> None:
        path.unlink()

    def _rename(self, path: Path, _: int) -> None:
        self.renamed += 1
        other = path.with_name(f"{self.renamed}{path.name}")
        self.touched |= {str(path), str(other)}
        path.rename(other)

    def _copy(self, path: Path, _: int) -> None:
        self.renamed += 1
        other = path.with_name(f"{self.renamed}{path.name}")
        self.touched.add(str(other))
        shutil.copy(path, other)

    def _crash(self, after: int) -> None:
        """A sync that ends in the middle: its frames are written, the index is as it was."""

        def progress(done: int, of: int) -> None:
            if done >= after:
                raise KeyboardInterrupt

        try:
            with Store(home_of(self.archive)) as store:
                sync(store, roots_of({}, self.home, self.archive), progress)
        except KeyboardInterrupt:
            pass


@examples(60)
@given(st.lists(operations, max_size=24))
def test_index_maintained_is_index_rebuilt(history: list[tuple[str, int, int]]) -> None:
    """Whatever happened to the files and to us, the index equals one from the packs, which hold what is on disk."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for step in history:
            world.do(*step)
        world.writer.close()
        synced(world.home, world.archive)
        again = synced(world.home, world.archive)
        assert (again.new, again.grown, again.rewritten, again.bytes_read, again.events) == (0, 0, 0, 0, 0)
        maintained = whole_index(world.archive)
        with Store(home_of(world.archive), rebuild=True):
            pass
        rebuilt = whole_index(world.archive)
        for table, content in maintained.items():
            assert rebuilt[table] == content, table
        check_kept(world.archive)
