"""`check_format`: checks that a format, ours or of another package, keeps the contract of all formats."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import get_args

from msgspec import Struct

from stenograph.archive.keep.parser_state import dump_state, load_state
from stenograph.errors import AmbiguousFormat
from stenograph.fold.actions import KINDS
from stenograph.fold.agent_tables import MARKS
from stenograph.formats.base import FormatSpec, Identity, Kind
from stenograph.formats.registry import detect_records, formats, head_records
from stenograph.model import EVENT_TYPES, decode, encode
from stenograph.model.block import ToolUseBlock
from stenograph.model.event import Event
from stenograph.model.mend import parse_json
from stenograph.model.payload import MessagePayload, ToolPayload, UsagePayload
from stenograph.testing.case import RUN_ID, Case, case_of, opened, parsed, rebuilt
from stenograph.testing.damage import GARBAGE, ODD_VALUES, damaged, odd_records

_BYTE_BY_BYTE = 20_000
"""Bytes of a case that are fed one by one."""
_LONGEST_LINE = 20_000
"""Longer lines are not used to make odd records."""


class _Broken(Exception):
    """A law does not hold: what is wrong, and at which byte."""

    def __init__(self, what: str, byte: int = 0, where: str = "") -> None:
        super().__init__(what)
        self.what, self.byte, self.where = what, byte, where


class Law(Struct, frozen=True):
    """One thing that must hold for every format."""

    name: str
    check: Callable[[FormatSpec, Case], None]


def check_format(
    spec: FormatSpec, cases: Iterable[Path | str | bytes], *, except_for: Container[str] = frozenset()
) -> None:
    """Check that a format keeps the contract, on real transcripts and on damage done to them.

    `cases` are paths of transcripts (also of a database), or their bytes. Raises `AssertionError` for the first law
    (`LAWS`) that does not hold: which, in which case, at which byte, and why. `except_for` names laws that a format
    has a reason not to keep.
    """
    found = [case_of(spec, case, number) for number, case in enumerate(cases, 1)]
    if not found:
        raise AssertionError(f"{spec.name}: there are no cases to check it with")
    for law in LAWS:
        if law.name in except_for:
            continue
        for case in found:
            try:
                law.check(spec, case)
            except _Broken as broken:
                where = broken.where or case.name
                raise AssertionError(
                    f"{spec.name}: law {law.name!r} broke at byte {broken.byte} of {where}: {broken.what}"
                ) from broken.__cause__
            except Exception as error:
                raise AssertionError(
                    f"{spec.name}: law {law.name!r} broke at byte 0 of {case.name}: "
                    f"it raised {type(error).__name__}: {error}"
                ) from error


def check_bytes(spec: FormatSpec, data: bytes, *, except_for: Container[str] = frozenset()) -> None:
    """Check the laws that hold for any bytes at all. Raises `AssertionError`."""
    try:
        for name, check in _OF_ANY_BYTES.items():
            if name not in except_for:
                check(spec, data)
    except _Broken as broken:
        raise AssertionError(f"{spec.name}: broke at byte {broken.byte} of {data!r}: {broken.what}") from broken


# The description.


def _description(spec: FormatSpec, case: Case) -> None:
    """Its names, its table of tools and its sample are what other modules expect."""
    _must(spec.name.isidentifier() and spec.name == spec.name.lower(), f"{spec.name!r} is not a lower-case name")
    _must(bool(spec.agent.id) and spec.agent.id == spec.agent.id.lower(), f"{spec.agent.id!r} is not an agent's id")
    _must(bool(spec.agent.name and spec.what and spec.versions), "agent, what and versions are for people to read")
    kinds = {tool.kind for tool in spec.tools.values()}
    _must(kinds <= set(KINDS), f"unknown kinds of tools: {', '.join(sorted(kinds - set(KINDS)))}")
    _must(not spec.sample or spec.detect(head_records(spec.sample), "") > 0, "the sample is not detected")
    _must(spec.kind in get_args(Kind), f"{spec.kind!r} is not a kind of format")
    marks = {
        mark for each in spec.turns.marks.values() for mark in (each[1].values() if isinstance(each, tuple) else [each])
    }
    _must(marks <= set(MARKS), f"unknown marks of turns: {', '.join(sorted(marks - set(MARKS)))}")
    _must(spec.kind != "database" or (spec.layout is not None and spec.layout.database is not None), "no database")


def _detection(spec: FormatSpec, case: Case) -> None:
    """It detects its own files, with a higher score than any other format."""
    _must(bool(case.head), "the case has no record to detect it by")
    score = spec.detect(case.head, case.path)
    _must(type(score) is int and 0 < score <= 100, f"detect gives {score!r} for a case of the format itself")
    if formats().get(spec.name) is spec:
        try:
            found = detect_records(case.head, case.path)
        except AmbiguousFormat as error:
            raise _Broken(str(error)) from error
        _must(found is spec, f"it is taken for {'nothing' if found is None else found.name}")


def _refusal(spec: FormatSpec, case: Case) -> None:
    """It scores less than their own format for other programs' files, and 0 for odd records."""
    for other in formats().values():
        if other.sample and other.name != spec.name:
            head, path = head_records(other.sample), f"{other.name}.jsonl"
            score, theirs = spec.detect(head, path), other.detect(head, path)
            is_theirs = (score, spec.priority) < (theirs, other.priority)
            _must(is_theirs, f"it claims it with {score}, and {other.name} with {theirs}", where=f"{other.name}.sample")
    for value in ODD_VALUES:
        score = spec.detect([value], "")
        _must(score == 0, f"detect gives {score!r} for the record {value!r}", where="odd records")


