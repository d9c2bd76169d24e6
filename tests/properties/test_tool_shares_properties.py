"""Tokens by tool: the sums that the index keeps are those of a walk over all events, however they came."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby, pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from archive_of_goldens import make_archive
from stenograph.archive import IndexReader
from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.indexing import Indexer
from stenograph.archive.index.tables import TABLES
from stenograph.archive.store.kept_file import KeptFile
from stenograph.archive.store.pack import About
from stenograph.fold.model_calls import NO_TOOL
from stenograph.model import Event, MessagePayload, Origin, ToolPayload, UsagePayload
from stenograph.query.prices import load_prices
from stenograph.query.scope import Scope
from stenograph.query.stats import stats
from strategies import BRIEF

RUNS = ("11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000")
message_ids = st.sampled_from([None, "", "m-1", "m-2", "m-3"])
told = st.one_of(
    st.tuples(st.just("message.user"), st.just(None), st.just(0)),
    st.tuples(st.just("message.assistant"), message_ids, st.just(0)),
    st.tuples(st.just("tool.call"), st.sampled_from(["Bash", "Read", "", NO_TOOL]), st.just(0)),
    st.tuples(st.just("tool.result"), st.sampled_from(["Bash", "Read"]), st.just(0)),
    st.tuples(st.just("token.usage"), message_ids, st.integers(0, 20)),
)
steps = st.tuples(st.sampled_from(RUNS), st.sampled_from([None, None, "subagent:a"]), told)


def _event(number: int, run_id: str, source: str | None, type: str, name: str | None, tokens: int) -> Event:
    payload: object
    if type == "token.usage":
        payload = UsagePayload(scope="call", input_tokens=tokens, output_tokens=1, model="one", message_id=name)
    elif type.startswith("tool"):
        payload = ToolPayload(name=name or "", call_id=f"c{number}", input=None, output=None, fidelity="agent_emitted")
    else:
        payload = MessagePayload(role=type.partition(".")[2], blocks=(), message_id=name)
    origin = None if source is None else Origin(source=source)
    moment = f"2026-11-17T12:{number // 60:02}:{number % 60:02}Z"
    return Event(
        seq=0, run_id=run_id, type=type, path="", iteration=0, timestamp=moment, payload=payload, origin=origin
    )


def _indexed(batches: list[list[Event]]) -> sqlite3.Connection:
    """An index of these batches; the same connection that wrote them."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(TABLES)
    index = IndexWriter(connection, searchable=False)
    indexer = Indexer(index)
    file = KeptFile(1, About(root="", path="/f", format="claude_code", run_id=RUNS[0], at=""))
    for batch in batches:
        indexer.index(batch, [file])
    index.drain()
    return connection


def _walked(index: sqlite3.Connection) -> Counter[tuple[str, str]]:
    """Tokens by tool, and how many model calls, by a walk over every event of every run."""
    counted = {row[0]: row[1:] for row in index.execute("SELECT event, input_tokens, output_tokens FROM counted")}
    query = "SELECT run, id, source, type, tool_name, message_id FROM events ORDER BY run, seq"
    found: Counter[tuple[str, str]] = Counter()
    for _, events in groupby(index.execute(query), key=lambda row: row[0]):
        for tools, reports in _stretches([row[1:] for row in events], counted):
            for number, tool in enumerate(names := tools or [NO_TOOL]):
                for into, out in reports:
                    rest = len(names) - 1 - number
                    found[tool, "input_tokens"] += (into + rest) // len(names)
                    found[tool, "output_tokens"] += (out + rest) // len(names)
                    found[tool, "model_calls"] += number == 0
    return found


def _stretches(
    events: list[tuple[int, str, str, str | None, str | None]], counted: dict[int, tuple[int, int]]
) -> Iterator[tuple[list[str], list[tuple[int, int]]]]:
    """What a source says between two answers to it, or under the id of one message: tools, and reports that count."""
    made: list[tuple[list[str], list[tuple[int, int]]]] = []
    current: dict[str, int] = {}
    over: set[int] = set()
    named: dict[str, int] = {}
    for event, source, kind, tool, message_id in events:
        if kind in ("message.user", "tool.result"):
            over |= {current[source]} if source in current else set()
            continue
        if kind not in ("message.assistant", "tool.call", "token.usage"):
            continue
        place = named.get(message_id) if message_id else None
        if place is None:
            place = current.get(source)
            if place is None or (place in over and kind != "token.usage"):
                place = len(made)
                made.append(([], []))
        current[source] = place
        if message_id:
            named[message_id] = place
        if kind == "tool.call":
            made[place][0].append(tool or "")
        elif event in counted:
            made[place][1].append(counted[event])
    yield from made


def _summed(index: sqlite3.Connection) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for row in stats(index, Scope(), load_prices(), "tool").as_dict()["rows"]:
        name = "" if row["tool"] == "(unknown)" else row["tool"]
        found.update({(name, field): row[field] for field in ("input_tokens", "output_tokens", "model_calls")})
    return found


@BRIEF
@given(st.lists(steps, max_size=25), st.lists(st.integers(0, 25), max_size=4))
def test_the_sums_by_tool_are_those_of_the_events(
    given_: list[tuple[str, str | None, tuple[str, str | None, int]]], places: list[int]
) -> None:
    """Told in one batch or in many, with calls that are named by their message, or only stand where they stand."""
    events = [_event(number, run, source, *what) for number, (run, source, what) in enumerate(given_, 1)]
    bounds = [0, *sorted(place % (len(events) + 1) for place in places), len(events)]
    batches = [events[begin:end] for begin, end in pairwise(bounds)]
    with closing(_indexed(batches)) as index, closing(_indexed([events])) as whole:
        assert +_summed(index) == +_walked(index)
        assert +_summed(index) == +_summed(whole)
        for table in ("model_calls", "model_call_messages", "model_call_sources"):
            query = f"SELECT * FROM {table} ORDER BY run, 2"
            assert index.execute(query).fetchall() == whole.execute(query).fetchall()


def test_the_sums_by_tool_are_those_of_real_sessions(tmp_path: Path) -> None:
    """Of four agents, with forks, subagents and copies."""
    home, _ = make_archive(tmp_path)
    with IndexReader(home) as archive:
        summed = +_summed(archive.index)
        assert summed == +_walked(archive.index)
        assert len({tool for tool, _ in summed}) > 3
