"""Runs that are sent to a collector as they grow: each span once it is settled, and never twice as it was."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archive_cases import SESSION, claude_line, session_path, subagent_path, synced, written
from collecting import Collecting, collector
from golden_cases import CASES, name_of, run_of
from stenograph import open_archive
from stenograph.archive.store.forgotten import ForgottenRun, add_forgotten
from stenograph.archive.store.home import home_of
from stenograph.errors import SourceError, StoreError
from stenograph.export.collector import collector_of
from stenograph.export.feeding import process
from stenograph.export.feeding.feed import Feed, FeedSetting, Sent
from stenograph.export.feeding.process import Delays, Pipe, feed_until_closed
from stenograph.export.feeding.sent import SentRun, SentSpans
from stenograph.export.otlp_trace import Trace
from stenograph.export.sending import NotSent
from stenograph.fold.losses import LossReport
from stenograph.runs.forgetting import forget_runs, plan_of_runs
from stenograph.runs.opening import open_run

LINES = [
    claude_line(1),
    claude_line(2, "call"),
    claude_line(3, "result"),
    claude_line(4, "assistant"),
    claude_line(5),
    claude_line(6, "call"),
    claude_line(7, "result"),
    claude_line(8, "assistant"),
]


NEVER = 1e12


@pytest.fixture
def taken() -> Iterator[Collecting]:
    """A collector on loopback."""
    with collector() as there:
        yield there


@contextmanager
def feeding(archive: Path, url: str, **setting: Any) -> Iterator[tuple[Feed, list[str]]]:
    """A feed of everything in an archive, for which a run that ended is over at once, and what it said."""
    told: list[str] = []
    home_of(archive).make()
    made = FeedSetting(
        **{"archive": str(archive), "collector": collector_of(url, environment={}), "began_ms": 0} | setting
    )
    with SentSpans(home_of(archive).sent, made.destination, made.began_ms) as sent:
        yield Feed(home_of(archive), made, sent, told.append, quiet=0.0), told


def whole(archive: Path | None, run_id: str = SESSION, **options: str) -> dict[str, dict[str, Any]]:
    """Every span of a run, by its id."""
    chosen = {"content": "delta", "vocabulary": "genai"} | options
    with open_run(run_id, archive=archive) as run:
        return {span["spanId"]: span for span in Trace(run.events(), LossReport("otlp"), **chosen).spans()}


def aged(path: Path) -> Path:
    """A file that was not written lately, so that its run does not live."""
    os.utime(path, (1, 1))
    return path


def test_a_run_is_sent_as_it_grows(taken: Collecting, tmp_path: Path) -> None:
    """An answer when the agent goes on, a call when it has its result, the agent when the run is over; each once."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    came = []
    with feeding(archive, taken.url) as (feed, told):
        feed._quiet = NEVER
        for line in LINES:
            written(session_path(home), line)
            synced(home, archive)
            feed.look()
            came.append([name.split()[0] for name in taken.names])
        assert came[:6] == [
            [],
            [],
            ["execute_tool"],
            ["execute_tool", "chat"],
            ["execute_tool", "chat", "chat"],
            ["execute_tool", "chat", "chat"],
        ]
        feed._quiet = 0.0
        aged(session_path(home))
        assert feed.look().spans == len(whole(archive)) - len(came[-1])
        assert feed.look() == Sent()
    assert taken.spans == whole(archive)
    assert len(taken.came) == len(taken.spans) == 7
    assert told == []


@pytest.mark.parametrize(
    "case", [case for case in CASES if name_of(case) != "codex_rollout/same-ids"][::7], ids=name_of
)
def test_settled_spans_are_those_of_the_whole_run(case: Path) -> None:
    """However far a run is told, what is settled is there in the end, under the same id and of the same name."""
    events = run_of(case)
    step = max(1, len(events) // 12)
    final = {span["spanId"]: span["name"] for span in Trace(events, LossReport("otlp"), "delta", "genai").spans()}
    known: set[str] = set()
    for end in range(1, len(events), step):
        trace = Trace(events[:end], LossReport("otlp"), "delta", "genai")
        settled = {span["spanId"]: span["name"] for span in trace.spans() if span["spanId"] not in trace.unsettled}
        assert settled.items() <= final.items()
        assert known <= settled.keys()
        known = set(settled)


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.sampled_from(["write", "look", "fail", "kill", "restart"]), max_size=25),
    vocabulary=st.sampled_from(["genai", "openinference"]),
)
def test_whatever_fails_the_collector_has_each_span_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], vocabulary: str
) -> None:
    """Failing collectors, kills between the answer and the note of it, new processes: by id, the whole run and no more.

    What came twice is what was not noted, and it came as it was.
    """
    folder = tmp_path_factory.mktemp("feeding")
    path = written(folder / f"{SESSION}.jsonl", LINES[0])
    lines, kills = iter(LINES[1:]), 0
    with collector() as taken:
        remaining = [*steps, "restart", "look"]
        while remaining:
            with feeding(folder, taken.url, vocabulary=vocabulary) as (feed, _):
                feed._changed = lambda: [(str(path), SentRun(None, is_over=False))]  # type: ignore[method-assign]
                while remaining and (step := remaining.pop(0)) != "restart":
                    if step == "write":
                        written(path, next(lines, b""))
                    elif step == "look":
                        feed.look()
                    elif step == "fail":
                        taken.answers.append((503, {}, b""))
                        with suppress(NotSent):
                            feed.look()
                        taken.answers.clear()
                    else:
                        kills += _killed(feed)
        written(path, *lines)
        with feeding(folder, taken.url, vocabulary=vocabulary) as (feed, _):
            feed._changed = lambda: [(str(path), SentRun(None, is_over=True))]  # type: ignore[method-assign]
            feed.look()
            assert feed.look() == Sent()
    assert taken.spans == whole(None, str(path), vocabulary=vocabulary)
    assert len(taken.came) - len(taken.spans) <= kills * len(taken.spans)
    assert all(span == taken.spans[id_] for id_, span in taken.came)


