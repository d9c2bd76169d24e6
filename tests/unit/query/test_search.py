"""Full text search over an archive of real sessions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from archive_of_goldens import CLAUDE, GEMINI, PARENT, converted, make_archive
from stenograph import open_archive
from stenograph.archive import IndexReader
from stenograph.archive.index.words import event_text, searchable
from stenograph.errors import InvalidQuery
from stenograph.model import Event
from stenograph.model.moment import moment_of
from stenograph.model.payload import ToolPayload
from stenograph.query.language import parse_query
from stenograph.query.period import Period
from stenograph.query.scope import Scope
from stenograph.query.search import Hit, Wanted, search
from stenograph.runs.archive import SearchOptions, searched


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An archive and the sessions in it."""
    return make_archive(tmp_path_factory.mktemp("search"))


@pytest.fixture(scope="module")
def archive(made: tuple[Path, Path]) -> Iterator[IndexReader]:
    """The archive, open."""
    with IndexReader(made[0]) as opened:
        yield opened


@pytest.fixture(scope="module")
def texts(made: tuple[Path, Path]) -> list[tuple[Event, set[str]]]:
    """Every event with the words that can be searched in it."""
    return [
        (event, {word.lower() for word in re.findall(r"[^\W_]+", searchable(event_text(event)).decode())})
        for event in converted(made[1])
    ]


def _hits(archive: IndexReader, query: str, scope: Scope | None = None, wanted: Wanted | None = None) -> list[Hit]:
    return list(search(archive, parse_query(query), scope, wanted, limit=-1))


WORDS = ["script", "subagent", "please", "仔", "bash", "exit", "nothing", "msg", "zebrafish", "readme", "42"]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_found_in_every_event_that_has_it(
    archive: IndexReader, texts: list[tuple[Event, set[str]]], word: str
) -> None:
    """Nothing is missed and nothing is made up, in any format or source."""
    expected = sorted((event.run_id, event.source, event.timestamp) for event, words in texts if word in words)
    assert sorted((hit.run_id, hit.source, hit.timestamp) for hit in _hits(archive, word)) == expected


def test_a_hit_cites_the_event_it_was_found_in(archive: IndexReader) -> None:
    """Run and number lead to an event whose text has the snippet's words."""
    hits = _hits(archive, "script*")
    assert len(hits) > 5
    for hit in hits:
        (event,) = archive.events(archive.find_run(hit.run_id)[0], hit.seq, hit.seq)
        assert (event.source, event.timestamp) == (hit.source, hit.timestamp)
        assert "script" in event_text(event).lower()
        assert hit.snippet.spans
        assert all(hit.snippet.text[start:end].lower().startswith("script") for start, end in hit.snippet.spans)


def test_the_newest_come_first_and_a_limit_takes_those(archive: IndexReader) -> None:
    """Over all runs."""
    hits = _hits(archive, "please OR exit OR the")
    moments = [hit.timestamp for hit in hits if hit.timestamp.startswith("2026-11-1")]
    assert moments[0][:13] >= moments[-1][:13]
    first = list(search(archive, parse_query("please OR exit OR the"), limit=5))
    assert first == hits[:5]


def test_rank_puts_the_most_relevant_first(archive: IndexReader) -> None:
    """The same hits in another order: short texts that say it often before long ones that say it once."""
    query = parse_query("echo")
    ranked = list(search(archive, query, limit=-1, by_rank=True))
    assert sorted(hit.seq for hit in ranked) == sorted(hit.seq for hit in _hits(archive, "echo"))
    rank = """
        SELECT bm25(words) FROM words WHERE words MATCH 'echo'
        AND rowid = (SELECT id FROM events WHERE run = ? AND seq = ?)
    """
    places = [(archive.find_run(hit.run_id)[0], hit.seq) for hit in ranked]
    numbers = [archive.index.execute(rank, place).fetchone()[0] for place in places]
    assert numbers == sorted(numbers)


def test_hits_can_be_narrowed(archive: IndexReader) -> None:
    """By role, tool, errors, agent, time, and what else the run says."""
    everything = _hits(archive, "exit OR echo OR script")
    roles = {hit.role for hit in everything}
    assert roles >= {"user", "assistant", "tool"}
    for role in roles:
        assert _hits(archive, "exit OR echo OR script", None, Wanted(role=role)) == [
            hit for hit in everything if hit.role == role
        ]
    bash = _hits(archive, "exit OR echo OR script", None, Wanted(tool="bash"))
    assert bash
    assert bash == [hit for hit in everything if (hit.tool_name or "").lower() == "bash"]
    codex = _hits(archive, "exit OR echo OR script", Scope(agent="codex"))
    assert {hit.run_id for hit in codex} == {hit.run_id for hit in everything if hit.run_id.startswith("01a1e")}
    both = _hits(archive, "echo", Scope(grep=parse_query("仔细看")))
    assert {hit.run_id for hit in both} <= {CLAUDE, PARENT, GEMINI}
    assert both
    assert _hits(archive, "echo", Scope(period=Period(until=0))) == []