def _identity(spec: FormatSpec, case: Case) -> None:
    """The same beginning names the same run, and odd records raise nothing."""
    found = spec.identify(case.head, case.path)
    _must(isinstance(found, Identity), f"identify gives {found!r}")
    _must(found == spec.identify(list(case.head), case.path), "identify gives two answers for one beginning")
    _must(found.source == "main" or found.source.startswith("subagent:"), f"{found.source!r} is not a source")
    for value in ODD_VALUES:
        odd = spec.identify([value], "")
        _must(isinstance(odd, Identity), f"identify gives {odd!r} for the record {value!r}")


# The events.


def _totality(spec: FormatSpec, case: Case) -> None:
    """Any bytes give events, never an exception, and the report counts bytes and events."""
    _of_any_bytes("totality", spec, case)
    for record in odd_records(case.records if case.is_document else _records(case), len(case.data)):
        line = json.dumps(record).encode()
        where = f"the odd record {line[:300].decode()}"
        parser = opened(spec)
        try:
            parser.feed_object(parse_json(line)[0])
            parser.finish()
            is_fine = parser.report.failed == 0
        except Exception as error:
            raise _Broken(f"it raised {type(error).__name__}: {error}", where=where) from error
        _must(is_fine, "the mapping failed on it", where=where)


def _types(spec: FormatSpec, case: Case) -> None:
    """Every event has one of the fourteen types."""
    _of_any_bytes("types", spec, case)


def _lines(spec: FormatSpec, case: Case) -> None:
    """Every line that is not blank is named by an event, or counted as accumulated.

    Unless it is a document or a stream, the file can be rebuilt from its events, to the byte.
    """
    _of_any_bytes("lines", spec, case)
    if not case.is_document and spec.kind != "stream":
        events, parser = parsed(spec, case.data)
        _must_be_equal(rebuilt(events, parser), case.data)


def _of_any_bytes(law: str, spec: FormatSpec, case: Case) -> None:
    """Check what must hold for any bytes: those of the case, damaged ones, and others."""
    if case.is_document:
        return
    check = _OF_ANY_BYTES[law]
    check(spec, case.data)
    odd = (json.dumps(record).encode() + b"\n" for record in odd_records(_records(case), len(case.data)))
    for data in (*GARBAGE, *damaged(case.data, len(case.data)), *odd):
        try:
            check(spec, data)
        except _Broken as broken:
            beginning = data[max(0, broken.byte - 20) : broken.byte + 200]
            where = f"damaged bytes ({len(data)} of them, …{beginning!r}…), made of {case.name}"
            raise _Broken(broken.what, broken.byte, where) from broken