def _killed(feed: Feed) -> int:
    """A look that ends when the collector has accepted something, and before that is noted; whether it did."""

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    noted, feed._sent.note_spans = feed._sent.note_spans, die  # type: ignore[method-assign,assignment]
    try:
        feed.look()
    except KeyboardInterrupt:
        return 1
    finally:
        feed._sent.note_spans = noted  # type: ignore[method-assign]
    return 0


def test_a_run_that_goes_on_after_all(taken: Collecting, tmp_path: Path) -> None:
    """The agent's span is sent again under its id, with its new end; nothing else that was there is."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    aged(written(session_path(home), *LINES[:4]))
    synced(home, archive)
    with feeding(archive, taken.url) as (feed, _):
        feed.look()
        first, before = dict(taken.spans), len(taken.came)
        aged(written(session_path(home), *LINES[4:]))
        synced(home, archive)
        feed.look()
    again = [id_ for id_, _ in taken.came[before:] if id_ in first]
    assert [first[id_]["name"] for id_ in again] == ["invoke_agent claude"]
    assert taken.spans == whole(archive)


def test_subagents_hang_below_their_call(taken: Collecting, tmp_path: Path) -> None:
    """The tree of the collector is the tree of the export."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    aged(written(session_path(home), *LINES))
    path = written(subagent_path(home), claude_line(9, "assistant", isSidechain=True, agentId="a1"))
    path.with_suffix(".meta.json").write_text('{"toolUseId": "toolu_00000002"}')
    aged(path)
    synced(home, archive)
    with feeding(archive, taken.url) as (feed, _):
        feed.look()
    (agent,) = [span for span in taken.spans.values() if span["name"] == "invoke_agent subagent:a1"]
    assert taken.spans[agent["parentSpanId"]]["name"] == "execute_tool Bash"
    assert taken.spans == whole(archive)


def test_what_ended_before_is_not_sent(taken: Collecting, tmp_path: Path) -> None:
    """Neither at first nor when the index is made anew; a run that goes on is sent whole."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    aged(written(session_path(home), *LINES))
    written(tmp_path / "chats" / "old.json", b'[{"role": "user", "content": "Hi."}]')
    synced(home, archive)
    with open_archive(archive) as opened:
        opened.sync(paths=[str(tmp_path / "chats")])
        assert len(opened.runs()) == 2
    began = int(time.time() * 1000)
    with feeding(archive, taken.url, began_ms=began) as (feed, _):
        assert feed.look() == Sent()
    home_of(archive).index.unlink()
    synced(home, archive)
    with feeding(archive, taken.url, began_ms=began + 10**9) as (feed, _):  # what counts is when it began first
        assert feed.look() == Sent()
        aged(written(session_path(home), claude_line(9, timestamp="2099-01-01T00:00:00Z")))
        synced(home, archive)
        feed.look()
    assert {span["name"] for span in taken.spans.values()} == {"execute_tool Bash", "chat claude-x"}  # it is not quiet
    assert len(taken.spans) == 6


def test_spans_that_are_refused_do_not_hold_up_the_others(taken: Collecting, tmp_path: Path) -> None:
    """A request that is too large is sent in parts; a span that is refused is named and left out until it changes."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    aged(written(session_path(home), *LINES))
    synced(home, archive)
    taken.most_spans, taken.refused = 2, {"execute_tool Bash"}
    with feeding(archive, taken.url) as (feed, told):
        assert feed.look().spans == 5
        assert feed.look() == Sent()
    assert sorted(taken.names) == ["chat claude-x"] * 4 + ["invoke_agent claude"]
    assert [("left out" in line, "400" in line) for line in told] == [(True, True)] * 2


