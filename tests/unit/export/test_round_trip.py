"""What was exported comes back through our own readers: words, calls and results as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from golden_cases import CASES, run_of, sampled
from stenograph.export.exporter import SideFile, exporter_named
from stenograph.export.wording import result_text, text_of
from stenograph.fold.exchange import Turn, exchange
from stenograph.fold.losses import LossReport
from stenograph.model import Event, TextBlock
from stenograph.sources.conversion import convert
from stenograph.sources.detection import format_named

FORMATS = {
    "anthropic": "anthropic_messages",
    "atif": "atif",
    "inspect": "inspect_log",
    "messages": "openai_chat",
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
    "pi": "pi",
}


def told(events: list[Event]) -> dict[str, Any]:
    """The words of each role, and the calls with their results, of the main agent."""
    turns = [item for item in exchange(events).main.items if isinstance(item, Turn)]
    calls = [call for turn in turns for call in turn.calls]
    return {
        "user": [line for turn in turns if turn.role == "user" for line in text_of(turn.blocks).split("\n")],
        "assistant": [line for turn in turns if turn.role == "assistant" for line in text_of(turn.blocks).split("\n")],
        "calls": [(call.name, call.arguments, result_text(call)) for call in calls],
    }


def lines(turns: list[str]) -> list[str]:
    """Without empty ones: a text of spaces alone is not carried, and parts are joined by line breaks."""
    return [line.rstrip() for line in turns if line.strip()]


def is_simple(events: list[Event]) -> bool:
    """Whether a request can hold the run whole: nothing compacted, left open or repeated, words of the user first."""
    run = exchange(events)
    turns = run.main.turns
    if any(
        getattr(item.event.payload, "subtype", "") == "compaction"
        for item in run.main.items
        if not isinstance(item, Turn)
    ):
        return False
    ids = [call.call_id for turn in turns for call in turn.calls]
    return (
        bool(turns)
        and turns[0].role == "user"
        and any(isinstance(block, TextBlock) and block.text.strip() for block in turns[0].blocks)
        and all(call.has_result and call.name for turn in turns for call in turn.calls)
        and len(set(ids)) == len(ids)
        and not any(turn.system_prompt for turn in turns[1:])
    )


SIMPLE = [case for case in CASES if is_simple(run_of(case))]


def test_many_cases_are_simple() -> None:
    """The test below has something to look at."""
    assert len(SIMPLE) > 80


@pytest.mark.parametrize("case", sampled(SIMPLE))
def test_words_calls_and_results_come_back(case: Path, tmp_path: Path) -> None:
    """Through our readers of every format that we write and read, for every golden case that a request can hold."""
    events = run_of(case)
    want = told(events)
    for name, reader in FORMATS.items():
        path = tmp_path / f"{name}.json"
        report = LossReport(name)
        pieces = list(exporter_named(name)(events, report))
        if any("row without an answer" in line["what"] for line in report.dropped):
            continue  # and the report says so
        if any(isinstance(piece, SideFile) for piece in pieces):
            continue  # pictures in other files, which the reader names as not read
        data = b"".join(piece for piece in pieces if isinstance(piece, bytes))
        # Of training rows the first is the main agent's; the others are its subagents' and are read as more of it.
        path.write_bytes(data.partition(b"\n")[0] if name == "messages" else data)
        got = told(list(convert(path, format_named(reader))))
        assert got["calls"] == want["calls"], name
        assert lines(got["user"]) == lines(want["user"]), name
        assert lines(got["assistant"]) == lines(want["assistant"]), name
