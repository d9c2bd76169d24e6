"""One suite that every registered format passes, on its golden cases and on damage done to them."""

from __future__ import annotations

import base64
import os
import pickle
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_cases import CASES, files_of, name_of
from stenograph.archive.keep.frozen_parser import freeze, thaw
from stenograph.formats.base import Context, Format, FormatSpec
from stenograph.formats.registry import detect, formats
from stenograph.model import EVENT_TYPES, Event, decode, encode
from stenograph.model.mend import parse_json
from strategies import examples

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
SPECS = formats()
GOLDEN: dict[str, list[Path]] = defaultdict(list)
for _case in CASES:
    GOLDEN[_case.parent.name] += files_of(_case)


def opened(spec: FormatSpec, *, keep_raw: bool = True) -> Format:
    return spec.open(Context(run_id=RUN_ID, keep_raw=keep_raw))


def parsed(spec: FormatSpec, data: bytes, cuts: list[int] | None = None) -> tuple[list[Event], Format]:
    parser = opened(spec)
    events: list[Event] = []
    start = 0
    for end in [*sorted(cuts or []), len(data)]:
        events += parser.feed(data[start:end])
        start = end
    return events + parser.finish(), parser


def rebuilt(events: list[Event], parser: Format) -> bytes:
    """The source file, from nothing but its events and the report."""
    lines: dict[int, bytes] = {number: text.encode() for number, text in parser.report.blank_lines.items()}
    for event in events:
        if event.origin is None or event.origin.line is None:
            continue
        if event.raw is not None:
            lines[event.origin.line] = event.raw.encode()
        elif event.raw_b64 is not None:
            lines[event.origin.line] = base64.b64decode(event.raw_b64)
    text = b"\n".join(lines.get(number, b"") for number in range(1, parser.report.lines + 1))
    return text + (b"\n" if parser.report.final_newline and parser.report.lines else b"")


def _exchange_lines(events: list[Event], parser: Format) -> Iterator[bytes]:
    """A journal from its events: each is a line, by its raw or as we write it."""
    left = iter(events)
    for number in range(1, parser.report.lines + 1):
        if number > 1:
            yield b"\n"
        if number in parser.report.blank_lines:
            yield parser.report.blank_lines[number].encode()
            continue
        event = next(left)
        yield _raw_of(event) or encode(event)
    if parser.report.lines and parser.report.final_newline:
        yield b"\n"


def _raw_of(event: Event) -> bytes | None:
    """The line that an event carries, unless it is one that it was recorded with."""
    own = decode(encode(event))
    raw = own.raw.encode() if own.raw is not None else base64.b64decode(own.raw_b64) if own.raw_b64 else None
    return raw if raw is not None and b'"raw' not in raw else None


def check(spec: FormatSpec, data: bytes) -> None:
    """What must hold for any bytes at all."""
    events, parser = parsed(spec, data)
    report = parser.report
    assert report.failed == 0
    assert report.bytes == len(data)
    assert report.events == len(events)
    assert all(event.type in EVENT_TYPES for event in events) or spec.name == "exchange"
    assert all(decode(encode(event)) == event for event in events)
    if spec.name == "exchange":
        assert b"".join(_exchange_lines(events, parser)) == data
        return
    named = {event.origin.line for event in events if event.origin is not None}
    full = {number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()}
    assert len(full - named) <= report.accumulated
    if spec.kind != "stream":
        assert rebuilt(events, parser) == data


@pytest.mark.parametrize("spec", SPECS.values(), ids=list(SPECS))
@given(data=st.binary(max_size=300))
@examples(60)
def test_any_bytes_give_events_and_never_an_exception(spec: FormatSpec, data: bytes) -> None:
    """Totality on bytes that nobody chose."""
    check(spec, data)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


_damages = st.lists(st.tuples(st.lists(st.integers(0, 99), min_size=1, max_size=6), _json), min_size=1, max_size=3)
"""What is replaced by what: the way down into a record, by numbers that are taken modulo what is there, and a value."""


@pytest.mark.parametrize("spec", SPECS.values(), ids=list(SPECS))
@given(number=st.integers(0, 9999), damages=_damages)
@examples(150)
def test_records_with_any_value_in_any_field_give_events(
    spec: FormatSpec, number: int, damages: list[tuple[list[int], object]]
) -> None:
    """Real records of the format with fields replaced by arbitrary JSON, wherever they are."""
    import json

    records = _records(spec.name)
    assert records, "no golden case of this format"
    record = json.loads(json.dumps(records[number % len(records)]))
    for way, value in damages:
        _damage(record, way, value)
    check(spec, json.dumps(record).encode() + b"\n")
    opened(spec).feed_object(record)


def _damage(node: object, way: list[int], value: object) -> None:
    """Replace what is found at the end of a way, or where it leads no further."""
    for step, number in enumerate(way, 1):
        if not isinstance(node, dict | list) or not node:
            return
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = keys[number % len(keys)]
        child = node[key]  # type: ignore[index]
        if step == len(way) or not isinstance(child, dict | list) or not child:
            node[key] = value  # type: ignore[index]
            return
        node = child


_cache: dict[str, list[object]] = {}


