"""Results of now against recorded ones."""

from __future__ import annotations

import pytest

from stenograph.errors import InvalidOption
from stenograph.fold.agent_tables import tables_of
from stenograph.replay.comparison import Comparison


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        ("-rw-r--r-- 1 me me 5 Nov 15 19:10 a.txt", "-rw-r--r-- 1 me me 5 Jan  2  2027 a.txt"),
        ("id 01a1e820-ab5e-7b22-b92f-28551ffaa9da", "id 01a1e999-ab5e-7b22-b92f-28551ffaa9da"),
        ("3 passed in 0.12s", "3 passed in 1.30s"),
        ("at 2026-11-15T19:10:22.123Z", "at 2026-12-01T01:00:00Z"),
        ("/tmp/tmpab12cd34/x /tmp/tmp.AbC123xY", "/tmp/tmpzz99yy88/x /tmp/tmp.Q1w2E3r4"),
        ("done\n", "done"),
    ],
)
def test_what_always_differs_is_no_difference(recorded: str, live: str) -> None:
    """Times, durations, ids and temporary names."""
    assert Comparison().difference(recorded, live) is None


def test_what_an_agent_draws_anew_is_no_difference() -> None:
    """Its format says what that is."""
    recorded = "Chunk ID: 3ca091\nWall time: 0.0000 seconds\nOutput:\nx"
    assert Comparison().difference(recorded, "Chunk ID: 3ca092\nWall time: 0.1000 seconds\nOutput:\nx") is not None
    assert (
        Comparison(tables_of("codex_rollout").volatile).difference(recorded, recorded.replace("3ca091", "aa11bb"))
        is None
    )
    told = "agentId: a26540cde0619da00 (use it)\n<usage>duration_ms: 156</usage>"
    other = "agentId: b99 (use it)\n<usage>duration_ms: 9</usage>"
    assert Comparison(tables_of("claude_code").volatile).difference(told, other) is None


def test_a_difference_has_exactly_its_lines() -> None:
    """Recorded ones with a minus, new ones with a plus."""
    assert Comparison().difference("one\nalpha\ntwo", "one\nCHANGED\ntwo") == ["-alpha", "+CHANGED"]
    assert Comparison().difference("one\nalpha\ntwo", "one\ntwo") == ["-alpha"]


def test_a_long_difference_is_cut_and_counted() -> None:
    """Nothing is left out silently."""
    lines = Comparison().difference("", "\n".join(str(n) for n in range(100)))
    assert lines is not None
    assert len(lines) == 41
    assert lines[-1] == "… 61 more lines"


def test_patterns_of_ones_own() -> None:
    """What the user says may differ; a mistake is named."""
    assert Comparison([r"build \d+"]).difference("build 7 ok", "build 8 ok") is None
    with pytest.raises(InvalidOption, match=r"'\(' is not a regular expression"):
        Comparison(["("])
