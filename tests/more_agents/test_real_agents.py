"""Real programs do one errand under `steno run`, then `steno sync`: what is read is what they did."""

from __future__ import annotations

import pytest

from agents.archived import steno
from agents.reading import assert_counted
from comparison import count, different
from more_agents.real_agent import Played, RealAgent, play, real_agents
from parity import AGENTS, FINAL_TEXT, account_of, assert_as_said
from stenograph import open_run
from stenograph.formats.base import Report
from witness_cases import run_as_told

pytestmark = [pytest.mark.more_agents, pytest.mark.timeout(1800)]  # the first test installs the programs
REAL = real_agents()


@pytest.fixture(scope="module", params=REAL)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """An agent, when it has done the errand."""
    agent: RealAgent = REAL[request.param]
    return play(agent, tmp_path_factory.mktemp(request.param))


def test_the_errand_is_reported_but_for_what_is_named(played: Played) -> None:
    """Its entries are those of the errand, with its words; what docs/parity.md says to be missing is, and no more."""
    name = played.agent.format_name
    assert played.session.version == AGENTS[name].version, "make the golden case again"
    assert_as_said(account_of(name, played.events()))


def test_it_is_listed_under_its_name_and_finished(played: Played) -> None:
    """`steno ls` has the runs of the agent and no other."""
    rows = steno(played.session, "ls")
    assert {row["agent"] for row in rows} == {played.agent.agent_id}
    assert {row["status"] for row in rows} == {"finished"}


def test_tokens_are_those_that_the_model_counted(played: Played) -> None:
    """`steno stats` adds up to what the model counted, each answer once."""
    wanted = dict(played.agent.totals(played.session.model.totals))
    totals = steno(played.session, "stats")["totals"]
    assert {name: totals[name] for name in wanted} == wanted


def test_an_independent_count_finds_the_same(played: Played) -> None:
    """A counter that shares no code with the format agrees on texts, calls, results and tokens."""
    agent, home = played.agent, played.session.home
    assert (agent.files is None) != (agent.count is None), "say how to count"
    if agent.files is not None:
        paths = agent.files(home)
        assert paths
        for path in paths:
            assert_counted(path, agent.format_name)
    if agent.count is not None:
        ours, theirs = count(played.events(), Report()), agent.count(home)
        ours |= {name: sorted(ours[name]) for name in ("tool_uses", "tool_results", "failed_results")}
        theirs |= {name: sorted(theirs[name]) for name in ("tool_uses", "tool_results", "failed_results")}
        shared = {key: ours[key] for key in ours if key not in ("text", "thinking", "lines")}
        assert {key: (ours[key], theirs[key]) for key in different(shared, theirs)} == {}


def test_it_was_recorded_while_it_ran(played: Played) -> None:
    """The journal of `steno run` has the last words, before any sync."""
    journals = list((played.archive / "transcripts").glob("*.jsonl"))
    assert any(FINAL_TEXT in str(event.payload) for path in journals for event in open_run(path).events())


def test_an_archive_of_its_files_alone_is_the_same(played: Played) -> None:
    """Each run is, to the last event, call, token and word, that of an archive which never saw a journal."""
    alone = played.session.place / "alone"
    steno(played.session, "sync", "--archive", str(alone))
    for run_id in played.runs():
        ours, theirs = run_as_told(played.archive, run_id), run_as_told(alone, run_id)
        assert {part: ours[part] for part in theirs} == theirs