def _gives_events(spec: FormatSpec, data: bytes) -> None:
    try:
        events, parser = parsed(spec, data)
    except Exception as error:
        raise _Broken(f"it raised {type(error).__name__}: {error}", _raising_byte(spec, data)) from error
    report = parser.report
    if report.failed:
        raise _Broken(f"the mapping failed on {report.failed} lines", _failing_byte(spec, data))
    _must(report.bytes == len(data), f"the report counts {report.bytes} of {len(data)} bytes")
    _must(report.events == len(events), f"the report counts {report.events} of {len(events)} events")
    for event in events:
        _must(decode(encode(event)) == event, "an event is another one after decode(encode())", _byte(data, event))


def _has_known_types(spec: FormatSpec, data: bytes) -> None:
    for event in parsed(spec, data)[0]:
        _must(event.type in EVENT_TYPES, f"{event.type!r} is not an event type", _byte(data, event))


def _names_every_line(spec: FormatSpec, data: bytes) -> None:
    events, parser = parsed(spec, data)
    named = {event.origin.line for event in events if event.origin is not None}
    lines = data.split(b"\n")
    lost = [number for number, line in enumerate(lines, 1) if line.strip() and number not in named]
    if len(lost) > parser.report.accumulated:
        byte = sum(len(line) + 1 for line in lines[: lost[0] - 1])
        raise _Broken(f"no event names line {lost[0]}, and it is not counted as accumulated", byte)


_OF_ANY_BYTES = {"totality": _gives_events, "types": _has_known_types, "lines": _names_every_line}


def _failing_byte(spec: FormatSpec, data: bytes) -> int:
    """Where the first line begins on which the mapping failed."""
    parser, byte = opened(spec), 0
    for line in data.splitlines(keepends=True):
        parser.feed(line)
        if parser.report.failed:
            break
        byte += len(line)
    return byte


def _raising_byte(spec: FormatSpec, data: bytes) -> int:
    """Where the first line begins that makes a parser raise."""
    parser, byte = opened(spec), 0
    for line in data.splitlines(keepends=True):
        try:
            parser.feed(line)
        except Exception:  # noqa: BLE001  # only the place is needed
            break
        byte += len(line)
    return byte


def _must_be_equal(again: bytes, data: bytes) -> None:
    places = (place for place, (one, other) in enumerate(zip(again, data, strict=False)) if one != other)
    byte = next(places, min(len(again), len(data)))
    _must(again == data, "the file cannot be rebuilt from its events", byte)


def _cutting(spec: FormatSpec, case: Case) -> None:
    """Any cut of the bytes gives the same events."""
    if case.is_document:
        return
    head, chance = case.data[:_BYTE_BY_BYTE], random.Random(len(case.data))
    _cut_anywhere(spec, head, range(len(head)))
    _cut_anywhere(spec, case.data, sorted(chance.randrange(len(case.data) + 1) for _ in range(50)))


def _cut_anywhere(spec: FormatSpec, data: bytes, cuts: Sequence[int]) -> None:
    whole = parsed(spec, data)[0]
    if parsed(spec, data, cuts)[0] != whole:
        single = next((cut for cut in cuts if parsed(spec, data, [cut])[0] != whole), cuts[0])
        raise _Broken("cut here, the bytes give other events", single)


