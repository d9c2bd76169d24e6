"""Python functions as tools: what a model is told, what it may send, what it gets."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.adapters.tool import result_text, tool_of, tools_of
from stenograph.errors import InvalidTool


class Unit(enum.Enum):
    """A unit."""

    METRE = "m"


@dataclass
class Place:
    """Somewhere."""

    name: str
    height: float = 0.0


def measure(
    place: Place,
    unit: Unit = Unit.METRE,
    times: int = 1,
    how: Literal["fast", "well"] = "well",
    tags: list[str] = [],  # noqa: B006  # as people write it
) -> str:
    """Measure a place.

    Twice if needed.
    """
    return f"{place.name} {unit.value} {times} {how} {tags}"


MEASURE = tool_of(measure)


def test_a_function_tells_the_model_about_itself() -> None:
    """Name, docstring, and a schema in one piece: types, what is required, defaults that JSON has."""
    tool = MEASURE
    assert (tool.name, tool.description) == ("measure", "Measure a place.\n\nTwice if needed.")
    schema = tool.parameters
    assert schema["type"] == "object"
    assert schema["required"] == ["place"]
    assert schema["properties"]["times"] == {"type": "integer", "default": 1}
    assert schema["properties"]["how"]["enum"] == ["fast", "well"]
    assert schema["properties"]["place"] == {"$ref": "#/$defs/Place"}
    assert schema["$defs"]["Place"]["required"] == ["name"]
    assert schema["additionalProperties"] is False
    assert not tool.is_async


def test_a_function_without_arguments_has_an_empty_schema() -> None:
    """Services want the keys, also when there is nothing in them."""

    async def now() -> str:
        return "now"

    tool = tool_of(now)
    assert tool.is_async
    assert tool.parameters == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    assert tool.bind(None) == tool.bind({}) == {}


def test_what_a_model_sends_becomes_arguments() -> None:
    """Converted to the types of the signature, defaults filled in."""
    tool = MEASURE
    bound = tool.bind({"place": {"name": "Zugspitze"}, "unit": "m", "times": 2})
    assert bound == {"place": Place("Zugspitze"), "unit": Unit.METRE, "times": 2, "how": "well", "tags": []}
    assert tool.function(**bound) == "Zugspitze m 2 well []"
    assert tool.bind({"place": {"name": "x"}})["tags"] is tool.bind({"place": {"name": "x"}})["tags"]


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ({}, "missing required field `place`"),
        ({"place": {"name": 1}}, "Expected `str`, got `int`"),
        ({"place": {"name": "x"}, "depth": 3}, "unknown field `depth`"),
        ({"place": {"name": "x"}, "how": "badly"}, "Invalid enum value"),
        ("place", "Expected `object`, got `str`"),
        ([1], "Expected `object`, got `array`"),
    ],
)
def test_what_does_not_fit_is_said(sent: Any, why: str) -> None:
    """The model gets this text and can try again."""
    with pytest.raises(ValueError, match=why):
        MEASURE.bind(sent)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda kids: st.lists(kids) | st.dictionaries(st.text(), kids),
    )
)
def test_whatever_is_sent_is_refused_by_a_value_error_or_fits(sent: Any) -> None:
    """Nothing else ever comes out of it."""
    why = ""
    try:
        bound = MEASURE.bind(sent)
    except ValueError as error:
        why = str(error)
    assert why or set(bound) == {"place", "unit", "times", "how", "tags"}


def test_a_function_without_hints_takes_anything() -> None:
    """Untyped arguments are passed on as they are."""

    def plain(a, b=2):  # type: ignore[no-untyped-def]
        return a, b

    assert tool_of(plain).bind({"a": {"x": [1]}}) == {"a": {"x": [1]}, "b": 2}


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: x, "it has no name"),
        (functools.partial(measure, times=2), "it has no name"),
        ("measure", "it has no name"),
        (print, "does not accept; name each argument"),
    ],
)
def test_what_cannot_be_a_tool_is_refused(function: Any, why: str) -> None:
    """At once, and with the way out."""
    with pytest.raises(InvalidTool, match=why):
        tool_of(function)


def test_hints_that_json_has_no_form_for_are_refused() -> None:
    """A model cannot send a socket, and a hint that names nothing cannot be read."""

    def odd(x: complex) -> None: ...

    def lost(x: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821  # that is the point

    with pytest.raises(InvalidTool, match="odd cannot be a tool: its arguments have no JSON Schema"):
        tool_of(odd)
    with pytest.raises(InvalidTool, match=r"lost cannot be a tool: its signature cannot be read.*Nowhere"):
        tool_of(lost)


def test_two_tools_of_one_name_are_refused() -> None:
    """The model could not say which it means."""
    with pytest.raises(InvalidTool, match="another tool has the same name"):
        tools_of((measure, measure))
    assert list(tools_of((measure,))) == ["measure"]


def test_a_method_is_a_tool_without_its_self() -> None:
    """Bound methods are functions, too."""

    class Shop:
        def price(self, what: str) -> int:
            """A price."""
            return len(what)

    tool = tool_of(Shop().price)
    assert list(tool.parameters["properties"]) == ["what"]
    assert tool.function(**tool.bind({"what": "tea"})) == 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (3, "3"),
        (None, "null"),
        ({"a": [1]}, '{"a":[1]}'),
        (Place("x"), '{"name":"x","height":0.0}'),
    ],
)
def test_what_a_tool_gives_becomes_text(value: Any, text: str) -> None:
    """Text as it is, everything else as JSON."""
    assert result_text(value) == text
    assert "object at" in result_text(object())
