"""All counters agree: every surface gives the same numbers for one run, whatever its ids and order are."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from counters import (
    PRICES,
    Numbers,
    make_archive,
    of_archive,
    of_bundle,
    of_info,
    of_pages,
    of_stats,
    of_texts,
    of_totals,
    of_trees,
    write_journal,
)
from golden_cases import CASES, input_of, sampled
from stenograph import open_run
from stenograph.fold.calls import pair_calls
from stenograph.fold.totals import totals_of
from stenograph.fold.units import begins_unit
from stenograph.model import (
    ErrorPayload,
    Event,
    LifecyclePayload,
    MessagePayload,
    Origin,
    StreamBlock,
    TextBlock,
    ToolPayload,
    UsagePayload,
    decode,
)
from stenograph.render.first_pass import page_facts_of
from strategies import BRIEF, PATIENT

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
ids = st.sampled_from(["c-1", "c-2", ""])
message_ids = st.sampled_from([None, "", "m-1", "m-2"])
sources = st.sampled_from([None, None, "subagent:a", "subagent:b"])
errors = st.sampled_from([None, None, "it failed"])
fidelities = st.sampled_from(["router", "agent_emitted", "agent_emitted"])


def _tool(type: str) -> st.SearchStrategy[tuple[str, ToolPayload]]:
    payload = st.builds(
        ToolPayload,
        extra=st.none(),
        name=st.sampled_from(["Bash", "Read", ""]),
        call_id=ids,
        input=st.none(),
        output=st.none(),
        error=errors if type == "tool.result" else st.none(),
        fidelity=fidelities,
        duration_ms=st.none(),
        blocks=st.none(),
    )
    return payload.map(lambda made: (type, made))


def _message(role: str) -> st.SearchStrategy[tuple[str, MessagePayload]]:
    blocks = st.sampled_from([StreamBlock(fidelity="router", text="x"), TextBlock(fidelity="router", text="x")])
    return st.builds(
        lambda block, message_id: (
            f"message.{role}",
            MessagePayload(role=role, blocks=(block,), message_id=message_id),
        ),
        blocks,
        message_ids,
    )


def _usage(number: int) -> tuple[str, UsagePayload]:
    """Each with an id of its own; the rule for repeated reports has its own properties."""
    return "token.usage", UsagePayload(
        scope="call",
        input_tokens=number,
        output_tokens=1,
        model="claude-sonnet-4-5" if number % 2 else "nobody-knows",
        message_id=f"message-{number:08}",
    )


facts = st.one_of(
    _tool("tool.call"),
    _tool("tool.call"),
    _tool("tool.result"),
    _tool("tool.result"),
    _message("user"),
    _message("assistant"),
    st.just(("error", ErrorPayload(message="oh"))),
    st.sampled_from(["step.started", "step.completed"]).map(lambda kind: (kind, LifecyclePayload(name="a", kind="k"))),
    st.just(None),
)


@st.composite
def runs(draw: st.DrawFn) -> list[Event]:
    """Ids used twice and empty ids, results without and before their calls, subagents, steps and chunks."""
    made = []
    for seq, fact in enumerate(draw(st.lists(facts, min_size=1, max_size=16)), 1):
        kind, payload = fact or _usage(seq)
        source = draw(sources)
        origin = None if source is None else Origin(source=source, parent_call_id=draw(st.sampled_from([None, "c-1"])))
        made.append(_event(seq, kind, payload, origin, "a" if kind.startswith("step.") else draw(_paths)))
    return made


_paths = st.sampled_from(["", "a"])


def _event(seq: int, type: str, payload: Any, origin: Origin | None, path: str) -> Event:
    return Event(
        seq=seq,
        run_id=RUN_ID,
        type=type,
        path=path,
        iteration=0,
        timestamp=f"2026-06-08T08:14:{seq:02}.000000Z",
        origin=origin,
        payload=payload,
    )


def _check(events: list[Event], told: dict[str, Numbers]) -> None:
    truth = of_totals(totals_of(events))
    wrong = {name: differences for name, numbers in told.items() if (differences := truth.differences(numbers))}
    assert not wrong


def _calls_of_units(events: list[Event]) -> int:
    """Calls of the main agent since the first message to it, which is what text files tell."""
    first = next((number for number, event in enumerate(events) if begins_unit(event)), len(events))
    later = {id(event) for event in events[first:]}
    pairs = [pair for pair in pair_calls(events) if pair.call is not None and pair.source == "main"]
    firsts = [_first_call(events, pair.call_id, pair.call) for pair in pairs]
    return sum(id(event) in later for event in firsts)


def _first_call(events: list[Event], call_id: str, counted: Event | None) -> Event | None:
    """The event that told first of a call; that is the one that counts unless the router told of it later."""
    assert counted is not None
    if not call_id or counted.payload.fidelity == "agent_emitted":
        return counted
    nth = [event for event in events if _is_call(event, call_id, "router")].index(counted)
    agents = [event for event in events if _is_call(event, call_id, "agent_emitted")]
    return min([counted, *agents[nth : nth + 1]], key=lambda event: event.seq)


def _is_call(event: Event, call_id: str, fidelity: str) -> bool:
    payload = event.payload
    return event.type == "tool.call" and payload.call_id == call_id and payload.fidelity == fidelity


@PATIENT
@given(runs())
def test_pages_trees_and_texts_agree(events: list[Event]) -> None:
    """What is made from events directly."""
    _check(events, of_trees(events) | of_pages(events))
    with tempfile.TemporaryDirectory() as folder:
        assert of_texts(events, Path(folder)) == _calls_of_units(events)


@BRIEF
@given(runs(), st.integers(1, 16))
def test_archive_and_bundle_agree(events: list[Event], cut: int) -> None:
    """`ls`, `tree`, `stats`, SQL, bundles, `query` and Python; also when the archive sees the run in two parts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _check(events, of_bundle(events, folder))
        write_journal(events[:cut], folder / "journals")
        make_archive(folder / "archive", folder / "journals").close()
        journal = write_journal(events, folder / "journals")
        with make_archive(folder / "archive", folder / "journals") as archive:
            told = of_archive(archive, PRICES)[RUN_ID]
            told["stats"] = of_stats(archive, PRICES)
            for target in (journal, folder / "a.zip", RUN_ID):
                with open_run(target, archive=folder / "archive") as run:
                    told[f"open_run({target})"] = of_info(run.info)
            _check(events, told)
            page = page_facts_of(events, PRICES).cost.dollars
            told["page"] = Numbers(cost=None if page is None else round(page, 6))
            assert len({numbers.cost for name, numbers in told.items() if name != "archived tree"}) == 1


