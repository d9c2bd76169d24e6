"""The values themselves: frozen, comparable, and in step with each other."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import fields

from stenograph import model
from stenograph.model import EVENT_TYPES, Block, Event, Payload, TextBlock, UnknownPayload, Value
from stenograph.model.codec import _Envelope
from stenograph.model.event import PAYLOAD_TYPES
from stenograph.model.mend import _BLANKS

VALUES = [value for value in vars(model).values() if isinstance(value, type) and issubclass(value, Value)]


def test_the_vocabulary_is_the_fourteen_of_the_wire() -> None:
    """Closed: ten of the exchange format and four of ours, in that order."""
    assert EVENT_TYPES == (
        "run.started", "run.completed", "step.started", "step.completed", "step.call_workflow.started",
        "step.call_workflow.completed", "message.user", "message.assistant", "tool.call", "tool.result",
        "system.event", "token.usage", "error", "unknown",
    )  # fmt: skip


def test_values_are_frozen() -> None:
    """Nobody changes an event that somebody else has seen."""
    block = TextBlock(fidelity="router", text="hi")
    with pytest.raises(AttributeError):
        block.text = "bye"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Event(seq=1, run_id="", type="", path="", iteration=0, timestamp="", payload=None).seq = 2  # type: ignore[misc]


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_values_are_built_by_name(kind: type[Value]) -> None:
    """Fields may be added anywhere without breaking a caller: none is positional."""
    with pytest.raises(TypeError, match="positional"):
        kind("x")  # type: ignore[call-arg]


def test_an_envelope_has_the_fields_of_an_event() -> None:
    """The typed decoder reads the same fields, in the same order and with the same defaults, as events have."""
    described = [
        [(field.name, field.encode_name, field.default) for field in fields(kind)] for kind in (Event, _Envelope)
    ]
    assert described[0] == described[1]


def test_every_required_field_has_a_blank_of_its_type() -> None:
    """Mending can build any value from nothing, and what it builds for text is text."""
    for kind in {Event, *PAYLOAD_TYPES.values(), *get_args(Block)}:
        for field in fields(kind):
            if field.required and field.name not in _BLANKS:
                assert field.type is str, (kind, field.name)


def test_each_event_type_has_a_payload_of_the_union() -> None:
    """`Payload` names every shape that an event type carries, and no other."""
    assert set(PAYLOAD_TYPES.values()) == set(get_args(Payload))


def test_an_unknown_payload_tells_null_from_nothing() -> None:
    """A record that is JSON null is not a record without JSON."""
    assert UnknownPayload(value=None) != UnknownPayload()
