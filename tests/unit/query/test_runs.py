"""The list of runs, and which runs are meant."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from archive_of_goldens import CHILD, CLAUDE, PARENT, WORKFLOW, converted, each_call_once, make_archive
from stenograph.archive import IndexReader
from stenograph.errors import InvalidQuery
from stenograph.fold.calls import pair_calls
from stenograph.fold.usage import usage_totals
from stenograph.model import Event
from stenograph.query.language import parse_query
from stenograph.query.period import Period, period_of
from stenograph.query.prices import load_prices
from stenograph.query.runs import RunLine, list_runs
from stenograph.query.scope import Scope
from stenograph.query.short_ids import short_ids


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An archive and the sessions in it."""
    return make_archive(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def archive(made: tuple[Path, Path]) -> Iterator[IndexReader]:
    """The archive, open."""
    with IndexReader(made[0]) as opened:
        yield opened


@pytest.fixture(scope="module")
def by_run(made: tuple[Path, Path]) -> dict[str, list[Event]]:
    """The events of each run, as the converter gives them."""
    found: dict[str, list[Event]] = defaultdict(list)
    for event in converted(made[1]):
        found[event.run_id].append(event)
    return found


def _all(archive: IndexReader, scope: Scope | None = None) -> dict[str, RunLine]:
    runs, total = list_runs(archive.index, scope or Scope(), load_prices())
    assert total == len(runs)
    return {run.run_id: run for run in runs}


def test_every_run_is_there_with_its_counts(archive: IndexReader, by_run: dict[str, list[Event]]) -> None:
    """Events, turns and tool calls are what the events themselves come to."""
    runs = _all(archive)
    assert runs.keys() == by_run.keys()
    for run_id, events in by_run.items():
        run = runs[run_id]
        assert run.events == len(events)
        assert run.turns == sum(event.type == "message.user" and event.source == "main" for event in events)
        (copied,) = archive.index.execute("SELECT copied_calls FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        assert run.tools + copied == sum(pair.call is not None for pair in pair_calls(events))
    everything = (event for events in by_run.values() for event in events)
    assert sum(run.tools for run in runs.values()) == len(each_call_once(everything))


def test_the_tokens_of_all_runs_are_each_call_once(archive: IndexReader, by_run: dict[str, list[Event]]) -> None:
    """A fork repeats the calls of the run it continues; they count there, and not again."""
    runs = _all(archive).values()
    expected = usage_totals(event for events in by_run.values() for event in events).total
    assert sum(run.input_tokens for run in runs) == expected.input_tokens
    assert sum(run.output_tokens for run in runs) == expected.output_tokens
    assert sum(run.cache_read_input_tokens for run in runs) == expected.cache_read_input_tokens
    assert sum(run.model_calls for run in runs) == expected.records


def test_the_newest_come_first_and_a_limit_says_what_it_left_out(archive: IndexReader) -> None:
    """By their last events."""
    runs = list(_all(archive).values())
    moments = [datetime.fromisoformat(run.ended_at or "") for run in runs]
    assert moments == sorted(moments, reverse=True)
    some, total = list_runs(archive.index, Scope(), load_prices(), limit=3)
    assert [run.run_id for run in some] == [run.run_id for run in runs[:3]]
    assert total == len(runs)


def test_children_name_their_parents(archive: IndexReader) -> None:
    """Threads that Codex spawned, and runs that a workflow called."""
    runs = _all(archive)
    assert runs[CHILD].parent_run_id == PARENT
    assert WORKFLOW in {run.parent_run_id for run in runs.values()}
    assert any(run.forked_from in runs for run in runs.values())


def test_what_has_no_price_costs_nothing_that_could_be_known(archive: IndexReader) -> None:
    """A model that the table does not have makes the cost null and is named; others have a cost."""
    runs = _all(archive)
    assert (runs[WORKFLOW].cost_usd, runs[WORKFLOW].unpriced_models) == (None, ["scripted"])
    assert runs[CLAUDE].cost_usd is not None
    assert runs[CLAUDE].cost_usd > 0
    assert runs[CLAUDE].unpriced_models == []


def test_short_ids_are_unique_and_no_longer_than_needed(archive: IndexReader) -> None:
    """Also for ids that begin with the same clock."""
    names = short_ids(archive.index)
    assert len(set(names.values())) == len(names)
    for run_id, name in names.items():
        assert run_id.startswith(name)
        assert len(name) >= 8
        assert archive.find_run(name)[1] == run_id
        if len(name) > 8:
            assert sum(other.startswith(name[:-1]) for other in names) > 1


@pytest.mark.parametrize(
    ("scope", "wanted"),
    [
        (Scope(agent="codex"), lambda run: run.agent == "codex"),
        (Scope(agent="Claude-Code"), lambda run: run.format == "claude_code"),
        (Scope(agent="c*"), lambda run: False),
        (Scope(project="PROJ"), lambda run: "proj" in (run.cwd or "").lower()),
        (Scope(project="/home/user/project"), lambda run: (run.cwd or "").startswith("/home/user/project")),
        (Scope(grep=parse_query("script:errand")), lambda run: run.run_id in (CLAUDE, PARENT) or run.agent == "gemini"),
        (Scope(grep=parse_query("zebrafish")), lambda run: False),
    ],
)
def test_a_scope_leaves_out_what_is_not_meant(archive: IndexReader, scope: Scope, wanted: object) -> None:
    """By agent, project and what was said."""
    runs = _all(archive)
    found = _all(archive, scope).keys()
    expected = {run_id for run_id, run in runs.items() if wanted(run)}  # type: ignore[operator]
    if scope.grep is not None and expected:
        expected = {run_id for run_id in expected if "[[script:errand]]" in (runs[run_id].first_prompt or "")}
    assert found == expected


def test_a_period_has_the_runs_that_were_going_on_in_it(archive: IndexReader) -> None:
    """Not only those that began in it; its end does not belong to it."""
    run = _all(archive)[CLAUDE]
    begun = int(datetime.fromisoformat(run.started_at or "").timestamp() * 1000)
    ended = int(datetime.fromisoformat(run.ended_at or "").timestamp() * 1000)
    for since, until, is_in in (
        (begun + 1, ended, True),
        (None, begun, False),
        (None, begun + 1, True),
        (ended, None, True),
        (ended + 1, None, False),
    ):
        assert (CLAUDE in _all(archive, Scope(period=Period(since, until)))) is is_in


NOW = datetime(2026, 11, 16, 12, 30, tzinfo=UTC)


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose days begin nine hours before those of UTC."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    os.environ.setdefault("TZ", "")
    if not os.environ["TZ"]:
        del os.environ["TZ"]
    time.tzset()


@pytest.mark.usefixtures("tokyo")
@pytest.mark.parametrize(
    ("since", "until", "begin", "end"),
    [
        ("2026-11-01", "2026-11-01", "2026-10-31T15:00Z", "2026-11-01T15:00Z"),
        ("today", "today", "2026-11-15T15:00Z", "2026-11-16T15:00Z"),
        ("yesterday", "yesterday", "2026-11-14T15:00Z", "2026-11-15T15:00Z"),
        ("24h", "30m", "2026-11-15T12:30Z", "2026-11-16T12:00Z"),
        ("2w", "1d", "2026-11-02T12:30Z", "2026-11-15T12:30Z"),
        ("2026-11-01T08:00", "2026-11-01T08:00Z", "2026-10-31T23:00Z", "2026-11-01T08:00Z"),
    ],
)
def test_times_are_understood_as_people_say_them(since: str, until: str, begin: str, end: str) -> None:
    """Days are those of this machine, and the last one counts whole."""
    period = period_of(since, until, NOW)
    assert datetime.fromtimestamp((period.since or 0) / 1000, UTC) == datetime.fromisoformat(begin)
    assert datetime.fromtimestamp((period.until or 0) / 1000, UTC) == datetime.fromisoformat(end)


@pytest.mark.parametrize("text", ["", "soon", "7", "7x", "2026-13-01", "99999999d", "999999d", "now'; DROP TABLE runs"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """With what would be one."""
    with pytest.raises(InvalidQuery, match="is not a time; give a day"):
        period_of(text, None, NOW)