def test_what_a_collector_leaves_out_is_said(taken: Collecting, tmp_path: Path) -> None:
    """By its own words."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    aged(written(session_path(home), *LINES))
    synced(home, archive)
    body = b'{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}'
    taken.answers.append((200, {"Content-Type": "application/json"}, body))
    with feeding(archive, taken.url) as (feed, told):
        assert feed.look().spans == 5
    (line,) = told
    assert "2 spans" in line
    assert "too old" in line


def test_another_vocabulary_is_another_destination(taken: Collecting, tmp_path: Path) -> None:
    """Secrets are masked where that is asked for; what was sent in one form is not taken for sent in another."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    secret = "ghp_" + "aB3" * 12
    aged(written(session_path(home), claude_line(1, text=f"Use {secret}."), *LINES[1:]))
    synced(home, archive)
    for setting in ({}, {"vocabulary": "openinference"}, {"content": "none"}, {"is_redacted": True}):
        with feeding(archive, taken.url, **setting) as (feed, _):
            assert feed.look().spans == 7
        assert (secret in str(taken.came[-7:])) == ("content" not in setting and "is_redacted" not in setting)


def test_nothing_stays_of_a_run_that_was_forgotten(taken: Collecting, tmp_path: Path) -> None:
    """Not even hashes; one that is kept again is not forgotten each time."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    aged(written(session_path(home), *LINES))
    synced(home, archive)
    with feeding(archive, taken.url) as (feed, _):
        feed.look()
        listed = ForgottenRun(run_id=SESSION, at="", by="")
        add_forgotten(home_of(archive).forgotten, [listed])  # and it is there all the same: kept again
        assert feed.look() == Sent()
        forget_runs(home_of(archive), plan_of_runs(home_of(archive), [SESSION]), why="", by="", at="")
        feed.look()
        assert feed._sent.runs() == {}
        assert feed._sent.digests(SESSION) == {}


def test_a_run_that_cannot_be_read_does_not_hold_up_the_others(taken: Collecting, tmp_path: Path) -> None:
    """It is named, once."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    other = "1f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f1"
    aged(written(session_path(home), *LINES))
    aged(written(session_path(home, other), *(claude_line(n, "assistant", session=other) for n in (1, 2))))
    synced(home, archive)
    with feeding(archive, taken.url) as (feed, told):
        sending = feed._send_run

        def damaged(run_id: str, **more: Any) -> int:
            if run_id == SESSION:
                raise SourceError("damaged", "x")
            return sending(run_id, **more)

        feed._send_run = damaged  # type: ignore[method-assign]
        assert feed.look().runs == 1
        assert feed.look() == Sent()
    assert [SESSION in line for line in told] == [True]


def test_a_note_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """Nothing is sent then that would be sent again each time."""
    (tmp_path / "sent.db").mkdir()
    with pytest.raises(StoreError, match=r"sent\.db"):
        SentSpans(tmp_path / "sent.db", "x", 0)


def test_a_collector_that_fails_is_left_alone_longer_each_time() -> None:
    """Up to five minutes; at least as long as it asks for, within that; from the start again once it works."""
    delays = Delays()
    first = [delays.next(None) for _ in range(12)]
    assert all(0.5 * 2**n <= delay <= 2**n for n, delay in enumerate(first[:8]))
    assert all(150 <= delay <= 300 for delay in first[9:])
    delays.reset()
    assert delays.next(None) <= 1
    assert delays.next(60) == 60
    assert delays.next(10**9) == 300


def test_a_failure_is_said_once_and_so_is_its_end(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """However often it is tried; it is tried a last time when the pipe closes."""
    monkeypatch.setattr(process, "FIRST_DELAY", 0.001)
    monkeypatch.setattr(process, "SHORTEST_REST", 0.001)
    monkeypatch.setattr(process, "TICK", 0.001)
    reading, writing = os.pipe()
    results: list[Any] = [NotSent("no\nroom", "u"), NotSent("no\nroom", "u"), NotSent("gone", "u"), Sent(2, 1), Sent()]

    class Scripted:
        def look(self, _: float) -> Sent:
            result = results.pop(0)
            if not results:
                os.close(writing)
                results.extend([Sent(1, 1), Sent()])
            if isinstance(result, Exception):
                raise result
            return result  # type: ignore[no-any-return]

    os.write(writing, b"..")
    setting = FeedSetting(archive=str(tmp_path), collector=collector_of("http://h", environment={}), began_ms=0)
    try:
        feed_until_closed(Scripted(), Pipe(reading), setting)  # type: ignore[arg-type]
    finally:
        os.close(reading)
    out, err = capfd.readouterr()
    assert err.splitlines() == [
        "steno: no␊room; recording continues, and sending is tried again",
        "steno: gone; recording continues, and sending is tried again",
        "steno: sending to http://h/v1/traces works again",
    ]
    assert [line.split(" ", 1)[1] for line in out.splitlines()] == [
        "sent 2 spans of 1 run to http://h/v1/traces",
        "sent 1 span of 1 run to http://h/v1/traces",
    ]
