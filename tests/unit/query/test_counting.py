"""Tokens and dollars of whole archives, from files as agents write them: each call once, at its own price."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, claude_line, session_path, synced, written
from archive_of_goldens import copy_case
from stenograph.archive import IndexReader, home_of
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.writer import Store
from stenograph.fold.prices import Cost
from stenograph.fold.usage import UsageCounter, usage_totals
from stenograph.query.archive_database import views_of
from stenograph.query.prices import load_prices
from stenograph.query.runs import RunLine, list_runs
from stenograph.query.scope import Scope
from stenograph.query.stats import stats
from stenograph.render.html import html_page
from stenograph.render.markdown import markdown_page
from stenograph.sources.conversion import convert

OTHER = "11111111-4b5a-4978-8695-a4b3c2d1e0f0"
ANSWER = "msg_01R62tkBvD4mQxLw8ZyN5cHa"


def _answer(number: int, id: str, usage: dict[str, Any], model: str = "claude-opus-4-8", **more: Any) -> bytes:
    message = {"id": id, "role": "assistant", "model": model, "content": [{"type": "text", "text": f"answer {number}"}]}
    return claude_line(number, "assistant", message={**message, "usage": usage}, **more)


def _totals(archive: Path, by: str = "day") -> dict[str, Any]:
    with IndexReader(archive) as opened:
        return stats(opened.index, Scope(), load_prices(), by).as_dict()


def _runs(archive: Path) -> dict[str, RunLine]:
    with IndexReader(archive) as opened:
        return {run.run_id: run for run in list_runs(opened.index, Scope(), load_prices())[0]}


def _folder_synced(folder: Path, archive: Path) -> None:
    with Store(home_of(archive)) as store:
        assert sync(store, [Root(folder.resolve(), None)]).failed == 0


def test_the_last_report_of_a_call_counts_also_when_it_is_smaller(tmp_path: Path) -> None:
    """Claude Code with GLM reports 27,693 in and 0 out, then 26,158 in and 116 out; the transcript says the same."""
    path = session_path(tmp_path)
    first = _answer(1, "msg_2026021208541200aa", {"input_tokens": 27_693, "output_tokens": 0}, "glm-5")
    last = _answer(2, "msg_2026021208541200aa", {"input_tokens": 26_158, "output_tokens": 116}, "glm-5")
    for lines in ((first,), (last,)):  # also when the two come in two syncs
        synced(written(path, *lines).parents[3], tmp_path / "archive")
    totals = _totals(tmp_path / "archive")["totals"]
    assert (totals["input_tokens"], totals["output_tokens"], totals["model_calls"]) == (26_158, 116, 1)
    run = _runs(tmp_path / "archive")[SESSION]
    assert (run.input_tokens, run.output_tokens) == (26_158, 116)
    told = usage_totals(convert(path)).total
    assert (told.input_tokens, told.output_tokens) == (26_158, 116)


def _copilot_session(folder: Path, number: int, answers: list[int]) -> None:
    session = f"5fad63ac-fb72-4149-8b2c-{number:012}"
    start = {"sessionId": session, "copilotVersion": "1.0.102", "startTime": "2026-11-15T10:00:00.000Z"}
    records: list[tuple[str, dict[str, Any]]] = [("session.start", start)]
    for answer in answers:
        usage = {"model": "qwen3", "inputTokens": 1000, "outputTokens": 100, "apiCallId": f"chatcmpl-{answer}"}
        records.append(("session.usage_record", {"usage": usage}))
    lines = [
        {
            "type": kind,
            "data": data,
            "id": f"0f1b46d0-c547-4a99-{number:04x}-{place:012x}",
            "timestamp": f"2026-11-15T{number // 4:02}:{place:02}:{number % 4:02}.000Z",
        }
        for place, (kind, data) in enumerate(records)
    ]
    path = folder / session / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_calls_that_a_local_server_numbers_are_all_counted(tmp_path: Path) -> None:
    """Ollama numbers answers 0 to 998: 40 sessions with 25 calls each have many ids in common."""
    chance = random.Random(7)
    for number in range(40):
        _copilot_session(tmp_path / "sessions", number, [chance.randrange(999) for _ in range(25)])
    _folder_synced(tmp_path / "sessions", tmp_path / "archive")
    totals = _totals(tmp_path / "archive")["totals"]
    assert (totals["model_calls"], totals["input_tokens"], totals["output_tokens"]) == (1000, 1_000_000, 100_000)
    whole = [event for path in sorted((tmp_path / "sessions").iterdir()) for event in convert(path)]
    assert usage_totals(whole).total.records == 1000


def test_a_chat_log_with_one_id_twice_has_two_calls(tmp_path: Path) -> None:
    """Also inside a session a number may come again; the same answer told again is one call."""
    path = tmp_path / "chat.jsonl"
    lines = []
    for text, out in (("one", 10), ("two", 20), ("two", 20)):
        body = {"messages": [{"role": "user", "content": f"say {text}"}]}
        choices = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]
        usage = {"prompt_tokens": 5, "completion_tokens": out}
        answer = {
            "id": "chatcmpl-17",
            "object": "chat.completion",
            "model": "qwen3",
            "choices": choices,
            "usage": usage,
        }
        lines.append({"request": body, "response": answer})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    total = usage_totals(convert(path)).total
    assert (total.records, total.input_tokens, total.output_tokens) == (2, 10, 30)


def test_forks_of_claude_count_once_whatever_their_request_ids_and_times(tmp_path: Path) -> None:
    """`--fork-session` copies lines as they are, a resume of 1.x gives new times and drops the request id."""
    usage = {"input_tokens": 10, "output_tokens": 7, "cache_creation_input_tokens": 16_114}
    written(session_path(tmp_path), _answer(1, ANSWER, usage, requestId="req_1"), _answer(2, "msg_2", usage))
    copied = _answer(1, ANSWER, usage, sessionId=OTHER, timestamp="2026-03-02T09:00:00.000Z")
    own = _answer(9, "msg_01R62tkBvD4mQxLw8ZyN5cHb", usage, sessionId=OTHER)
    written(session_path(tmp_path, OTHER), copied, _answer(2, "msg_2", usage, sessionId=OTHER), own)
    synced(tmp_path, tmp_path / "archive")
    totals = _totals(tmp_path / "archive")["totals"]
    assert (totals["model_calls"], totals["output_tokens"]) == (3, 21)


@pytest.mark.parametrize("first", [SESSION, OTHER])
def test_a_call_belongs_to_the_run_that_made_it_in_whatever_order_runs_are_archived(tmp_path: Path, first: str) -> None:
    """A copy with a later time moves to its original when that is found, on its day, in every sum."""
    usage = {"input_tokens": 10, "output_tokens": 7}
    sessions = {
        SESSION: [_answer(1, ANSWER, usage)],
        OTHER: [
            _answer(1, ANSWER, usage, sessionId=OTHER, timestamp="2026-03-05T09:00:00.000Z"),
            _answer(2, "msg_01R62tkBvD4mQxLw8ZyN5cHb", usage, sessionId=OTHER, timestamp="2026-03-05T09:01:00.000Z"),
        ],
    }
    for session in (first, *(each for each in sessions if each != first)):
        written(session_path(tmp_path, session), *sessions[session])
        synced(tmp_path, tmp_path / "archive")
    runs = _runs(tmp_path / "archive")
    assert {key: (run.model_calls, run.output_tokens) for key, run in runs.items()} == {SESSION: (1, 7), OTHER: (1, 7)}
    days = {row["day"]: row["output_tokens"] for row in _totals(tmp_path / "archive")["rows"]}
    assert list(days.values()) == [7, 7]
    with IndexReader(tmp_path / "archive") as archive:
        sums = archive.index.execute("SELECT run_id, output_tokens FROM runs").fetchall()
    assert dict(sums) == {SESSION: 7, OTHER: 7}


@pytest.mark.parametrize(("case", "calls"), [("fork-legacy", 3), ("resume-and-fork", 3)])
def test_forks_of_codex_count_once(tmp_path: Path, case: str, calls: int) -> None:
    """An old fork copies its origin with new times, and here with ids that a scripted server numbered."""
    folder = copy_case("codex_rollout", case, tmp_path / "sessions")
    _folder_synced(folder, tmp_path / "archive")
    distinct = set()
    for path in folder.rglob("*.jsonl"):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            if record["type"] == "token_usage_record":
                distinct.add(record["payload"]["response_id"])
    assert _totals(tmp_path / "archive")["totals"]["model_calls"] == len(distinct) == calls


def _one_hour_and_fast(home: Path) -> float:
    """A session with each thing that changes a price, and what it costs by hand."""
    hour = {
        "input_tokens": 100,
        "output_tokens": 1000,
        "cache_read_input_tokens": 2000,
        "cache_creation_input_tokens": 30_000,
        "cache_creation": {"ephemeral_1h_input_tokens": 26_900, "ephemeral_5m_input_tokens": 3100},
    }
    lines = [
        _answer(1, "msg_01AAAAbbbbCCCCdddd1234EEEE", {**hour, "service_tier": "standard"}),
        _answer(2, "msg_01AAAAbbbbCCCCdddd1234EEEF", {**hour, "speed": "fast"}),
        _answer(3, "msg_01AAAAbbbbCCCCdddd1234EEEG", {**hour, "service_tier": "batch"}),
        _answer(
            4, "msg_01AAAAbbbbCCCCdddd1234EEEH", {"input_tokens": 200_001, "output_tokens": 10}, "claude-sonnet-4-5"
        ),
    ]
    written(session_path(home), *lines)
    standard = (100 * 5 + 2000 * 0.5 + 3100 * 6.25 + 26_900 * 10 + 1000 * 25) / 1e6
    return standard * (1 + 2 + 0.5) + (200_001 * 6 + 10 * 22.5) / 1e6


def test_an_hour_fast_mode_batches_and_long_inputs_have_their_price_everywhere(tmp_path: Path) -> None:
    """`ls`, `stats` by anything and SQL say the same dollars."""
    dollars = pytest.approx(_one_hour_and_fast(tmp_path), abs=1e-6)
    synced(tmp_path, tmp_path / "archive")
    run = _runs(tmp_path / "archive")[SESSION]
    assert (run.cost_usd, run.cost_is_partial, run.cache_creation_1h_input_tokens) == (dollars, False, 3 * 26_900)
    for by in ("day", "model", "agent", "tool"):
        found = _totals(tmp_path / "archive", by)
        assert found["totals"]["cost_usd"] == dollars
        assert sum(row["cost_usd"] for row in found["rows"]) == dollars
    with IndexReader(tmp_path / "archive") as archive, views_of(archive, load_prices()) as views:
        assert views.execute("SELECT cost_usd, cost_is_partial FROM runs").fetchall() == [(dollars, 0)]
        assert views.execute("SELECT sum(cost_usd) FROM usage").fetchone() == (dollars,)
        terms = views.execute("SELECT speed, service_tier, cache_creation_1h_input_tokens FROM usage ORDER BY seq")
        assert terms.fetchall()[:3] == [(None, "standard", 26_900), ("fast", None, 26_900), (None, "batch", 26_900)]


def test_the_page_says_the_dollars_of_the_archive(tmp_path: Path) -> None:
    """As HTML and as Markdown; Python adds up the same from the events."""
    dollars = _one_hour_and_fast(tmp_path)
    path = session_path(tmp_path)
    pages = [page(lambda: convert(path), prices=load_prices()) for page in (html_page, markdown_page)]
    assert [f"${dollars:.2f}" in "".join(page) for page in pages] == [True, True]
    counter = UsageCounter()
    for event in convert(path):
        counter.add(event)
    assert load_prices().total(counter.counting()) == Cost(pytest.approx(dollars))


def test_an_unknown_part_makes_the_cost_partial_everywhere(tmp_path: Path) -> None:
    """A model without a price, or a tier without one; a cost that nothing is known of is null."""
    known = {"input_tokens": 1_000_000, "output_tokens": 0}
    written(
        session_path(tmp_path),
        _answer(1, "msg_01AAAAbbbbCCCCdddd1234EEEE", known),
        _answer(2, "msg_01AAAAbbbbCCCCdddd1234EEEF", known, "secret-model"),
    )
    written(session_path(tmp_path, OTHER), _answer(3, "msg_3", known, "secret-model", sessionId=OTHER))
    third = "22222222-4b5a-4978-8695-a4b3c2d1e0f0"
    written(session_path(tmp_path, third), _answer(4, "msg_4", {**known, "service_tier": "priority"}, sessionId=third))
    synced(tmp_path, tmp_path / "archive")
    runs = _runs(tmp_path / "archive")
    costs = {run_id: (run.cost_usd, run.cost_is_partial) for run_id, run in runs.items()}
    assert costs == {SESSION: (5.0, True), OTHER: (None, True), third: (5.0, True)}
    totals = _totals(tmp_path / "archive")["totals"]
    assert (totals["cost_usd"], totals["cost_is_partial"], totals["unpriced_models"]) == (10.0, True, ["secret-model"])
    with IndexReader(tmp_path / "archive") as archive, views_of(archive, load_prices()) as views:
        rows = views.execute("SELECT run_id, cost_usd, cost_is_partial FROM runs").fetchall()
    assert {run_id: (dollars, bool(partial)) for run_id, dollars, partial in rows} == costs


def test_a_cost_that_opencode_reports_counts(tmp_path: Path) -> None:
    """It knows what its provider charges; the model that answered has no price of ours."""
    folder = copy_case("opencode_stream", "tools", tmp_path / "sessions")
    reported = 0.0
    for line in (path := next(folder.glob("*.jsonl"))).read_text().splitlines():
        record = json.loads(line)
        if record.get("type") == "step_finish":
            reported += record["part"]["cost"]
    _folder_synced(folder, tmp_path / "archive")
    assert path
    assert reported > 0
    totals = _totals(tmp_path / "archive")["totals"]
    assert (totals["cost_usd"], totals["cost_is_partial"]) == (pytest.approx(reported), False)
