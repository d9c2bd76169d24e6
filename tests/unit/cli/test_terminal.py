"""What reaches a terminal, and how it fits there."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wcwidth import wcswidth, wcwidth

from stenograph.cli.table import print_fitted, print_rows
from stenograph.cli.terminal import _NARROW, cut, escaped, shown, wants_color, width

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> object:
    """Make standard output a terminal of so many columns."""

    def narrow(number: int) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(shutil, "get_terminal_size", lambda *_: os.terminal_size((number, 24)))

    return narrow


@settings(max_examples=80)
@given(TEXTS)
def test_json_on_a_terminal_means_the_same_and_is_not_obeyed(text: str) -> None:
    """Escapes of JSON are all that is added."""
    data = escaped(json.dumps({"a": text}, ensure_ascii=False).encode())
    assert json.loads(data) == {"a": text}
    assert not OBEYED.search(data.decode().replace("\n", ""))


def test_only_colours_are_obeyed() -> None:
    """What a renderer colours stays; every other sequence is shown as text."""
    assert shown("\x1b[1;31mred\x1b[0m") == "\x1b[1;31mred\x1b[0m"
    assert not OBEYED.search(shown("\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\u202e\x7f").replace("\n", ""))


@settings(max_examples=80)
@given(st.text(st.characters(categories=["L", "N", "P", "S", "M", "Zs"]), max_size=30), st.integers(1, 20))
def test_a_cut_text_fits_and_says_that_it_was_cut(text: str, room: int) -> None:
    """By the columns of a terminal, not by characters."""
    short = cut(text, room)
    assert width(short) <= room
    assert short == text or short.endswith("…")
    assert short != text or width(text) <= room


def test_texts_whose_width_is_known_without_tables_have_it() -> None:
    """Latin letters and punctuation are one column each, as the tables say."""
    narrow = [letter for letter in map(chr, range(0x3000)) if _NARROW.fullmatch(letter)]
    assert len(narrow) > 600
    assert {wcwidth(letter) for letter in narrow} == {1}


@pytest.mark.parametrize("text", ["漢字", "e\u0301", "👩‍👩‍👧", "🇩🇪", "abc"])
def test_widths_are_those_of_wcwidth(text: str) -> None:
    """Marks have no column, wide characters two, joined emoji are one character."""
    assert width(text) == wcswidth(text)


@pytest.mark.parametrize(
    ("environment", "is_terminal", "expected"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"CLICOLOR_FORCE": "1"}, False, True),
        ({"CLICOLOR": "0"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_the_environment_decides_on_colours(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], is_terminal: bool, expected: bool
) -> None:
    """NO_COLOR wins, then FORCE_COLOR and CLICOLOR_FORCE, then CLICOLOR and TERM."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    assert wants_color() is expected


HEAD = ("project", "input", "cost", "note")
ROWS: Sequence[Sequence[object]] = [
    ("店舗の在庫管理システム全体", "1.2M", "≥ $9,999.12", "x" * 50),
    ("shop", "9", "$0.00123", "y"),
]


@pytest.mark.parametrize("room", [20, 30, 40, 80])
def test_a_table_fits_and_costs_are_never_cut(capfd: pytest.CaptureFixture[str], columns: object, room: int) -> None:
    """Columns that can be missed go first, then one text is cut."""
    columns(room)  # type: ignore[operator]
    print_fitted(HEAD, ROWS, ("note", "input"), "project", 6)
    out = capfd.readouterr().out
    assert all(width(line) <= room for line in out.splitlines())
    assert "≥ $9,999.12" in out
    assert "$0.00123" in out


def test_many_columns_on_a_narrow_terminal_are_one_field_per_line(
    capfd: pytest.CaptureFixture[str], columns: object
) -> None:
    """Nothing is cut to six characters: a row is a block of its fields."""
    columns(40)  # type: ignore[operator]
    print_rows([f"column_{n}" for n in range(9)], [[f"value number {n}" for n in range(9)]])
    lines = capfd.readouterr().out.splitlines()
    assert lines == [f"column_{n}  value number {n}" for n in range(9)]


def test_numbers_are_never_cut(capfd: pytest.CaptureFixture[str], columns: object) -> None:
    """A text gives way instead."""
    columns(40)  # type: ignore[operator]
    print_rows(("n", "text"), [(123456789012345678, "z" * 90)])
    out = capfd.readouterr().out
    assert "123456789012345678" in out
    assert all(width(line) <= 40 for line in out.splitlines())


def test_csv_on_a_terminal_is_not_obeyed(capfd: pytest.CaptureFixture[str], columns: object) -> None:
    """A pipe gets the value as it is."""
    columns(80)  # type: ignore[operator]
    print_rows(("t",), [("\x1b[2J\x9b",)], "csv")
    assert not OBEYED.search(capfd.readouterr().out)