@pytest.mark.parametrize("case", sampled(CASES))
def test_everything_made_from_events_agrees_on_real_transcripts(case: Path, tmp_path: Path) -> None:
    """Trees, pages, texts and bundles of every golden case, run by run."""
    runs: dict[str, list[Event]] = {}
    for line in (case / "expected.jsonl").read_bytes().splitlines():
        event = decode(line)
        runs.setdefault(event.run_id, []).append(event)
    for number, events in enumerate(runs.values()):
        own = [replace(event, child_run_id=None) for event in events]
        folder = tmp_path / str(number)
        folder.mkdir()
        _check(own, of_trees(own) | of_pages(own) | of_bundle(own, folder))
        assert of_texts(own, folder / "texts") == _calls_of_units(own)


def test_the_archive_agrees_on_real_transcripts(tmp_path: Path) -> None:
    """`ls`, trees and SQL of every run of the golden cases, and `stats` of all of them."""
    for case in CASES:
        given, place = input_of(case), tmp_path / "sessions" / case.parent.name / case.name
        if given.is_dir():
            shutil.copytree(given, place)
        else:
            place.mkdir(parents=True)
            shutil.copy(given, place)
    calls = failed = 0
    with make_archive(tmp_path / "archive", tmp_path / "sessions") as archive:
        for run_id, told in of_archive(archive, PRICES).items():
            run = archive.find_run(run_id)[0]
            events = list(archive.events(run))
            assert told["ls"].input_tokens == told["sql"].input_tokens
            # Half a millionth of a dollar is rounded up or down by the order in which calls are added.
            assert told["ls"].cost == pytest.approx(told["sql"].cost, abs=1.5e-6)
            # Tokens that several runs tell of count in one of them; so do calls, and the others name them as copied.
            numbers = {name: replace(each, input_tokens=None, output_tokens=None) for name, each in told.items()}
            query = "SELECT copied_calls, copied_errors FROM runs WHERE id = ?"
            copied, copied_errors = archive.index.execute(query, (run,)).fetchone()
            totals = totals_of(events)
            if copied:
                found = {each.calls for each in numbers.values() if each.calls is not None}
                assert found == {totals.tool_calls - copied}
                numbers = {name: Numbers(messages=each.messages) for name, each in numbers.items()}
            _check(events, numbers)
            calls, failed = calls + totals.tool_calls - copied, failed + totals.failed_calls - copied_errors
        assert not Numbers(calls=calls, failed=failed).differences(of_stats(archive, PRICES))
