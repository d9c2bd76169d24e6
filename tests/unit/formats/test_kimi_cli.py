"""kimi_cli: totals, endings, and a subagent that two files tell of."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from archive_cases import rows
from golden_cases import FOLDER
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.fold.messages import messages
from stenograph.fold.status import RunStatus
from stenograph.fold.usage import usage_totals
from stenograph.formats.kimi_cli import SPEC
from stenograph.formats.kimi_cli.layout import is_of_folder
from stenograph.model import Event
from stenograph.sources.conversion import convert

CASES = FOLDER / "kimi_cli"
COUNTS = "SELECT tools, turns, input_tokens, output_tokens FROM runs"


def _case(name: str) -> list[Event]:
    return list(convert(CASES / name / "input"))


def _synced(folder: Path, archive: Path) -> None:
    with Store(home_of(archive)) as store:
        sync(store, [Root(folder.resolve(), "kimi_cli")])


@pytest.mark.parametrize(
    ("case", "calls", "tokens"),
    [
        ("tools", 6, (6700, 1600, 176)),
        ("subagent", 5, (5400, 1200, 143)),
        ("subagent-inside", 5, (5400, 1200, 143)),
        ("err400", 1, (1000, 0, 27)),
    ],
)
def test_tokens_are_those_that_the_model_counted(case: str, calls: int, tokens: tuple[int, ...]) -> None:
    """A subagent's are counted once, whether it has a file of its own or not; the input includes what was cached."""
    total = usage_totals(_case(case)).total
    assert (total.records, total.input_tokens, total.cache_read_input_tokens, total.output_tokens) == (calls, *tokens)


@pytest.mark.parametrize(("case", "status"), [("tools", "finished"), ("err400", "failed"), ("killed", "unknown")])
def test_the_end_of_the_last_turn_is_the_status(case: str, status: str) -> None:
    """A step that failed is told without a word of why; a program that was killed tells nothing."""
    found = RunStatus()
    for event in _case(case):
        found.add(event)
    assert found.verdict().status == status


def test_a_step_is_one_message() -> None:
    """Its parts and calls come on lines of their own."""
    answers = [message for message in messages(_case("tools")) if message.role == "assistant"]
    assert [len(message.blocks) for message in answers[:4]] == [3, 3, 2, 2]


@pytest.mark.parametrize("case", ["subagent", "subagent-inside"])
def test_a_subagent_is_linked_to_the_call_that_spawned_it(case: str) -> None:
    """By its own file and by the session's."""
    child = [event for event in _case(case) if event.source == "subagent:a4e2292a5"]
    origins = {(each.origin.parent_source, each.origin.parent_call_id) for each in child if each.origin is not None}
    assert origins == {("main", "call_0_0_898b67")}


def test_a_subagent_s_file_that_comes_later_tells_only_what_is_new(tmp_path: Path) -> None:
    """The session's file told half of it when the subagent's own one was not there yet; then both are."""
    whole = CASES / "subagent" / "input"
    (main,) = whole.glob("*/*/wire.jsonl")
    place = tmp_path / "half" / main.relative_to(whole)
    place.parent.mkdir(parents=True)
    place.write_bytes(b"".join(main.read_bytes().splitlines(keepends=True)[:13]))
    _synced(tmp_path / "half", tmp_path / "archive")
    shutil.copytree(whole, tmp_path / "half", dirs_exist_ok=True)
    _synced(tmp_path / "half", tmp_path / "archive")
    _synced(whole, tmp_path / "other")
    assert rows(tmp_path / "archive", COUNTS) == rows(tmp_path / "other", COUNTS)


def test_the_name_of_a_folder_stands_for_the_folder_worked_in() -> None:
    """By its MD5, which is all that a session tells of it."""
    path = "/home/user/.kimi/sessions/6c29bb5a3ee7ba21db1ef234e48630f8/x/wire.jsonl"
    assert is_of_folder(path, "/home/user/proj")
    assert not is_of_folder(path, "/home/user/other")


def test_a_header_alone_is_known() -> None:
    """A session that has just begun has only its first line; Kimi Code's has a time in it."""
    assert SPEC.detect([{"type": "metadata", "protocol_version": "1.10"}], "wire.jsonl") > 0
    assert SPEC.detect([{"type": "metadata", "protocol_version": "1.5", "created_at": 1}], "wire.jsonl") == 0
    assert SPEC.detect([json.loads('{"timestamp": 1, "message": {"type": "x"}}')], "") == 0
