"""`steno tail`, without -f."""

from __future__ import annotations

from typing import Any

import pytest


def test_json_lines_are_the_very_lines(steno: Any, recorded: Any) -> None:
    """Byte for byte, odd spacing included."""
    run, _ = recorded
    odd = '{ "seq": 99, "type":"error", "payload":{"message":"x"}, "new":1 }\n'
    with run.path.open("a") as file:
        file.write(odd)
    assert steno("tail", run.path, "--json").out == run.path.read_text("utf-8")


def test_from_and_last_choose(steno: Any, recorded: Any) -> None:
    """By number from there on, by count from the end, or both."""
    run, _ = recorded

    def seqs(*options: object) -> list[int]:
        return [event["seq"] for event in steno("tail", run.path, "--json", *options).json_lines]

    everything = seqs()
    assert everything == list(range(1, len(everything) + 1))
    assert seqs("--from", 4) == everything[3:]
    assert seqs("-n", 2) == everything[-2:]
    assert seqs("--last", 100) == everything
    assert seqs("--from", 5, "-n", 100) == everything[4:]
    assert seqs("--from", 1000) == []


def test_for_people_it_reads_like_show(steno: Any, recorded: Any) -> None:
    """The same lines."""
    run, _ = recorded
    assert steno("tail", run.path).out == steno("show", run.path).out
    assert steno("tail", run.path, "--full").out == steno("show", run.path, "--full").out


def test_what_has_no_number_is_told_on_stderr(steno: Any, recorded: Any) -> None:
    """It is not printed, and not forgotten."""
    run, _ = recorded
    before = steno("tail", run.path, "--json").out
    with run.path.open("ab") as file:
        file.write(b"not json\ntorn")
    after = steno("tail", run.path, "--json")
    assert (after.code, after.out) == (0, before)
    assert "1 lines are not JSON: unknown events without a number" in after.err
    assert "4 bytes at the end" in after.err


@pytest.mark.parametrize("target", ["550e", "no-such-run"])
def test_following_needs_a_whole_name(steno: Any, root: Any, target: str) -> None:
    """The beginning of an id that does not exist can never be followed: exit code 3 at once."""
    ended = steno("tail", "-f", target, "--root", root)
    assert ended.code == 3
    assert ended.err.count("\n") == 1
