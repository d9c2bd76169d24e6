"""Files whose records name no run: each is a run of its own, and stays it wherever it goes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from archive_cases import rows
from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.sources.conversion import convert

GOLDEN = Path(__file__).parents[2] / "golden"
SYSTEM = {"role": "system", "content": "You are a helpful assistant."}


def _chat(path: Path, *words: str, is_document: bool = False) -> Path:
    """A chat that begins as all of them do; no record of it has an id."""
    records = [SYSTEM, *({"role": ("user", "assistant")[n % 2], "content": word} for n, word in enumerate(words))]
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    path.write_text(json.dumps(records, indent=1) if is_document else lines, "utf-8")
    return path


def _synced(folder: Path, archive: Path) -> Summary:
    with Store(home_of(archive)) as store:
        return sync(store, [Root(folder.resolve(), None)])


def _prompts(archive: Path) -> dict[str, str]:
    return dict(rows(archive, "SELECT run_id, first_prompt FROM runs ORDER BY first_prompt"))


@pytest.mark.parametrize("is_document", [False, True])
def test_files_of_one_name_and_beginning_are_two_runs(tmp_path: Path, is_document: bool) -> None:
    """Two chats called alike in two folders are two runs, also when they grow and when the index is made anew."""
    folder, archive = tmp_path / "chats", tmp_path / "archive"
    for name in "ab":
        _chat(folder / name / "chat.jsonl", f"question {name}", "answer", is_document=is_document)
    _synced(folder, archive)
    first = _prompts(archive)
    assert list(first.values()) == ["question a", "question b"]
    for name in "ba":
        _chat(folder / name / "chat.jsonl", f"question {name}", "answer", "and more", is_document=is_document)
    summary = _synced(folder, archive)
    assert summary.new == 0
    assert _prompts(archive) == first
    with Store(home_of(archive), rebuild=True):
        pass
    assert _prompts(archive) == first
    assert rows(archive, "SELECT turns FROM runs") == [(2,), (2,)]


def test_a_folder_is_converted_to_as_many_runs_as_it_has_files(tmp_path: Path) -> None:
    """`steno convert DIR` keeps files apart that begin alike; one of them by itself is always the same run."""
    paths = [_chat(tmp_path / name / "chat.jsonl", f"question {name}") for name in "abc"]
    events = list(convert(tmp_path))
    assert len({event.run_id for event in events}) == 3
    assert next(iter(convert(paths[1]))).run_id == next(iter(convert(paths[0]))).run_id == events[0].run_id


@pytest.mark.parametrize("is_document", [False, True])
def test_a_file_that_moved_keeps_its_run(tmp_path: Path, is_document: bool) -> None:
    """Copied elsewhere, grown, and gone from its old place: the same run goes on."""
    folder, archive = tmp_path / "chats", tmp_path / "archive"
    old = _chat(folder / "a" / "chat.jsonl", "question", "answer", is_document=is_document)
    _synced(folder, archive)
    before = _prompts(archive)
    _chat(folder / "b" / "other.jsonl", "question", "answer", "more", is_document=is_document)
    old.unlink()
    summary = _synced(folder, archive)
    assert (summary.moved, summary.gone, summary.new) == (1, 0, 0)
    assert _prompts(archive) == before
    assert rows(archive, "SELECT turns, events FROM runs") == rows(archive, "SELECT 2, count(*) FROM events")


def test_a_copy_beside_the_original_is_a_run_of_its_own(tmp_path: Path) -> None:
    """While the original is there, a copy of it is another run, also after one of them has grown."""
    folder, archive = tmp_path / "chats", tmp_path / "archive"
    old = _chat(folder / "a.jsonl", "question", "answer")
    _synced(folder, archive)
    shutil.copy(old, folder / "b.jsonl")
    _synced(folder, archive)
    assert len(_prompts(archive)) == 2
    _chat(old, "question", "answer", "more")
    _synced(folder, archive)
    assert rows(archive, "SELECT turns FROM runs ORDER BY id") == [(2,), (1,)]


def test_another_chat_at_a_new_place_is_not_the_one_that_is_gone(tmp_path: Path) -> None:
    """A longer chat that only begins as one did that was deleted is another run."""
    folder, archive = tmp_path / "chats", tmp_path / "archive"
    old = _chat(folder / "a.jsonl", "question", "answer")
    _synced(folder, archive)
    old.unlink()
    _chat(folder / "b.jsonl", "something else that is longer", "yes", "indeed")
    _synced(folder, archive)
    assert len(_prompts(archive)) == 2


def test_copilot_s_folder_names_a_session_that_does_not_say_it(tmp_path: Path) -> None:
    """`events.jsonl` files without `session.start` are as many runs as there are folders."""
    folder, archive = tmp_path / "session-state", tmp_path / "archive"
    case = next((GOLDEN / "copilot_cli" / "tools" / "input").rglob("*.jsonl"))
    lines = [line for line in case.read_bytes().splitlines(keepends=True) if b'"session.start"' not in line]
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
        (folder / name / "events.jsonl").write_bytes(b"".join(lines))
    _synced(tmp_path, archive)
    assert len(_prompts(archive)) == 2


def test_two_printed_sessions_of_copilot_are_two_runs(tmp_path: Path) -> None:
    """What two runs of Copilot printed into files of one name is not one session."""
    folder, archive = tmp_path / "printed", tmp_path / "archive"
    for case in ("tools", "cjk"):
        (folder / case).mkdir(parents=True)
        shutil.copy(GOLDEN / "copilot_stream" / case / "input.jsonl", folder / case / "out.jsonl")
    _synced(folder, archive)
    assert len(_prompts(archive)) == 2
