"""Rows for people and programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest

from stenograph.cli.table import print_rows
from stenograph.errors import SourceError


def printed(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    print_rows(*arguments)  # type: ignore[arg-type]
    return capfd.readouterr().out


ROWS = [(1, "a", None), (20, "漢字", 1.5)]


def test_a_table_is_aligned(capfd: pytest.CaptureFixture[str]) -> None:
    """Numbers to the right, text to the left, wide characters two columns, null empty."""
    assert printed(capfd, ("n", "text", "x"), ROWS) == (" n  text    x\n──  ────  ───\n 1  a\n20  漢字  1.5\n")


def test_json_is_one_array_of_objects(capfd: pytest.CaptureFixture[str]) -> None:
    """Types stay, columns with one name are told apart, blobs are written as SQL has them."""
    found = json.loads(printed(capfd, ("n", "n", "b"), [(1, None, b"\xff")], "json"))
    assert found == [{"n": 1, "n_2": None, "b": "x'ff'"}]
    assert json.loads(printed(capfd, ("n",), [], "json")) == []


def test_csv_reads_back(capfd: pytest.CaptureFixture[str]) -> None:
    """Quotes, commas and line breaks survive."""
    rows = [("a,b", 'say "x"'), ("two\nlines", "")]
    assert list(csv.reader(io.StringIO(printed(capfd, ("one", "two"), rows, "csv")))) == [
        ["one", "two"],
        *map(list, rows),
    ]


def test_a_terminal_obeys_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Control characters are shown, and a line break does not break the row."""
    out = printed(capfd, ("\x1b[2J",), [("\x1b]0;title\x07\nnext",)])
    assert "\x1b" not in out
    assert "\x07" not in out
    assert len(out.splitlines()) == 3


@pytest.mark.parametrize("form", [None, "json", "csv"])
def test_rows_before_an_error_are_printed_whole(capfd: pytest.CaptureFixture[str], form: str | None) -> None:
    """A limit in the middle leaves output that can be used, and the error."""

    def rows() -> Iterator[tuple[int]]:
        yield (1,)
        raise SourceError("the disk is gone")

    with pytest.raises(SourceError):
        print_rows(("n",), rows(), form)
    out = capfd.readouterr().out
    assert "1" in out
    assert form != "json" or json.loads(out) == [{"n": 1}]


def test_many_rows_follow_the_first_ones(capfd: pytest.CaptureFixture[str]) -> None:
    """Widths come from the first rows; a longer one later stands out and is not cut."""
    out = printed(capfd, ("n", "m"), [("a", "b")] * 600 + [("x" * 90, "y")])
    assert out.splitlines()[-1] == "x" * 90 + "  y"
