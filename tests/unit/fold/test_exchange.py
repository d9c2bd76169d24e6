"""A run joined for other formats: messages with their calls, results and usage."""

from __future__ import annotations

from typing import Any

from stenograph.fold.exchange import Exchange, Notice, Turn, exchange
from stenograph.fold.usage import Usage
from stenograph.model import Event, MessagePayload, Origin, TextBlock, ToolPayload, ToolUseBlock, UsagePayload

RUN = "550e8400-e29b-41d4-a716-446655440000"


def event(type: str, payload: Any, source: str | None = None, at: str = "2026-11-01T10:00:00Z") -> Event:
    """One event, not numbered."""
    origin = None if source is None else Origin(source=source)
    return Event(seq=0, run_id=RUN, type=type, path="", iteration=0, timestamp=at, origin=origin, payload=payload)


def said(text: str, message_id: str | None = None, *calls: str, **more: Any) -> Event:
    """A record of an answer, with the blocks that ask for calls."""
    blocks = [TextBlock(fidelity="agent_emitted", text=text)]
    wishes = [ToolUseBlock(fidelity="agent_emitted", tool_name="Bash", tool_id=each, tool_input={}) for each in calls]
    payload = MessagePayload(role="assistant", blocks=(*blocks, *wishes), message_id=message_id)
    return event("message.assistant", payload, **more)


def asked(text: str, **more: Any) -> Event:
    """A user message."""
    payload = MessagePayload(role="user", blocks=(TextBlock(fidelity="agent_emitted", text=text),), **more)
    return event("message.user", payload)


def call(call_id: str, fidelity: Any = "agent_emitted", input: Any = None) -> Event:
    """A call."""
    return event(
        "tool.call", ToolPayload(name="Bash", call_id=call_id, input=input or {}, output=None, fidelity=fidelity)
    )


def result(call_id: str, output: str, fidelity: Any = "agent_emitted") -> Event:
    """Its answer."""
    payload = ToolPayload(name="", call_id=call_id, input=None, output=output, fidelity=fidelity)
    return event("tool.result", payload)


def usage(tokens: int, message_id: str | None = None, scope: Any = "call", source: str | None = None) -> Event:
    """A report of usage."""
    payload = UsagePayload(scope=scope, input_tokens=tokens, output_tokens=1, message_id=message_id)
    return event("token.usage", payload, source)


def texts(joined: Exchange) -> list[list[str]]:
    """The texts of each turn of the main agent."""
    return [[block.text for block in turn.blocks if isinstance(block, TextBlock)] for turn in joined.main.turns]


def test_records_of_one_message_are_one_turn() -> None:
    """Whatever stands between them."""
    joined = exchange([said("a", "m1", "c1"), call("c1"), result("c1", "x"), said("b", "m1"), said("c", "m2")])
    assert texts(joined) == [["a", "b"], ["c"]]
    assert [turn.records for turn in joined.main.turns] == [2, 1]


def test_records_without_an_id_are_joined_up_to_the_next_result() -> None:
    """And up to the next user message."""
    joined = exchange([said("a"), said("b"), call("c1"), result("c1", "x"), said("c"), asked("d"), said("e")])
    assert texts(joined) == [["a", "b"], ["c"], ["d"], ["e"]]
    assert [len(turn.calls) for turn in joined.main.turns] == [1, 0, 0, 0]


def test_a_call_is_placed_in_the_message_that_asks_for_it() -> None:
    """Else in the open message, else in a turn of its own, which no model said."""
    joined = exchange(
        [
            said("a", "m1", "c1"),
            said("b", "m2"),
            call("c1"),
            call("c2"),
            result("c2", "x"),
            call("c3"),
            result("c1", "y"),
        ]
    )
    found = [[(each.call_id, each.output, each.is_host) for each in turn.calls] for turn in joined.main.turns]
    assert found == [[("c1", "y", False)], [("c2", "x", False)], [("c3", None, True)]]
    assert [turn.records for turn in joined.main.turns] == [1, 1, 0]


def test_a_wish_without_a_call_is_an_open_call() -> None:
    """Also when only the block in the message tells of it; a call that came before its block is not counted twice."""
    assert [each.has_result for turn in exchange([said("a", "m1", "c1")]).main.turns for each in turn.calls] == [False]
    assert sum(len(turn.calls) for turn in exchange([call("c1"), said("a", "m1", "c1")]).main.turns) == 1


def test_a_router_pair_and_an_agent_pair_are_one_call() -> None:
    """The router's word counts."""
    run = [
        said("a", "m1", "c1"),
        call("c1"),
        call("c1", "router"),
        result("c1", "agent"),
        result("c1", "ours", "router"),
    ]
    (turn,) = exchange(run).main.turns
    assert [each.output for each in turn.calls] == ["ours"]


def test_a_result_without_a_call_is_a_notice() -> None:
    """In its place; a result that came before its call is no notice."""
    (stray, turn) = exchange([result("c1", "x"), said("a")]).main.items
    assert isinstance(stray, Notice)
    assert isinstance(turn, Turn)
    assert [type(item) for item in exchange([result("c1", "x"), said("a"), call("c1")]).main.items] == [Turn]


def test_usage_goes_to_the_message_it_names() -> None:
    """Else to the last answer of its source; of several reports of one call the last counts."""
    joined = exchange(
        [
            said("a", "m1"),
            said("b", "m2"),
            usage(1, "m1"),
            usage(5, "m2"),
            usage(2, "m1"),
            usage(7),
            usage(9, source="subagent:x"),
        ]
    )
    assert [[each.input_tokens for each in turn.usages] for turn in joined.main.turns] == [[2], [5, 7]]
    assert [payload.input_tokens for _, payload in joined.loose_usage] == [9]
    assert joined.main.turns[1].usage == Usage(input_tokens=12, output_tokens=2, records=2)


def test_totals_are_not_added_to_calls() -> None:
    """They belong to no message; the last total stands for the ones before."""
    joined = exchange([said("a"), usage(1), usage(10, scope="total"), usage(20, scope="total"), usage(3, scope="turn")])
    assert [each.input_tokens for each in joined.main.turns[0].usages] == [1]
    assert sorted(payload.input_tokens for _, payload in joined.loose_usage) == [3, 20]
    assert joined.usage.input_tokens == 1


def test_the_system_prompt_is_there_once() -> None:
    """Not as a text of the message that brought it."""
    payload_blocks = tuple(TextBlock(fidelity="agent_emitted", text=text) for text in ("Hello.", "Be brief."))
    payload = MessagePayload(role="user", blocks=payload_blocks, system_prompt="Be brief.")
    (turn,) = exchange([event("message.user", payload)]).main.turns
    assert (turn.system_prompt, [block.text for block in turn.blocks]) == ("Be brief.", ["Hello."])


def test_a_time_that_is_not_one_is_left_out() -> None:
    """And counted."""
    joined = exchange([said("a", at="[trimmed]"), said("b", "m1")])
    assert [turn.at for turn in joined.main.turns] == [None, "2026-11-01T10:00:00Z"]
    assert joined.untimed == (1, 1)


def test_the_first_source_is_not_always_the_main_one() -> None:
    """A subagent's event may come first; `main` is the main agent all the same."""
    joined = exchange([said("a", source="subagent:x"), said("b")])
    assert texts(joined) == [["b"]]
    assert [thread.source for thread in joined.subagents] == ["subagent:x"]


def test_an_input_that_is_not_an_object_is_put_into_one() -> None:
    """Under `input`."""
    (turn,) = exchange([call("c1", input="ls -l")]).main.turns
    assert turn.calls[0].arguments == {"input": "ls -l"}
