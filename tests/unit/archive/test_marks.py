"""What a person notes of runs is kept beside the transcripts."""

from __future__ import annotations

from pathlib import Path

from stenograph.archive.marks import FILE, Mark, MarkChange, add_mark, marked_runs, read_marks


def test_the_last_word_counts(tmp_path: Path) -> None:
    """Each change says what is other; the rest stays. The file is for its owner alone."""
    assert read_marks(tmp_path) == {}
    add_mark(tmp_path, MarkChange(run_id="a", star=True, tags=("x", "y")))
    add_mark(tmp_path, MarkChange(run_id="b", name="second", seen=4))
    add_mark(tmp_path, MarkChange(run_id="a", star=False, note="look again"))
    assert read_marks(tmp_path) == {
        "a": Mark(star=False, tags=("x", "y"), note="look again"),
        "b": Mark(name="second", seen=4),
    }
    add_mark(tmp_path, MarkChange(run_id="b", name=None, star=True))
    assert read_marks(tmp_path)["b"] == Mark(star=True, seen=4)
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
    assert list(marked_runs(tmp_path, starred=True, tag=None)) == ["b"]
    assert list(marked_runs(tmp_path, starred=False, tag="x")) == ["a"]


def test_a_torn_line_costs_itself_only(tmp_path: Path) -> None:
    """A crash in the middle of a line; the next change begins a line of its own."""
    add_mark(tmp_path, MarkChange(run_id="a", star=True))
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"run_id":"b","st')
    add_mark(tmp_path, MarkChange(run_id="c", star=True))
    assert set(read_marks(tmp_path)) == {"a", "c"}
