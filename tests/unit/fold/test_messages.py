"""Messages that an agent spread over several records are put together again."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from stenograph.fold.messages import count_messages, messages
from stenograph.model import Event, MessagePayload, Origin, TextBlock, ThinkingBlock, ToolPayload


def said(seq: int, text: str, message_id: str | None = None, **more: Any) -> Event:
    role = more.pop("role", "assistant")
    source, run_id, thinking = more.pop("source", None), more.pop("run_id", "r"), more.pop("thinking", False)
    block: Any = (
        ThinkingBlock(fidelity="agent_emitted", thinking=text)
        if thinking
        else TextBlock(fidelity="agent_emitted", text=text)
    )
    payload = MessagePayload(role=role, blocks=(block,), message_id=message_id, **more)
    return event(seq, f"message.{role}", payload, run_id=run_id, source=source)


def event(seq: int, type: str, payload: Any, *, run_id: str = "r", source: str | None = None) -> Event:
    return Event(
        seq=seq,
        run_id=run_id,
        type=type,
        path="",
        iteration=0,
        timestamp=f"t{seq}",
        origin=Origin(source=source),
        payload=payload,
    )


def test_records_with_one_id_are_one_message() -> None:
    """Thinking, text and whatever else share an id; a tool result between them changes nothing."""
    result = ToolPayload(name="", call_id="c", input=None, output="ok", fidelity="agent_emitted")
    events = [
        said(1, "hm", "m1", thinking=True, model="opus"),
        event(2, "tool.result", result),
        said(3, "Done.", "m1", stop_reason="end_turn"),
    ]
    [message] = messages(events)
    assert [type(block).__name__ for block in message.blocks] == ["ThinkingBlock", "TextBlock"]
    assert (message.model, message.stop_reason, message.seqs) == ("opus", "end_turn", (1, 3))
    assert (message.started_at, message.ended_at) == ("t1", "t3")


def test_records_without_an_id_stand_alone() -> None:
    """Nothing says that they belong together."""
    assert [message.seqs for message in messages([said(1, "a"), said(2, "b"), said(3, "c", "")])] == [(1,), (2,), (3,)]


def test_the_same_id_elsewhere_is_another_message() -> None:
    """Another source, another run and another role do not share messages."""
    events = [
        said(1, "a", "m"),
        said(2, "b", "m", source="subagent:x"),
        said(3, "c", "m", run_id="fork"),
        said(4, "d", "m", role="user"),
    ]
    assert [(m.run_id, m.source, m.role) for m in messages(events)] == [
        ("r", "main", "assistant"),
        ("r", "subagent:x", "assistant"),
        ("fork", "main", "assistant"),
        ("r", "main", "user"),
    ]


def anew(event: Event) -> Event:
    """The same in a record that replaces what the message said before."""
    return replace(event, payload=replace(event.payload, replaces=True))


def test_the_richest_version_of_a_text_wins() -> None:
    """An agent that rewrites a message tells it longer or shorter; the longer one stands, where the first one stood."""
    first, thought = said(1, "Hello", "m"), said(2, "hm", "m", thinking=True)
    events = [first, thought, *(anew(said(seq, text, "m")) for seq, text in ((3, "Hello world"), (4, "He")))]
    [message] = messages(events)
    assert [getattr(block, "text", None) for block in message.blocks] == ["Hello world", None]
    assert message.seqs == (1, 2, 3, 4)


def test_a_message_that_was_not_written_anew_keeps_every_text() -> None:
    """Two texts of one message may begin alike."""
    [message] = messages([said(1, "Step", "m"), said(2, "Step two", "m")])
    assert [getattr(block, "text", None) for block in message.blocks] == ["Step", "Step two"]


def test_what_is_said_twice_or_is_blank_stays() -> None:
    """Equal texts, blank ones, those of one record and those of different kinds are no versions of one another."""
    both = MessagePayload(
        role="assistant",
        blocks=(TextBlock(fidelity="agent_emitted", text="a"), TextBlock(fidelity="agent_emitted", text="ab")),
        message_id="m",
    )
    assert len(messages([event(1, "message.assistant", both)])[0].blocks) == 2
    again = [said(1, "same", "m"), said(2, "same", "m"), said(3, "\n", "m"), said(4, "same as", "m", thinking=True)]
    again = [anew(each) for each in again]
    assert len(messages(again)[0].blocks) == 4


def test_messages_come_in_the_order_in_which_they_began() -> None:
    """Interleaved messages keep their blocks apart."""
    events = [said(1, "a", "m1"), said(2, "b", "m2"), said(3, "c", "m1")]
    assert [message.seqs for message in messages(events)] == [(1, 3), (2,)]


def test_counting_agrees_with_joining() -> None:
    """Messages are counted by distinct id."""
    events = [said(1, "a", "m1"), said(2, "b", "m1"), said(3, "c"), said(4, "q", role="user")]
    assert count_messages(events) == len(messages(events)) == 3


def test_a_payload_of_another_shape_is_no_message() -> None:
    """A broken journal may hold anything; it does not stop the fold."""
    assert messages([event(1, "message.user", None), event(2, "message.assistant", {"role": 1})]) == []
    assert count_messages([event(1, "message.user", None)]) == 0