def _resuming(spec: FormatSpec, case: Case) -> None:
    """A parser that is saved amid a file, and loaded again, gives the rest as if nothing had happened."""
    if case.is_document:
        return
    whole = parsed(spec, case.data)[0]
    for cut in {len(case.data) // 3, len(case.data) // 2, len(case.data)}:
        parser = opened(spec, side_file=_no_side_file)
        before = parser.feed(case.data[:cut])
        try:
            parser = load_state(dump_state(parser, _no_side_file), spec, _no_side_file)
        except Exception as error:  # whatever pickle raises, the state cannot be saved
            raise _Broken(f"the parser's state cannot be saved: {error}", cut) from error
        after = parser.feed(case.data[cut:]) + parser.finish()
        _must(before + after == whole, "saved and loaded here, it gives other events", cut)


def _no_side_file(name: str) -> str | None:
    return None


def _independence(spec: FormatSpec, case: Case) -> None:
    """Two parsers share nothing: what one reads does not change what the other gives."""
    if case.is_document:
        return
    one, other = opened(spec), opened(spec)
    first: list[Event] = []
    second: list[Event] = []
    data = case.data[:30_000]
    for start in range(0, len(data), 1000):
        first += one.feed(data[start : start + 1000])
        second += other.feed(data[start : start + 1000])
    _must(first + one.finish() == parsed(spec, data)[0] == second + other.finish(), "two parsers disturb one another")


def _order(spec: FormatSpec, case: Case) -> None:
    """Events come in the order of their lines, and have no number (`seq` is 0).

    The order of a stream is not checked: what comes in pieces is an event when it is complete, with its first line.
    """
    events = _events(spec, case)
    for event in events:
        _must(event.seq == 0, "a format gives events without a number (seq 0)", _byte(case.data, event))
    if spec.kind == "stream":
        return
    for before, after in pairwise(event for event in events if event.origin is not None and event.origin.line):
        assert before.origin is not None
        assert after.origin is not None
        is_later = (before.origin.line or 0) <= (after.origin.line or 0)
        _must(is_later, f"line {after.origin.line} comes after line {before.origin.line}", _byte(case.data, after))


def _ids(spec: FormatSpec, case: Case) -> None:
    """Every block that calls a tool has a `tool.call` with the same id, in the same run and source."""
    events = _events(spec, case)
    _must(not events or any(event.run_id == RUN_ID for event in events), "no event is of the run that was opened")
    called = Counter(
        (event.run_id, event.source, event.payload.call_id)
        for event in events
        if event.type == "tool.call" and isinstance(event.payload, ToolPayload)
    )
    for event in events:
        blocks = event.payload.blocks if isinstance(event.payload, MessagePayload) else ()
        for block in blocks or ():
            if isinstance(block, ToolUseBlock):
                key = (event.run_id, event.source, block.tool_id)
                _must(called[key] > 0, f"the call {key[2]!r} has a block, and no tool.call", _byte(case.data, event))


def _tokens(spec: FormatSpec, case: Case) -> None:
    """Tokens are reported by the scopes that the description names."""
    for event in _events(spec, case):
        if isinstance(event.payload, UsagePayload):
            scope = event.payload.scope
            _must(scope in spec.tokens, f"scope {scope!r} is not one of {spec.tokens}", _byte(case.data, event))


LAWS = (
    Law("description", _description),
    Law("detection", _detection),
    Law("refusal", _refusal),
    Law("identity", _identity),
    Law("totality", _totality),
    Law("types", _types),
    Law("lines", _lines),
    Law("cutting", _cutting),
    Law("resuming", _resuming),
    Law("independence", _independence),
    Law("order", _order),
    Law("ids", _ids),
    Law("tokens", _tokens),
)
"""What must hold, in the order in which it is checked. docs/how-to/add-a-format.md explains it."""


def _events(spec: FormatSpec, case: Case) -> list[Event]:
    if not case.is_document:
        return parsed(spec, case.data)[0]
    parser = opened(spec)
    events = [event for record in case.records for event in parser.feed_object(record)]
    return events + parser.finish()


def _records(case: Case) -> list[dict[str, object]]:
    """Records of the case, one of each shape."""
    found: dict[str, dict[str, object]] = {}
    for line in case.data.split(b"\n"):
        for record in head_records(line) if len(line) <= _LONGEST_LINE else ():
            if isinstance(record, dict):
                kinds = [record.get(key) for key in ("type", "method", "object", "subtype")]
                found.setdefault(f"{kinds} {sorted(record)}", record)
    return list(found.values())


def _byte(data: bytes, event: Event) -> int:
    line = None if event.origin is None else event.origin.line
    return sum(len(each) + 1 for each in data.split(b"\n")[: (line or 1) - 1])


def _must(holds: bool, what: str, byte: int = 0, where: str = "") -> None:
    if not holds:
        raise _Broken(what, byte, where)
