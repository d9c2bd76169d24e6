"""Values as lines: what is written, what comes back, what is refused."""

from __future__ import annotations

import enum
import json
import sys
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from types import ModuleType
from typing import Any
from uuid import UUID

import msgspec
import pytest

from stenograph.errors import InvalidEvent
from stenograph.model import Event, TextBlock
from stenograph.session import PromptExecuted, PromptRendered, ToolInvoked
from stenograph.session.record import Record, type_name
from stenograph.transcript import TranscriptEntry

NOON = datetime(2026, 6, 8, 12, tzinfo=UTC)


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    numbers: dict[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Everything:
    inner: Inner
    moment: datetime
    day: date
    id: UUID
    price: Decimal
    colour: Colour
    data: bytes
    names: frozenset[str]
    anything: Any = None
    many: list[Inner] = field(default_factory=list)
    maybe: float | None = None


class Point(msgspec.Struct, frozen=True, tag="point", omit_defaults=True, rename="camel", forbid_unknown_fields=True):
    left_side: int = 0
    top_side: int = 0


class Blank(msgspec.Struct, frozen=True, omit_defaults=True):
    value: int = 0


class Pair(msgspec.Struct, frozen=True, array_like=True):
    left: int


@dataclass(frozen=True)
class Loose:
    value: Any
    other: float = 0.0


@dataclass(frozen=True)
class Fussy:
    value: int

    def __post_init__(self) -> None:
        if self.value > 5:
            raise LookupError("too much")


ENTRY = TranscriptEntry(
    prompt_name="review",
    adapter="claude_agent_sdk",
    entry_type="tool_use",
    sequence_number=10**20,
    source="subagent:a1",
    timestamp=datetime(2026, 6, 8, 12, 0, 0, 123456, tzinfo=timezone(timedelta(hours=-3, minutes=-30))),
    session_id="s-1",
    detail={"sdk_entry": {"deep": [1, None, {"\x00": "\u2028"}], "big": 10**30}},
    raw='{"type":"assistant"}\n',
    role="assistant",
    content="漢字\n\x1b[31m",
    tool_name="Read",
    tool_call_id="c-1",
    tool_input={"path": "main.go"},
    metadata={"claude_session_id": "s-1"},
    timestamp_text="2026-06-08T12:00:00.123456-03:30",
    run_id="550e8400-e29b-41d4-a716-446655440000",
    entry_id=UUID(int=7),
)
EVERYTHING = Everything(
    inner=Inner({1: ("a",), -2: ()}),
    moment=NOON,
    day=date(2026, 6, 8),
    id=UUID(int=1),
    price=Decimal("1.10"),
    colour=Colour.RED,
    data=b"\x00\xff",
    names=frozenset({"a", "b"}),
    anything=[{"a": None}],
    many=[Inner({})],
    maybe=0.1,
)


def _back(value: Any) -> Any:
    record = Record(type(value))
    line = record.line(value)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    return record.value(line[:-1])


@pytest.mark.parametrize(
    "value",
    [
        ENTRY,
        EVERYTHING,
        Blank(),
        Blank(1),
        Point(),
        Point(left_side=1, top_side=-2),
        TextBlock(fidelity="router", text="hello"),
        Loose({"a": [1.5, "x", None, True]}),
        PromptRendered(prompt_name="r", adapter="a", created_at=NOON, session_id=UUID(int=3), system="s", user="u"),
        ToolInvoked(prompt_name="r", adapter="a", created_at=NOON, name="n", params={"a": 1}, result=[2], error="no"),
        PromptExecuted(prompt_name="r", adapter="a", created_at=NOON, text="t", usage={"input_tokens": 3}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_comes_back_equal(value: Any) -> None:
    """Dataclasses and Structs, with all that a typed field can hold, and with types and names of their own."""
    again = _back(value)
    assert again == value
    assert type(again) is type(value)


def test_an_entry_comes_back_with_what_equality_does_not_look_at() -> None:
    """The source's timestamp, the run and the given id, and the offset of its moment."""
    again = _back(ENTRY)
    assert (again.timestamp_text, again.run_id, again.entry_id) == (ENTRY.timestamp_text, ENTRY.run_id, UUID(int=7))
    assert again.timestamp.utcoffset() == ENTRY.timestamp.utcoffset()
    assert again.as_dict() == ENTRY.as_dict()


def test_an_offset_with_seconds_keeps_its_moment() -> None:
    """RFC 3339 has no form for it, so it is written in UTC; in a dataclass and in a Struct."""

    class When(msgspec.Struct, frozen=True):
        moment: datetime

    moment = datetime(1900, 1, 1, tzinfo=timezone(timedelta(minutes=19, seconds=32)))
    assert _back(When(moment)) == When(moment)
    entry = TranscriptEntry("review", "a", "error", 1, "main", moment)
    assert _back(entry) == entry


def test_a_line_says_its_type_first() -> None:
    """`__type__` is the public name, then come the fields in their order."""
    fields = json.loads(Record(TranscriptEntry).line(ENTRY))
    assert list(fields)[:4] == ["__type__", "prompt_name", "adapter", "entry_type"]
    assert fields["__type__"] == "stenograph.transcript:TranscriptEntry"
    assert json.loads(Record(Point).line(Point())) == {"__type__": type_name(Point), "type": "point"}


def test_a_lone_surrogate_is_replaced_and_counted() -> None:
    """UTF-8 cannot hold it, and an entry is not lost for one character."""
    record = Record(Loose)
    assert record.value(record.line(Loose({"a\ud800": "b\udc00c"}))[:-1]) == Loose({"a\ufffd": "b\ufffdc"})
    assert record.replaced == 2


def _cycle() -> list[Any]:
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Loose(object()), "'value'.*object"),
        (Loose({"a": [lambda: 0]}), "'value'.*function"),
        (Loose({(1, 2): 3}), "'value'"),
        (Loose(_cycle()), "'value'.*nested too deeply"),
        (Loose(0, other=float("nan")), r"\$\.other"),
        (Loose(0, other="text"), r"\$\.other"),  # type: ignore[arg-type]
        (TranscriptEntry("r", "a", "error", 1, "main", NOON, role="developer"), r"\$\.role"),  # type: ignore[arg-type]
        (Pair(1), "it does not go through JSON"),
    ],
    ids=["object", "function", "key", "cycle", "nan", "float", "role", "array"],
)
def test_what_could_not_be_read_back_is_refused(value: Any, named: str) -> None:
    """One sentence with the type, the field and what to do; nothing is written that only looks kept."""
    with pytest.raises(InvalidEvent, match=f"^a {type_name(type(value))} cannot be kept in a file, .*{named}"):
        Record(type(value)).line(value)


def test_a_value_of_another_type_is_refused() -> None:
    """A reducer that appends the wrong thing hears of it, although the fields might fit."""
    with pytest.raises(InvalidEvent, match="it is a Loose"):
        Record(Fussy).line(Loose(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff\xfe",
        b"5",
        b"[]",
        b"{}",
        b'{"value":1}',
        b'{"__type__":"other:Fussy","value":1}',
        b'{"__type__":"%s"}' % type_name(Fussy).encode(),
        b'{"__type__":"%s","value":"text"}' % type_name(Fussy).encode(),
        b'{"__type__":"%s","value":6}' % type_name(Fussy).encode(),
        b"[" * 100_000,
    ],
    ids=lambda line: line[:40].decode("latin-1"),
)
def test_a_line_that_holds_no_such_value_gives_none(line: bytes) -> None:
    """Damage, another type, an older form, and a class that refuses its own field: whoever reads counts it."""
    assert Record(Fussy).value(line) is None


def test_a_field_that_is_gone_from_the_class_does_not_matter() -> None:
    """Files outlive versions of a class."""
    line = b'{"__type__":"%s","value":1,"old":2}' % type_name(Fussy).encode()
    assert Record(Fussy).value(line) == Fussy(1)


def test_a_type_is_named_by_where_people_import_it() -> None:
    """The nearest package that lists the class, not the module it happens to live in."""
    assert type_name(TranscriptEntry) == "stenograph.transcript:TranscriptEntry"
    assert type_name(PromptRendered) == "stenograph.session:PromptRendered"
    assert type_name(Event) == "stenograph.model:Event"
    assert type_name(Fussy) == f"{__name__}:Fussy"


def test_a_package_counts_when_it_lists_this_very_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not when it lists another of that name, nor when it has the class without listing it."""
    kind = type("Plan", (), {"__module__": "shop.plans.model"})
    shop, plans = ModuleType("shop"), ModuleType("shop.plans")
    monkeypatch.setitem(sys.modules, "shop", shop)
    monkeypatch.setitem(sys.modules, "shop.plans", plans)
    plans.Plan = kind  # type: ignore[attr-defined]
    assert type_name(kind) == "shop.plans.model:Plan"
    plans.__all__ = ["Plan"]  # type: ignore[attr-defined]
    plans.Plan = object  # type: ignore[attr-defined]
    assert type_name(kind) == "shop.plans.model:Plan"
    shop.__all__ = ["Plan"]  # type: ignore[attr-defined]
    shop.Plan = kind  # type: ignore[attr-defined]
    assert type_name(kind) == "shop:Plan"
    plans.Plan = kind  # type: ignore[attr-defined]
    assert type_name(kind) == "shop.plans:Plan"
