"""Documents that an agent writes again as a whole: what a sync reads of them, and whose runs they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from archive_cases import rows, whole_index
from stenograph.archive import IndexReader
from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.store.home import home_of
from stenograph.archive.store.kept_file import KeptBytes
from stenograph.archive.store.restore import restore_files
from stenograph.archive.writer import Store

GOLDEN = Path(__file__).parents[2] / "golden" / "mini_swe_agent"


def _run(case: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / case / "input.json").read_text("utf-8"))
    return found


def _written(folder: Path, run: dict[str, Any], rows: int | None = None) -> bytes:
    """The document as the program writes it over the one before, with so many rows."""
    folder.mkdir(exist_ok=True)
    data = json.dumps({**run, "messages": run["messages"][:rows]}, indent=2).encode()
    (folder / "last_mini_run.traj.json").write_bytes(data)
    return data


def _synced(folder: Path, archive: Path) -> Summary:
    with Store(home_of(archive)) as store:
        return sync(store, [Root(folder.resolve(), "mini_swe_agent")])


def test_a_document_that_grows_is_told_once_and_older_versions_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After every step the whole document is there again: the archive has each event once, as from one reading."""
    folder, archive, run = tmp_path / "runs", tmp_path / "archive", _run("full")
    read: list[tuple[int, int]] = []
    monkeypatch.setattr(KeptBytes, "sound_chunks", lambda _, file, version, before=None: read.append((file, version)))
    for rows_so_far in range(3, len(run["messages"]) + 1):
        _written(folder, run, rows_so_far)
        _synced(folder, archive)
    assert read == []
    _written(tmp_path / "alone", run)
    _synced(tmp_path / "alone", tmp_path / "other")
    query = "SELECT run_id, turns, tools, events, input_tokens, output_tokens, status FROM runs"
    assert rows(archive, query) == rows(tmp_path / "other", query)
    assert rows(archive, "SELECT version FROM files") == [(len(run["messages"]) - 2,)]


def test_a_document_that_holds_another_run_now_is_another_run(tmp_path: Path) -> None:
    """The program writes its next run over the last one: both are kept, each byte for byte, also by a new index."""
    folder, archive = tmp_path / "runs", tmp_path / "archive"
    first = _written(folder, _run("full"))
    _synced(folder, archive)
    second = _written(folder, _run("err400"))
    summary = _synced(folder, archive)
    assert (summary.new, summary.rewritten) == (1, 0)
    query = "SELECT run_id, tools, input_tokens FROM runs ORDER BY started_at"
    found = rows(archive, query)
    assert [row[1:] for row in found] == [(2, 5700), (1, 1000)]
    assert _synced(folder, archive).unchanged == 1
    for (run_id, *_), data in zip(found, (first, second), strict=True):
        with IndexReader(archive) as reader:
            (path,) = restore_files(reader, run_id, tmp_path / run_id)
        assert path.read_bytes() == data
    before = whole_index(archive)
    with Store(home_of(archive), rebuild=True):
        pass
    assert whole_index(archive) == before
