"""Parsers that wait in the index."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from stenograph.archive.index.chunk import line_of
from stenograph.archive.keep import parser_state
from stenograph.archive.keep.opened_file import cursor_of
from stenograph.archive.keep.parser_state import UnknownState, dump_state, load_state, program_of
from stenograph.archive.store.pack import About
from stenograph.formats.registry import formats

GOLDEN = Path(__file__).parents[2] / "golden"
STEP = 700


def no_side_file(name: str) -> str | None:
    """There are none."""
    return None


@pytest.mark.parametrize("name", sorted(formats()))
def test_every_format_goes_on_after_a_freeze(name: str) -> None:
    """A parser that is frozen and thawed again and again gives what one gives that was never stopped."""
    spec = formats()[name]
    about = About(root="/", path="/x", format=name, run_id="550e8400-e29b-41d4-a716-446655440000", at="2026-01-01")
    inputs = sorted(path for path in (GOLDEN / name).rglob("*.jsonl") if path.name != "expected.jsonl")
    if not inputs:
        assert list((GOLDEN / name).rglob("input*")), "a format of documents, which are read anew when they change"
        return
    for path in inputs[:12]:
        data = path.read_bytes()
        through = cursor_of(about, spec, no_side_file)
        wanted = through.feed(data) + through.settle()
        cursor, found = cursor_of(about, spec, no_side_file), []
        for start in range(0, len(data), STEP):
            found += cursor.feed(data[start : start + STEP])
            cursor = load_state(dump_state(cursor, no_side_file), spec, no_side_file)
        found += cursor.settle()
        assert list(map(line_of, found)) == list(map(line_of, wanted)), path


def test_other_classes_are_refused() -> None:
    """A pickle that names anything but a parser's classes is not loaded."""
    with pytest.raises(UnknownState):
        load_state(pickle.dumps(Path("/")), formats()["claude_code"], no_side_file)
    with pytest.raises(UnknownState):
        load_state(b"garbage", formats()["claude_code"], no_side_file)


def test_a_state_is_bound_to_the_package_of_its_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new version of a package does not get the state that an older one left."""
    spec = formats()["claude_code"]
    ours = program_of(spec)
    monkeypatch.setattr(parser_state, "package_of", lambda name: "steno-tiny 1.0")
    theirs = program_of(spec)
    monkeypatch.setattr(parser_state, "package_of", lambda name: "steno-tiny 1.1")
    assert len({ours, theirs, program_of(spec)}) == 3
