"""What hosts add up of their runs and send along: the same figures as from the events, without reading these."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from archive_cases import claude_line
from lakes import age, push_and_load, store_of
from stenograph import open_archive
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.fleet.lake.reading import Lake
from stenograph.fleet.lake.scratch import Wanted

BY = ("day", "model", "tool")
INPUTS = (10, 100_000, 100_001, 150_500, 200_000, 200_001, 201_000, 400_000, 50)
"""Lengths of input at, below and above those at which prices change."""
PERIODS: tuple[dict[str, Any], ...] = (
    {},
    {"since": "2026-03-02T00:00:00+00:00"},
    {"since": "2026-03-01T23:52:00+00:00", "until": "2026-03-02T00:07:00+00:00"},
    {"until": "2026-03-01T23:45:00+00:00"},
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An archive with a night of long model calls, a fork of it and tool calls, and the store that has it."""
    folder = tmp_path_factory.mktemp("sums")
    lines = [_asked(number, tokens) for number, tokens in enumerate(INPUTS)]
    lines += [claude_line(20, "call", timestamp=_time(20)), claude_line(21, "result", timestamp=_time(21))]
    sessions = folder / "sessions" / "project"
    sessions.mkdir(parents=True)
    (sessions / "550e8400-e29b-41d4-a716-446655440000.jsonl").write_bytes(b"".join(lines))
    fork = [line.replace(b"550e8400", b"660e8400") for line in [*lines, _asked(30, 250_000)]]
    (sessions / "660e8400-e29b-41d4-a716-446655440000.jsonl").write_bytes(b"".join(fork))
    age(sessions)
    home = folder / "archive"
    with Store(home_of(home)) as store:
        sync(store, [Root(sessions.resolve(), None)])
    objects = store_of(folder / "store")
    push_and_load([home], objects)
    return home, objects.url


def _time(number: int) -> str:
    """Minutes around midnight."""
    minute = 23 * 60 + 42 + 3 * number
    return f"2026-03-0{1 + minute // 1440}T{minute % 1440 // 60:02}:{minute % 60:02}:30.000Z"


def _asked(number: int, tokens: int) -> bytes:
    usage = {"input_tokens": tokens, "output_tokens": number + 1, "cache_read_input_tokens": 7}
    content = [{"type": "text", "text": f"answer {number}"}]
    message = {"id": f"msg_{number:08}", "role": "assistant", "model": "claude-sonnet-4-5", "content": content}
    more = {"message": {**message, "usage": usage, "stop_reason": "end_turn"}, "timestamp": _time(number)}
    return claude_line(number, "assistant", **more)


@pytest.mark.parametrize(
    "filters", [*PERIODS[:3], pytest.param(PERIODS[3], marks=pytest.mark.scale)], ids=["all", "day", "cut", "until"]
)
def test_a_store_adds_up_as_its_archive(
    place: tuple[Path, str], filters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the sums that hosts send, and by the events where they sent none: for long calls, forks, and cut quarters."""
    home, url = place
    with open_archive(home) as own, open_archive(store=url) as store:

        def figures(archive: Any) -> list[Any]:
            stats = [archive.stats(by, **filters) for by in BY]
            sums = [(each.to_dicts(), each.totals.to_dict()) for each in stats]
            return [*sums, [msgspec.to_builtins(info) for info in archive.runs(**filters)]]

        expected = figures(own)
        assert figures(store) == expected
        monkeypatch.setattr(Wanted, "takes_sums", False)
        assert figures(store) == expected


def test_events_are_not_read_where_hosts_send_sums(place: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A list, and sums by model, day or agent, need the runs alone; a price that changes elsewhere needs the events."""
    _, url = place

    def refuse(*_: Any) -> None:
        raise AssertionError("the events were read")

    monkeypatch.setattr(Lake, "add_events", refuse)
    with open_archive(store=url) as store:
        assert len(store.runs(since="2026-03-01", until="2026-03-02")) == 2
        assert store.stats("model").totals["model_calls"] == len(INPUTS) + 2
        assert store.stats("day").totals["tool_calls"] == 1
    assert Wanted(thresholds=(200_000,)).takes_sums
    assert not Wanted(thresholds=(200_000, 200_500)).takes_sums
    assert not Wanted(thresholds=(32_000,)).takes_sums


def test_pandas_is_not_loaded(place: tuple[Path, str]) -> None:
    """It takes longer than the answer, and Arrow loads it for little where it is installed."""
    _, url = place
    code = """
import sys
from stenograph import open_archive
with open_archive(store=sys.argv[1]) as store:
    with store.run("550e8400") as run:
        assert sum(1 for _ in run.events()) > 5
    assert len(store.runs(since="2026-03-01", until="2026-03-02")) == 2
    assert store.search("answer", since="2026-03-01", until="2026-03-02")
assert "pandas" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, url], check=True)
