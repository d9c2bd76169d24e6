"""The order of a page: what stands with what, and what is held for it."""

from __future__ import annotations

from typing import Any

import pytest

from stenograph.model import Event, MessagePayload, Origin, SystemPayload, TextBlock, ToolPayload, ToolUseBlock
from stenograph.render.first_pass import page_facts_of
from stenograph.render.layout import QUIET_GROUP, PageLayout
from stenograph.render.page_facts import SourceFacts, UnitFacts
from stenograph.render.page_writer import CallFacts


class Words:
    """A skin that writes each thing as a word, so that an order can be read."""

    def unit(self, facts: UnitFacts) -> tuple[str, str]:
        return f"[{facts.number}: ", "] "

    def message(self, event: Event, payload: MessagePayload, anchor: str, orphans: frozenset[str]) -> str:
        return f"{event.seq}{''.join(sorted(orphans))} "

    def call(self, event: Event, payload: ToolPayload, anchor: str, facts: CallFacts) -> tuple[str, str, str]:
        marks = "!" * facts.failed + "?" * (not facts.answered) + "&" * facts.spawns
        return f"call{event.seq}{marks}", "( ", ") "

    def outcome(self, call: Event, payload: ToolPayload) -> str:
        return ""

    def other_report(self, event: Event, payload: ToolPayload, anchor: str) -> str:
        return f"too{event.seq} "

    def result(self, event: Event, payload: ToolPayload, anchor: str, name: str, call: Event) -> str:
        return f"result{event.seq} "

    def stray(self, event: Event, payload: ToolPayload, anchor: str, name: str, call_anchor: str) -> str:
        return f"stray{event.seq}={name}@{call_anchor} "

    def subagent(self, event: Event, facts: SourceFacts | None, *, continued: bool) -> tuple[str, str]:
        return f"{event.source[-1]}{'+' * continued}{{ ", "} "

    def notice(self, event: Event, anchor: str) -> str:
        return f"loud{event.seq} "

    def aside(self, event: Event, anchor: str) -> tuple[str, str]:
        return "q", f"q{event.seq}"

    def asides(self, group: list[tuple[str, str]]) -> str:
        return f"<{','.join(text for _, text in group)}> "


def told(*facts: Any, hold: int = 10**6) -> str:
    """The page of events given by words: `user`, `bot`, `call c`, `result c`, `note`; `a:` before a subagent's."""
    run = [_event(seq, fact if isinstance(fact, Fact) else Fact(fact)) for seq, fact in enumerate(facts, 1)]
    return "".join(PageLayout(page_facts_of(run), Words(), hold=hold).text(run)).strip()


class Fact:
    """What happened, in words, and the fields that make it special."""

    def __init__(self, words: str, spawned_by: str | None = None, parent: str = "main", **tool: Any) -> None:
        self.source, _, self.what = words.rpartition(":")
        self.spawned_by = spawned_by
        self.parent = parent
        self.tool = tool


def _event(seq: int, fact: Fact) -> Event:
    kind, _, call_id = fact.what.partition(" ")
    origin = None
    if fact.source:
        source = f"subagent:{fact.source}"
        origin = Origin(source=source, parent_source=fact.parent, parent_call_id=fact.spawned_by)
    fields = {"fidelity": "agent_emitted", **fact.tool}
    tool = ToolPayload(name="T", call_id=call_id, input=None, output=None, **fields)
    payloads = {
        "user": ("message.user", MessagePayload(role="user", blocks=(_TEXT,))),
        "bot": ("message.assistant", MessagePayload(role="assistant", blocks=(_TEXT, *_asks(call_id)))),
        "call": ("tool.call", tool),
        "result": ("tool.result", tool),
        "note": ("system.event", SystemPayload(subtype="note")),
    }
    name, payload = payloads[kind]
    return Event(seq=seq, run_id="r", type=name, path="", iteration=0, timestamp="", origin=origin, payload=payload)


_TEXT = TextBlock(fidelity="router", text="x")


def _asks(call_id: str) -> tuple[ToolUseBlock, ...]:
    block = ToolUseBlock(fidelity="router", tool_name="T", tool_id=call_id, tool_input=None)
    return (block,) if call_id else ()


def test_a_result_stands_with_its_call() -> None:
    """Also when other calls are made before it comes."""
    page = told("user", "call x", "call y", "bot", "result y", "result x")
    assert page == "[1: 1 call2( result6 ) call3( result5 ) 4 ]"


def test_a_call_without_a_result_holds_nothing_up() -> None:
    """It is marked, and what follows does not wait for it."""
    assert told("user", "call x", "bot") == "[1: 1 call2?( ) 3 ]"


def test_a_failed_call_is_known_as_such_at_its_beginning() -> None:
    """The survey has seen its result."""
    assert told("user", "call x", Fact("result x", error="boom")) == "[1: 1 call2!( result3 ) ]"
    assert told("user", "call x", "result x") == "[1: 1 call2( result3 ) ]"


def test_a_result_of_an_earlier_unit_stands_where_it_comes() -> None:
    """With the name of its call and the way to it."""
    assert told("user", "call x", "user", "result x") == "[1: 1 call2( ) ] [2: 3 stray4=T@seq-2 ]"


