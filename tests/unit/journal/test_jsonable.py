"""Any Python value as JSON: whatever a host hands us."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import uuid
from collections import OrderedDict, defaultdict
from types import MappingProxyType
from typing import Any

import msgspec
import pytest

from stenograph.jsonable import jsonable


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: float
    y: Any


class Plain:
    def __repr__(self) -> str:
        return "Plain()"


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__


class Model:
    """Looks like pydantic's."""

    def model_dump(self, mode: str) -> dict[str, Any]:
        return {"mode": mode, "items": [1]}


class BrokenModel:
    def model_dump(self, mode: str) -> dict[str, Any]:
        raise RuntimeError("half built")

    def __repr__(self) -> str:
        return "BrokenModel()"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ({"a": [1, 2.5, "x", None, True]}, {"a": [1, 2.5, "x", None, True]}),
        ((1, (2,)), (1, (2,))),
        ((1, (float("nan"),)), [1, ["nan"]]),
        (2**80, 2**80),
        ({1: "a", 2.5: "b"}, {"1": "a", "2.5": "b"}),
        ({(1, 2): "a"}, {"(1, 2)": "a"}),
        (float("nan"), "nan"),
        ({"a": [float("inf"), None, 1]}, {"a": ["inf", None, 1]}),
        (b"xy", "eHk="),
        (Colour.RED, "red"),
        (Point(1.0, [Plain()]), {"x": 1.0, "y": ["Plain()"]}),
        (Point(float("-inf"), None), {"x": "-inf", "y": None}),
        (pathlib.Path("/a/b"), "/a/b"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (decimal.Decimal("1.50"), "1.50"),
        (datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), "2026-01-02T00:00:00Z"),
        ({"a"}, ["a"]),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(list, a=[1]), {"a": [1]}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (Plain(), "Plain()"),
        (int, "<class 'int'>"),
        (Broken(), "<Broken without a repr>"),
        ({"a": Broken(), "b": 1}, {"a": "<Broken without a repr>", "b": 1}),
        (Model(), {"mode": "json", "items": [1]}),
        ([BrokenModel(), 1], ["BrokenModel()", 1]),
        ("lone \ud800", "lone \ud800"),
        ({"k\ud800": 1}, {"k\ud800": 1}),
    ],
)
def test_a_value_becomes_json(value: Any, expected: Any) -> None:
    """What JSON has a form for keeps it; the rest becomes its repr, piece by piece."""
    assert jsonable(value) == expected


def test_a_generator_is_not_used_up() -> None:
    """We look, we do not consume."""
    numbers = (number for number in range(3))
    assert "generator" in jsonable({"numbers": numbers})["numbers"]
    assert list(numbers) == [0, 1, 2]


def test_an_odd_key_costs_only_itself() -> None:
    """Keys whose repr fails have a stand-in."""
    key = Broken()
    assert jsonable({key: 1, "a": 2}) == {"<Broken without a repr>": 1, "a": 2}


def test_what_holds_itself_is_told_once() -> None:
    """A tree with links to the parent, the usual case, ends at the link."""
    root: dict[str, Any] = {"name": "root", "children": []}
    for number in range(10):
        root["children"].append({"name": number, "parent": root, "siblings": root["children"]})
    told = jsonable(root)
    assert [child["name"] for child in told["children"]] == list(range(10))
    assert told["children"][0]["parent"] == "<dict of 2, left out>"
    json.dumps(told)


def test_everything_that_holds_everything_still_ends() -> None:
    """Twelve dicts that all hold one another have more paths than there is time."""
    nodes: list[dict[str, Any]] = [{} for _ in range(12)]
    for node in nodes:
        node.update({str(number): other for number, other in enumerate(nodes)})
    assert len(json.dumps(jsonable(nodes))) < 100_000_000


def test_deep_nesting_is_cut_where_json_ends() -> None:
    """What can be written is kept whole; what cannot is told as far as it goes."""
    value: Any = None
    for _ in range(400):
        value = [value]
    assert jsonable(value) == value
    for _ in range(100_000):
        value = [value]
    assert "left out" in str(msgspec.json.encode(jsonable(value)))


class _Word(str):
    __slots__ = ()


class _Share(float):
    __slots__ = ()


class _Array:
    """What numpy's arrays and scalars look like to us."""

    dtype = "float64"

    def tolist(self) -> list[float]:
        return [1.5, 2.5]


def test_numbers_and_strings_of_a_library_stay_numbers_and_strings() -> None:
    """Subclasses of str and float, and arrays, are recorded as the values they are."""
    assert jsonable({"a": _Word("x"), "b": _Share(1.5), "c": _Array()}) == {"a": "x", "b": 1.5, "c": [1.5, 2.5]}