def _records(name: str) -> list[object]:
    if name not in _cache:
        seen: dict[str, object] = {}
        for path in GOLDEN[name]:
            for line in path.read_bytes().split(b"\n"):
                if not line.strip() or len(line) > 20_000:
                    continue
                try:
                    value, _ = parse_json(line)
                except ValueError:
                    continue
                if isinstance(value, dict):
                    kind = repr([value.get(key) for key in ("type", "method", "object", "subtype")]) + repr(
                        sorted(value)
                    )
                    seen.setdefault(kind, value)
        _cache[name] = list(seen.values())
    return _cache[name]


FILES = [(name, path) for name, paths in sorted(GOLDEN.items()) for path in paths]


def _file_id(value: object) -> str:
    return f"{value.parent.name}-{value.name}" if isinstance(value, Path) else str(value)


@pytest.mark.parametrize(("name", "path"), FILES, ids=_file_id)
def test_a_real_file_is_lossless_and_cut_as_you_like(name: str, path: Path) -> None:
    """Every line is named by an event, the file can be rebuilt, and no cut of the bytes changes anything."""
    spec, data = SPECS[name], path.read_bytes()
    check(spec, data)
    whole, _ = parsed(spec, data)
    chance = random.Random(len(data))
    assert parsed(spec, data, [chance.randrange(len(data) + 1) for _ in range(50)])[0] == whole
    head = data[:20_000]
    assert parsed(spec, head, list(range(len(head))))[0] == parsed(spec, head)[0]


@pytest.mark.parametrize(("name", "path"), FILES, ids=_file_id)
def test_a_damaged_real_file_still_gives_events(name: str, path: Path) -> None:
    """Cut, duplicated, shuffled, with NULs, CRLF, a BOM, broken UTF-8 and lone surrogates."""
    spec, data = SPECS[name], path.read_bytes()[:60_000]
    chance = random.Random(name)
    lines = data.split(b"\n")
    shuffled = chance.sample(lines, len(lines))
    places = [chance.randrange(len(data) + 1) for _ in range(20)]
    holes = b"".join(
        data[start:end] + b"\x00\xff" for start, end in zip([0, *sorted(places)], [*sorted(places), None], strict=True)
    )
    for damaged in (
        data[: chance.randrange(len(data) + 1)],
        b"\n".join(lines + lines),
        b"\n".join(shuffled),
        b"\xef\xbb\xbf" + data,
        data.replace(b"\n", b"\r\n"),
        data.replace(b"e", b"\xff", 40),
        data.replace(b'":"', b'":"\\ud83d', 40),
        holes,
    ):
        check(spec, damaged)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_golden_case_is_detected_as_its_format(case: Path) -> None:
    """Each file is taken for what it is, and for nothing else."""
    for path in files_of(case):
        data = path.read_bytes()
        found = detect(data[: 1 << 16], str(path))
        assert found is not None
        assert found.name == case.parent.name


@pytest.mark.parametrize("name", SPECS)
def test_a_format_has_cases_and_a_provenance_page(name: str) -> None:
    """No format without real cases and without a page that says where its facts come from."""
    assert GOLDEN[name], f"tests/golden/{name} has no case"
    page = (Path(__file__).parents[2] / "docs" / "formats" / f"{name}.md").read_text("utf-8")
    assert name in page


@pytest.mark.parametrize("spec", SPECS.values(), ids=list(SPECS))
def test_two_parsers_share_nothing(spec: FormatSpec) -> None:
    """A format has no global state: interleaving two files gives what each gives alone."""
    files = (GOLDEN[spec.name] * 2)[:2]
    one, other = (path.read_bytes()[:30_000] for path in files)
    first, second = opened(spec), opened(spec)
    got_first, got_second = [], []
    for start in range(0, 30_000, 1000):
        got_first += first.feed(one[start : start + 1000])
        got_second += second.feed(other[start : start + 1000])
    assert got_first + first.finish() == parsed(spec, one)[0]
    assert got_second + second.finish() == parsed(spec, other)[0]


def no_side_file(name: str) -> str | None:
    """Golden files stand alone."""
    return None


_READ_ON = """
import pickle, sys
from stenograph.archive.keep.frozen_parser import freeze, thaw
from stenograph.formats.registry import formats
from stenograph.model import encode

def no_side_file(name):
    return None

told = []
for name, state, rest in pickle.load(sys.stdin.buffer):
    parser = thaw(state, formats()[name], no_side_file)
    events = [encode(event) for event in parser.feed(rest) + parser.finish()]
    told.append((events, freeze(parser.report, no_side_file)))
pickle.dump(told, sys.stdout.buffer)
"""


def test_a_parser_reads_on_in_another_process() -> None:
    """Frozen amid a file and thawed by a process with other hashes, it tells the rest as if nothing had happened."""
    halves, expected = [], []
    for name, path in FILES:
        spec, data = SPECS[name], path.read_bytes()
        parser = spec.open(Context(run_id=RUN_ID, side_file=no_side_file))
        middle = len(data) // 2
        told = len(parser.feed(data[:middle]))
        halves.append((name, freeze(parser, no_side_file), data[middle:]))
        whole, untouched = parsed(spec, data)
        expected.append(([encode(event) for event in whole[told:]], untouched.report))
    done = subprocess.run(
        [sys.executable, "-c", _READ_ON],
        input=pickle.dumps(halves),
        env={**os.environ, "PYTHONHASHSEED": "4711" if os.environ.get("PYTHONHASHSEED") != "4711" else "1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    for (name, path), (events, report), (rest, untouched) in zip(
        FILES, pickle.loads(done.stdout), expected, strict=True
    ):
        assert events == rest, path
        assert thaw(report, SPECS[name], no_side_file) == untouched, path
