"""aider: pieces of a history, its sessions in an archive, and how text takes part in detection."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_cases import rows
from golden_cases import FOLDER
from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.formats.aider.pieces import MODEL, PROGRAM, START, USER, Pieces, pieces_of
from stenograph.formats.registry import detect, head_records
from stenograph.model import UsagePayload
from stenograph.sources.conversion import convert
from strategies import examples

HISTORY = FOLDER / "aider" / "sessions" / "input" / "proj" / ".aider.chat.history.md"
TURN = "\n#### More?  \n\nYes, more.\n\n> Tokens: 1.0k sent, 27 received.  \n"


def _synced(folder: Path, archive: Path) -> Summary:
    with Store(home_of(archive)) as store:
        return sync(store, [Root(folder.resolve(), None)])


def test_a_piece_of_the_program_ends_with_two_blanks() -> None:
    """Its other lines have no mark, and are not the model's."""
    found = pieces_of("> first\nsecond\n\nthird  \nanswer\n")
    assert [(piece.kind, piece.text) for piece in found] == [
        (PROGRAM, "first\nsecond\n\nthird"),
        (MODEL, "answer"),
    ]


def test_a_quotation_of_the_model_is_the_model_s() -> None:
    """It is not ended by two blanks before the next mark."""
    found = pieces_of("Look:\n> a quotation\nthat ends\n\n> Tokens: 1 sent, 1 received.  \n")
    assert [(piece.kind, piece.text) for piece in found] == [
        (MODEL, "Look:\n> a quotation\nthat ends"),
        (PROGRAM, "Tokens: 1 sent, 1 received."),
    ]


_LINES = st.sampled_from(
    [
        "# aider chat started at 2026-01-01 00:00:00",
        "#### typed  ",
        "> said  ",
        "> begun",
        "ended  ",
        "words",
        "",
        "#### x",
    ]
)


@given(st.lists(_LINES, max_size=14))
@examples(200)
def test_every_line_is_in_one_piece(lines: list[str]) -> None:
    """Whatever stands in which order: no word is lost, none comes twice, and pieces come in the order of the file."""
    found = pieces_of("\n".join(lines))
    for word in ("typed", "said", "begun", "ended", "words", "#### x", "2026-01-01"):
        assert sum(piece.text.count(word) for piece in found) == sum(line.count(word) for line in lines)
    assert [piece.line for piece in found] == sorted(piece.line for piece in found)
    assert {piece.kind for piece in found} <= {START, USER, PROGRAM, MODEL}


@given(st.lists(_LINES, max_size=14))
@examples(50)
def test_cutting_line_by_line_is_cutting_at_once(lines: list[str]) -> None:
    """A stream gives the same pieces."""
    cutting = Pieces()
    streamed = [piece for line in lines for piece in cutting.add(line)] + cutting.end()
    assert streamed == pieces_of("\n".join(lines)) if lines else streamed == []


def test_tokens_say_when_they_are_rounded() -> None:
    """`1.0k` is a thousand, more or less: a note with the words goes before the number; an exact one has none."""
    events = list(convert(FOLDER / "aider" / "ambiguous" / "input"))
    usages = [(at, event.payload) for at, event in enumerate(events) if isinstance(event.payload, UsagePayload)]
    (first_at, first), (last_at, last) = usages
    assert (first.input_tokens, first.output_tokens, first.cost_usd) == (12000, 512, 0.02)
    assert (first.cache_creation_input_tokens, first.cache_read_input_tokens) == (3400, 1200)
    assert events[first_at - 1].payload.subtype == "rounded_tokens"
    assert (last.input_tokens, last.output_tokens, last.model) == (900, 12, "claude-sonnet-4-5")
    assert events[last_at - 1].type == "message.assistant"


def test_each_start_of_the_program_is_a_run_that_grows(tmp_path: Path) -> None:
    """A sync keeps the sessions of a history apart, and of one that goes on only what is new; prompts repeat."""
    place, archive = tmp_path / "proj" / ".aider.chat.history.md", tmp_path / "archive"
    place.parent.mkdir()
    place.write_bytes(HISTORY.read_bytes())
    assert _synced(place.parent, archive).new == 3
    for turns in (1, 2):
        with place.open("a") as file:
            file.write(TURN)
        assert _synced(place.parent, archive).grown == 1
        found = rows(archive, "SELECT turns, input_tokens FROM runs ORDER BY started_at")
        assert found == [(1, 2300), (1, 1000), (turns, 1000 * turns)]
    assert rows(archive, "SELECT DISTINCT agent_version, model, cwd FROM runs WHERE model IS NOT NULL") == [
        ("0.86.2", "openai/fake-model", str(place.parent))
    ]


def test_other_markdown_is_not_looked_at(tmp_path: Path) -> None:
    """A repository is full of it."""
    (tmp_path / "README.md").write_text("# aider chat started at home\n")
    assert _synced(tmp_path, tmp_path / "archive").new == 0


@pytest.mark.parametrize("beginning", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_text_is_detected_by_its_beginning(beginning: bytes) -> None:
    """Its records are its lines; a line of JSON in it does not make it a file of JSON."""
    data = beginning + b'# aider chat started at 2026-01-01 00:00:00\n\n{"role": "user", "content": "x"}\n'
    found = detect(data)
    assert found is not None
    assert found.name == "aider"
    assert all(isinstance(record, str) for record in head_records(data))
    assert detect(b"# Notes\n\ntext\n") is None
