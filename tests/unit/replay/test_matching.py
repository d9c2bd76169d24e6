"""Which recorded answer a request gets."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from stenograph.model import Event, TextBlock
from stenograph.model.payload import SystemPayload
from stenograph.replay import responses_api
from stenograph.replay.matching import Match, Miss, Summary, find_answer
from stenograph.replay.messages_api import read
from stenograph.replay.recording import Prompt, Recording, recording_of
from stenograph.testing.run_factory import Answer, answer, call, make_run

Json = dict[str, Any]
CHILD = "11111111-1111-4111-8111-111111111111"


def _recorded(*items: str | Answer) -> Recording:
    return recording_of(make_run(*items))


def _user(text: str) -> Json:
    return {"role": "user", "content": text}


def _said(text: str) -> Json:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def _called(*ids: str) -> list[Json]:
    """An answer that called tools, and their results."""
    calls = [{"type": "tool_use", "id": each, "name": "Bash", "input": {}} for each in ids]
    results = [{"type": "tool_result", "tool_use_id": each, "content": "x"} for each in ids]
    return [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]


def _found(recording: Recording, *messages: Json, given: dict[tuple[int, int], int] | None = None) -> tuple[str, int]:
    found = find_answer(recording, read({"messages": list(messages)}), given)
    assert isinstance(found, Match), found
    return found.lane.name, found.answer.number


def _missed(recording: Recording, *messages: Json) -> Miss:
    found = find_answer(recording, read({"messages": list(messages)}))
    assert isinstance(found, Miss), found
    return found


def test_the_prompt_finds_the_first_answer() -> None:
    """Also among other texts, and with other white space."""
    recording = _recorded("Please  look.", answer("I did."))
    assert _found(recording, _user("Please look.")) == ("main", 1)
    assert _found(recording, _user("<reminder>today</reminder>\nPlease look.\nThank you")) == ("main", 1)
    parts = [{"type": "text", "text": "<reminder>today</reminder>"}, {"type": "text", "text": "Please look."}]
    assert _found(recording, {"role": "user", "content": parts}) == ("main", 1)


def test_call_ids_find_the_next_answer() -> None:
    """However often the same request comes: nothing is counted."""
    recording = _recorded(
        "go", answer("", call("Bash", call_id="a")), answer("", call("Bash", call_id="b")), answer("end")
    )
    for _ in range(3):
        assert _found(recording, _user("go"), *_called("a")) == ("main", 2)
        assert _found(recording, _user("go"), *_called("a"), *_called("b")) == ("main", 3)
    assert _found(recording, *_called("b")) == ("main", 3)


def test_messages_that_an_agent_inserts_change_nothing() -> None:
    """A notification in the user's role after a result neither ends nor restarts the conversation."""
    recording = _recorded("go", answer("", call("Bash", call_id="a")), answer("end"))
    assert _found(recording, _user("go"), *_called("a"), _user("<notification>done</notification>")) == ("main", 2)


def test_the_same_prompt_twice() -> None:
    """A resumed session is asked to continue, and again: the answers in the history say how often."""
    recording = _recorded("go", answer("one"), "continue", answer("two"), "continue", answer("three"))
    history = [_user("go"), _said("one"), _user("continue")]
    assert _found(recording, *history) == ("main", 2)
    assert _found(recording, *history, _said("two"), _user("continue")) == ("main", 3)


def test_a_call_id_twice_is_known_by_its_place() -> None:
    """Some agents number their calls anew in each turn."""
    recording = _recorded(
        "go", answer("", call("Bash", call_id="1")), answer("", call("Bash", call_id="1")), answer("end")
    )
    assert _found(recording, _user("go"), *_called("1")) == ("main", 2)


def test_another_prompt_is_a_miss_that_names_the_nearest() -> None:
    """The miss quotes what was asked and what was recorded."""
    recording = _recorded("Count the files.", answer("42"), "Now delete them.", answer("Done."))
    miss = _missed(recording, _user("Count the folders."))
    assert (miss.lane, miss.turn) == ("main", 1)
    assert '"Count the folders."' in miss.why
    assert '"Count the files."' in miss.why


def test_another_second_prompt_is_a_miss() -> None:
    """The conversation left the recording after its first turn."""
    recording = _recorded("Count.", answer("42"), "Now delete them.", answer("Done."))
    miss = _missed(recording, _user("Count."), _said("42"), _user("Keep them."))
    assert (miss.lane, miss.turn) == ("main", 1)
    assert '"Now delete them."' in miss.why
    assert '"Keep them."' in miss.why


def test_a_prompt_that_comes_too_early_is_a_miss() -> None:
    """The recorded conversation had another one before it, which cannot be skipped."""
    recording = _recorded("Count.", answer("42"), "Now delete them.", answer("Done."), "Stop.", answer("Bye."))
    assert '"Now delete them."' in _missed(recording, _user("Count."), _said("42"), _user("Stop.")).why


def test_a_history_that_begins_later_is_placed() -> None:
    """An agent may send only the end of a long conversation."""
    recording = _recorded("Count.", answer("42"), "Now delete them.", answer("Done."), "Stop.", answer("Bye."))
    assert _found(recording, _user("Now delete them."), _said("Done."), _user("Stop.")) == ("main", 3)


def test_the_end_of_the_recording_is_a_miss() -> None:
    """A live agent that goes on where the recorded one stopped is told so."""
    recording = _recorded("Count.", answer("42"))
    assert "ends after turn 1" in _missed(recording, _user("Count."), _said("42"), _user("More.")).why


