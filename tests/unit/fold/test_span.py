"""From when to when a run went on: by what its source tells, never by its file's own time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counters import PRICES, make_archive
from golden_cases import CASES, input_of, name_of
from stenograph.fold.span import Span, SpanCounter
from stenograph.fold.subagents import subagent_tree
from stenograph.model import Event, Origin
from stenograph.model.moment import moment_of
from stenograph.query.runs import list_runs
from stenograph.query.scope import Scope
from stenograph.render.first_pass import page_facts_of
from stenograph.render.html.page import html_page
from strategies import timestamps

UNTIMED = [case for case in CASES if name_of(case) == "openai_chat/dataset"]
LATE = [
    case
    for case in CASES
    if name_of(case) in ("claude_code/2.1.325-basic", "claude_code/2.1.325-compact", "openai_responses/objects")
]


def event(timestamp: str, time: str | None = None) -> Event:
    origin = Origin(time=time) if time else None  # type: ignore[arg-type]
    return Event(
        seq=1, run_id="r", type="unknown", path="", iteration=0, timestamp=timestamp, origin=origin, payload=None
    )


def span(*events: Event) -> Span:
    counter = SpanCounter()
    for each in events:
        counter.add(each)
    return counter.span


@given(st.lists(timestamps))
def test_a_span_holds_every_moment(texts: list[str]) -> None:
    """The earliest and the latest, in whatever order they come; one as it is written where none can be read."""
    found = span(*map(event, texts))
    moments = [moment for text in texts if (moment := moment_of(text)) is not None]
    if moments:
        assert (moment_of(found.started_at), moment_of(found.ended_at)) == (min(moments), max(moments))
        assert {found.started_at, found.ended_at} <= set(texts)
    else:
        told = [text for text in texts if text]
        assert (found.started_at, found.ended_at) == ((told[0], told[-1]) if told else ("", ""))


def test_a_time_that_was_only_given_does_not_count() -> None:
    """A line without a time and before any other has its file's; one after another has that one's."""
    first, given_, inherited = "2026-06-08T08:00:00Z", "2020-01-01T00:00:00Z", "2026-06-08T08:00:00Z"
    assert span(event(given_, "given"), event(first), event(inherited, "inherited")).started_at == first
    assert span(event(given_, "given")) == Span()
    assert event(given_, "given").told_at == ""


@pytest.mark.parametrize("case", [*UNTIMED, *LATE], ids=name_of)
def test_every_surface_has_the_same_start_and_end(case: Path, tmp_path: Path) -> None:
    """`ls`, tree and page; and all of them know nothing of a file in which nothing is timed."""
    sessions = tmp_path / "sessions"
    sessions.mkdir()
    (sessions / f"{case.name}.jsonl").write_bytes(input_of(case).read_bytes())
    with make_archive(tmp_path / "archive", sessions) as archive:
        (line, *_), _ = list_runs(archive.index, Scope(), PRICES)
        events = list(archive.events(archive.find_run(line.run_id)[0]))
    outline, tree = page_facts_of(events), subagent_tree(events)
    assert (outline.span.started_at or None, outline.span.ended_at or None) == (line.started_at, line.ended_at)
    assert (tree.started_at, tree.ended_at) == (line.started_at, line.ended_at)
    assert (line.started_at is None) == (case in UNTIMED)
    assert ('title="time unknown"' in "".join(html_page(lambda: events))) == any(not each.told_at for each in events)