def test_a_period_splits_the_hits(archive: IndexReader) -> None:
    """What was said before a moment and after it is all there is, and nothing later is among the former."""
    everything = _hits(archive, "echo")
    moments = sorted(moment for hit in everything if (moment := moment_of(hit.timestamp)) is not None)
    middle = moments[len(moments) // 2]
    cut = int(middle.timestamp() * 1000) // 1000 * 1000
    before = _hits(archive, "echo", Scope(period=Period(until=cut)))
    after = _hits(archive, "echo", Scope(period=Period(since=cut)))
    assert before
    assert after
    assert len(before) + len(after) == len(everything)
    # An agent's clock may go back; then an event goes by the latest time before it, never by an earlier one.
    assert all((moment_of(hit.timestamp) or middle) <= middle for hit in before)


def test_errors_are_failed_tools_and_error_events(archive: IndexReader, texts: list[tuple[Event, set[str]]]) -> None:
    """As the agents told them."""
    hits = _hits(archive, "exit OR exist", None, Wanted(is_error=True))
    expected = [
        event
        for event, words in texts
        if words & {"exit", "exist"}
        and (event.type == "error" or (isinstance(event.payload, ToolPayload) and event.payload.error))
    ]
    assert len(hits) == len(expected) > 2


def test_a_line_without_a_time_does_not_move_the_events_after_it_to_the_time_of_the_file(tmp_path: Path) -> None:
    """Claude Code begins many sessions with such a line; the file may have been copied months later."""
    from archive_cases import claude_line, session_path, synced, written

    other = "1f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f0"
    untimed = claude_line(1, text="no time", timestamp=None)
    old = written(session_path(tmp_path / "home"), untimed, claude_line(2, text="hello of March"))
    later = claude_line(3, text="hello of April", session=other, timestamp="2026-04-01T10:00:00.000Z")
    written(session_path(tmp_path / "home", other), later)
    os.utime(old, (1_780_000_000, 1_780_000_000))  # in May
    synced(tmp_path / "home", tmp_path / "archive")
    with open_archive(tmp_path / "archive") as archive:
        assert [hit.timestamp[:7] for hit in archive.search("hello")] == ["2026-04", "2026-03"]
        assert [hit.timestamp[:7] for hit in archive.search("hello", since="2026-03-15")] == ["2026-04"]


LONG = "漢字かな" * 750


def test_a_long_phrase_without_spaces_is_found_whole(tmp_path: Path) -> None:
    """3,000 characters: the index is asked for the beginning, and what it finds is looked through to the end."""
    from archive_cases import claude_line, session_path, synced, written

    lines = [
        claude_line(1, "user", f"Hier: {LONG}, und mehr"),
        claude_line(2, "user", LONG[:-1] + "字"),
        *(claude_line(number, "user", "漢字かな" * 400) for number in range(3, 40)),
    ]
    written(session_path(tmp_path / "home"), *lines)
    synced(tmp_path / "home", tmp_path / "archive")
    with open_archive(tmp_path / "archive") as archive:
        assert [hit.seq for hit in archive.search(LONG)] == [1]
        assert [hit.seq for hit in archive.search(f'"{LONG}" mehr')] == [1]
        assert len(archive.search(LONG[:2000], limit=1)) == 1
        assert len(archive.search("漢" * 30_000)) == 0
        options = SearchOptions(role=None, tool=None, errors=False, rank=False, limit=1, mask=None)
        assert searched(archive, "漢字かな" * 300, options, count=True)[1] == 39


@pytest.mark.parametrize("query", [f"{LONG} OR hello", f"hello NOT {LONG}", f"({LONG})"])
def test_a_long_phrase_stands_alone_or_with_others_that_must_be_there(query: str) -> None:
    """What the index cannot be asked for whole cannot be excluded by it, either."""
    with pytest.raises(InvalidQuery, match="more than 64 words"):
        parse_query(query)


def test_runs_are_not_looked_for_by_a_long_phrase(tmp_path: Path) -> None:
    """It is refused, and not looked for by its beginning alone."""
    with pytest.raises(InvalidQuery, match="too long"):
        open_archive(tmp_path).runs(grep=LONG)