def test_a_result_without_a_call_stands_alone() -> None:
    """Nothing is known of its call."""
    assert told("user", "result x") == "[1: 1 stray2=T@ ]"


def test_what_came_before_anybody_spoke_is_unit_zero() -> None:
    """It has a place of its own."""
    assert told("note", "user") == "[0: <q1> ] [1: 2 ]"


def test_asides_stand_together_up_to_a_number() -> None:
    """So no run of them has to be held."""
    page = told("user", *["note"] * (QUIET_GROUP + 1))
    assert page.count("<") == 2


def test_two_witnesses_of_one_call_are_one_call() -> None:
    """The second stands inside; one by the same reporter is a call of its own."""
    two = told("user", Fact("call x"), Fact("call x", fidelity="router"), Fact("result x", fidelity="router"))
    assert two == "[1: 1 call2( too3 result4 ) ]"
    again = told("user", "call x", "call x", "result x")
    assert again == "[1: 1 call2?( ) call3( result4 ) ]"


def test_a_witness_that_comes_too_late_is_told_all_the_same() -> None:
    """When the call was let go, the other report of it stands where it comes, and is the same call."""
    facts = ("user", Fact("call x"), "bot", Fact("call x", fidelity="router"), Fact("result x", fidelity="router"))
    assert told(*facts, hold=0) == "[1: 1 call2( ) 3 too4 stray5=T@seq-2 ]"


def test_a_tool_block_that_nothing_repeats_is_told_by_its_message() -> None:
    """And one that an event of its own tells is not."""
    assert told("bot x", "call x", "result x") == "[0: 1 call2( result3 ) ]"
    assert told("bot x", "bot y", "call y") == "[0: 1x 2 call3?( ) ]"
    assert told("bot x", "bot x", "call x") == "[0: 1x 2 call3?( ) ]"


def test_a_subagent_stands_below_the_call_that_spawned_it() -> None:
    """Between the call and its result, whatever the main agent does meanwhile."""
    page = told("user", "call x", Fact("a:user", "x"), "bot", Fact("a:bot", "x"), "result x")
    assert page == "[1: 1 call2&( a{ 3 5 } result6 ) 4 ]"


def test_a_call_waits_for_subagents_that_outlive_their_result() -> None:
    """A background agent goes on after the call was answered, also into the next unit."""
    page = told("user", "call x", Fact("a:user", "x"), "result x", "user", Fact("a:bot", "x"), "bot")
    assert page == "[1: 1 call2&( a{ 3 6 } result4 ) ] [2: 5 7 ]"


def test_parallel_subagents_are_told_one_after_the_other() -> None:
    """Each in one piece, in the order in which they began."""
    page = told(
        "user",
        "call x",
        "call y",
        Fact("a:user", "x"),
        Fact("b:user", "y"),
        Fact("a:bot", "x"),
        Fact("b:bot", "y"),
        "result x",
        "result y",
    )
    assert page == "[1: 1 call2&( a{ 4 6 } result8 ) call3&( b{ 5 7 } result9 ) ]"


def test_subagents_of_subagents() -> None:
    """A call of a subagent has its own below it."""
    inner = Fact("b:bot", "y", parent="subagent:a")
    page = told(
        "user", "call x", Fact("a:user", "x"), Fact("a:call y", "x"), inner, Fact("a:result y", "x"), "result x"
    )
    assert page == "[1: 1 call2&( a{ 3 call4&( b{ 5 } result6 ) } result7 ) ]"


def test_a_subagent_whose_call_nobody_knows_stands_where_it_begins() -> None:
    """In what its parent does."""
    assert told("user", Fact("a:bot", "nowhere"), "bot", Fact("a:bot", "nowhere")) == "[1: 1 a{ 2 4 } 3 ]"


def test_what_would_be_held_too_long_is_let_go() -> None:
    """The page goes on; what comes late is told where it happens, and nothing is lost."""
    facts = ["user", "call x", Fact("a:user", "x"), "bot", "bot", Fact("a:bot", "x"), Fact("a:note", "x"), "result x"]
    page = told(*facts, hold=0)
    assert page == "[1: 1 call2&( a{ 3 } ) 4 5 a+{ 6 } a+{ <q7> } stray8=T@seq-2 ]"


@pytest.mark.parametrize("hold", [0, 10**6])
def test_text_leaves_as_soon_as_nothing_is_open_before_it(hold: int) -> None:
    """A page is a stream: what is complete is written before the next event is read."""
    run = [_event(seq, Fact(what)) for seq, what in enumerate(["user", "bot", "call x", "result x", "bot"], 1)]
    read: list[int] = []

    def reading() -> Any:
        for event in run:
            read.append(event.seq)
            yield event

    pieces = PageLayout(page_facts_of(run), Words(), hold=hold).text(reading())
    seen = [(piece.strip(), len(read)) for piece in pieces]
    assert ("2", 2) in seen
    assert ("5", 5) in seen
    assert next(at for piece, at in seen if piece.startswith("call3")) == 3
