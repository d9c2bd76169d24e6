"""A replay under way."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from golden_cases import CASES, input_of, name_of
from replay_client import is_counted, walked
from stenograph.model import Event
from stenograph.replay.recording import recording_of
from stenograph.replay.report import OtherRequest, ResultCompared
from stenograph.replay.session import MOST_REPEATS, ReplaySession
from stenograph.sources.conversion import convert
from stenograph.testing import answer, call, make_run

Json = dict[str, Any]
NAMES = st.sampled_from(["role", "content", "type", "text", "id", "tool_use_id", "call_id", "tool_calls", "output"])
UNREACHED = {
    "codex_exec/v0.42-compact": "its context was replaced by a summary that the stream does not tell",
    "gemini_cli/compaction": "its context was replaced twice by the same summary",
    "opencode/compaction": "its context was replaced twice by the same summary",
}
RUN = make_run(
    "List the files.",
    answer("I look.", call("Bash", {"command": "ls /old/work"}, "a.txt", call_id="c1")),
    answer("", call("Bash", {"command": "cat a.txt"}, "alpha\nbeta", call_id="c2")),
    answer("There is one."),
    adapter="claude_code",
)


def _session(events: list[Event] = RUN) -> ReplaySession:
    return ReplaySession(recording_of(events), {"/old/work": "/new/work"})


def _body(*messages: Json, tools: bool = True, **more: Any) -> Json:
    return {"model": "m", "messages": list(messages), "tools": [{"name": "Bash"}] if tools else [], **more}


def _user(text: str) -> Json:
    return {"role": "user", "content": text}


def _result(call_id: str, text: str) -> Json:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": text}]}


def test_answers_have_the_folders_of_now() -> None:
    """In what the tools are given, with the recorded ids."""
    reply = _session().answer("/v1/messages", _body(_user("List the files.")))
    assert reply.status == 200
    assert reply.document["content"][1]["input"] == {"command": "ls /new/work"}
    assert reply.document["content"][1]["id"] == "c1"
    assert reply.document["stop_reason"] == "tool_use"


def test_equal_results_are_the_recorded_run() -> None:
    """All turns were served, all results are equal."""
    session = _session()
    asked = _user("List the files.")
    session.answer("/v1/messages", _body(asked))
    session.answer("/v1/messages", _body(asked, _result("c1", "a.txt")))
    session.answer("/v1/messages", _body(asked, _result("c1", "a.txt"), _result("c2", "alpha\nbeta")))
    report = session.report()
    assert report.is_equal()
    assert report.to_dict()["turns"] == {"recorded": 3, "served": 3, "unasked": 0}
    assert report.to_dict()["results"] == {"recorded": 2, "same": 2, "different": 0, "missing": 0}


def test_a_difference_is_reported_once_and_exactly() -> None:
    """However often the history repeats it."""
    session = _session()
    asked = _user("List the files.")
    session.answer("/v1/messages", _body(asked, _result("c1", "a.txt")))
    for _ in range(2):
        session.answer("/v1/messages", _body(asked, _result("c1", "a.txt"), _result("c2", "CHANGED\nbeta")))
    report = session.report()
    different = [each for each in report.entries if isinstance(each, ResultCompared) and not each.same]
    assert [(each.call_id, each.name, each.turn, each.diff) for each in different] == [
        ("c2", "Bash", 2, ["-alpha", "+CHANGED"])
    ]
    assert not report.is_equal()
    assert not report.is_equal(allow_diff=True), "the first turn was never asked for"
    assert any("different: Bash (turn 2 of main)" in line for line in report.lines())


def test_a_miss_is_a_400_that_says_why() -> None:
    """In the words of each API, so that clients show it."""
    session = _session()
    for path, body in [
        ("/v1/messages", _body(_user("Delete the files."))),
        ("/v1/chat/completions", _body(_user("Delete the files."))),
        ("/v1/responses", {"input": "Delete the files.", "tools": [{}]}),
    ]:
        reply = session.answer(path, body)
        assert reply.status == 400
        assert 'the nearest is "List the files." (turn 1 of main)' in reply.document["error"]["message"]
    assert session.report().misses == 3
    assert not session.report().is_equal(allow_diff=True)


def test_a_loop_ends() -> None:
    """The same turn is given a few times, for clients that try again, and then refused."""
    session = _session()
    statuses = [session.answer("/v1/messages", _body(_user("List the files."))).status for _ in range(MOST_REPEATS + 1)]
    assert statuses == [200] * MOST_REPEATS + [400]


def test_what_agents_ask_beside_their_conversation_takes_no_turn() -> None:
    """A title for the session is asked without tools, with the prompt in it."""
    session = _session()
    reply = session.answer("/v1/messages", _body(_user("Title this: List the files."), tools=False))
    assert reply.status == 200
    assert session.answer("/v1/messages/count_tokens", _body()).document == {"input_tokens": 1}
    assert session.answer("/api/event_logging", {}).status == 404
    assert [entry.path for entry in session.report().entries if isinstance(entry, OtherRequest)] == [
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/api/event_logging",
    ]
    assert session.report().served_turns == 0


def test_a_recorded_conversation_without_tools_is_found_by_its_prompt() -> None:
    """Claude Code 2.0 warms its subagents up: recorded, without a call, asked for without tools."""
    warm = make_run("Warmup", answer("Ready."), run_id=RUN[0].run_id, source="subagent:w", adapter="claude_code")
    session = _session([*RUN, *warm])
    assert (
        session.answer("/v1/messages", _body(_user("Warmup"), tools=False)).document["content"][0]["text"] == "Ready."
    )
    session.answer("/v1/messages", _body(_user("List the files."), tools=False))
    assert session.report().served_turns == 1


def test_a_program_without_tools_is_served() -> None:
    """Only agents offer tools in every request."""
    session = ReplaySession(recording_of(make_run("Hello", answer("Hi"))), {})
    assert session.answer("/v1/messages", _body(_user("Hello"), tools=False)).document["content"][0]["text"] == "Hi"


def test_ids_that_tools_drew_anew_are_given_back() -> None:
    """The next call names the agent that was really started."""
    events = make_run(
        "go",
        answer("", call("spawn", {}, '{"agent_id":"01a1e820-ab5e-7b22-b92f-28551ffaa9da"}', call_id="c1")),
        answer("", call("wait", {"target": "01a1e820-ab5e-7b22-b92f-28551ffaa9da"}, call_id="c2")),
    )
    live = "99999999-ab5e-7b22-b92f-28551ffaa9da"
    session = ReplaySession(recording_of(events), {})
    reply = session.answer("/v1/messages", _body(_user("go"), _result("c1", f'{{"agent_id":"{live}"}}')))
    assert reply.document["content"][0]["input"] == {"target": live}
    assert session.report().different_results == 0


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)


@settings(max_examples=30)
@given(JSON_VALUES, JSON_VALUES, st.booleans())
def test_any_body_is_answered(value: Any, tools: Any, is_whole: bool) -> None:
    """Whatever stands where a conversation should: never an exception."""
    body = value if is_whole else {"messages": value, "input": value, "tools": tools, "stream": True}
    session = _session()
    for path in ("/v1/messages", "/v1/responses", "/v1/chat/completions"):
        reply = session.answer(path, body)
        assert reply.status in (200, 400, 404)
        list(reply.events or ())


def test_real_transcripts_are_reached_to_their_end() -> None:
    """Every golden case with a prompt and no call id twice, by a client that gives the recorded results back."""
    counted = 0
    missed: set[str] = set()
    for case in CASES:
        runs: dict[str, list[Event]] = {}
        for event in convert(input_of(case), keep_raw=False):
            runs.setdefault(event.run_id, []).append(event)
        for events in runs.values():
            if is_counted(events):
                counted += 1
                missed |= {name_of(case) for walk in walked(events) if walk.missed}
    assert missed == set(UNREACHED)
    assert counted > 100