def test_parallel_subagents_with_one_prompt_get_a_lane_each() -> None:
    """The one that was given less often; afterwards the ids tell them apart."""
    main = make_run("go", answer("", call("Agent", call_id="m")), answer("end"))
    run_id = main[0].run_id
    lanes = [
        make_run(
            "count", answer("", call("Bash", call_id=each)), answer(each), run_id=run_id, source=f"subagent:{each}"
        )
        for each in ("x", "y")
    ]
    recording = recording_of([*main, *lanes[0], *lanes[1]])
    assert _found(recording, _user("count")) == ("subagent:x", 1)
    assert _found(recording, _user("count"), given={(1, 1): 1}) == ("subagent:y", 1)
    assert _found(recording, _user("count"), *_called("y")) == ("subagent:y", 2)
    assert _found(recording, _user("count"), *_called("x")) == ("subagent:x", 2)


def _parent_and_child() -> list[Event]:
    first = answer("", call("spawn", call_id="p1"))
    parent = make_run("go", first, answer("", call("wait", call_id="p2")), answer("end"))
    child = make_run("go", first, "your task", answer("child"), run_id=CHILD, parent_run_id=parent[0].run_id)
    return [*parent, *child]


def test_a_child_with_its_parents_history_is_not_its_parent() -> None:
    """Both have the calls of the parent; the task tells them apart, and the copy is not counted again."""
    recording = recording_of(_parent_and_child())
    assert _found(recording, _user("go"), *_called("p1")) == ("main", 2)
    assert _found(recording, _user("go"), *_called("p1"), _user("your task")) == (f"{CHILD} main", 2)
    assert len(recording.answers) == 4
    assert "ends after turn 3" in _missed(recording, _user("go"), *_called("p1"), *_called("p2"), _said("end")).why


SUMMARY = "This goes on from an earlier conversation: one was counted."
ASKING = "Write a summary of this conversation, in text only."


def _summarised() -> Recording:
    before = make_run("go", answer("", call("Bash", call_id="a")), answer("one"))[:-1]
    after = make_run("more", answer("", call("Bash", call_id="b")), answer("two"))[1:]
    after = [replace(event, run_id=before[0].run_id) for event in after]
    compaction = replace(before[-1], type="system.event", payload=SystemPayload(subtype="compaction", text=SUMMARY))
    return recording_of([*before, compaction, *after])


def test_an_agent_that_asks_for_a_summary_gets_the_recorded_one() -> None:
    """Where the recording has one: after the last answer, or before it when the agent keeps that beside it."""
    recording = _summarised()
    for history in ([_user("go"), *_called("a")], [_user("go"), *_called("a"), _said("one")]):
        found = find_answer(recording, read({"messages": [*history, _user(ASKING)]}))
        assert isinstance(found, Summary)
        assert found.text == SUMMARY
    assert _found(recording, _user("go"), *_called("a")) == ("main", 2)
    assert isinstance(find_answer(recording, read({"messages": [_user("go"), _user(ASKING)]})), Match), "too early"


def test_what_follows_a_summary_is_found() -> None:
    """The agent wraps the summary in words of its own, and may keep prompts before and an answer after it."""
    recording = _summarised()
    wrapped = _user(f"Another model wrote: {SUMMARY} Go on.")
    assert _found(recording, wrapped, _user("more")) == ("main", 3)
    assert _found(recording, _user("go"), wrapped, _said("one"), _user("more")) == ("main", 3)
    assert _found(recording, wrapped, _user("more"), *_called("b")) == ("main", 4)


def test_a_request_may_say_which_answer_it_follows() -> None:
    """With `previous_response_id` the history stays on the server."""
    recording = _recorded("go", answer("one"), "continue", answer("two"))
    body = {"previous_response_id": "resp_steno_0_1", "input": "continue"}
    found = find_answer(recording, responses_api.read(body))
    assert isinstance(found, Match)
    assert found.answer.number == 2
    body = {"previous_response_id": "resp_steno_7_9", "input": "other"}
    assert isinstance(find_answer(recording, responses_api.read(body)), Miss)
    body = {"previous_response_id": "resp_steno_0_9", "input": "other"}
    assert isinstance(find_answer(recording, responses_api.read(body)), Miss)


TEXTS = st.sampled_from(["go", "continue", "please continue", "stop"])
CALLING = st.builds(lambda text, n: answer(text, *[call("Bash", {"n": n})] * n), TEXTS | st.just(""), st.integers(1, 2))
UNIT = st.builds(
    lambda prompts, calling, last: [*prompts, *calling, answer(last)],
    st.lists(TEXTS, min_size=1, max_size=2),
    st.lists(CALLING, max_size=3),
    TEXTS,
)


@settings(max_examples=40)
@given(st.lists(UNIT, min_size=1, max_size=5))
def test_a_client_that_gives_results_back_reaches_every_answer(units: list[list[str | Answer]]) -> None:
    """In order, whatever texts repeat."""
    recording = _recorded(*itertools.chain.from_iterable(units))
    history: list[Json] = []
    number = 0
    for step in recording.lanes[0].steps:
        if isinstance(step, Prompt):
            history.append(_user(step.text))
            continue
        number += 1
        assert _found(recording, *history) == ("main", number)
        said, *results = _called(*(each.call_id for each in step.turn.calls))
        texts = [{"type": "text", "text": block.text} for block in step.turn.blocks if isinstance(block, TextBlock)]
        history.append({"role": "assistant", "content": texts + said["content"]})
        history += results if step.turn.calls else []
    assert number == len(recording.answers)
