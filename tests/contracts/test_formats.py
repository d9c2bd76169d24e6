"""The public contract suite, `stenograph.testing.check_format`, on every registered format and its golden cases."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_cases import CASES, files_of, input_of
from stenograph.archive.keep.parser_state import dump_state, load_state
from stenograph.formats.base import Context, Format, FormatSpec
from stenograph.formats.registry import detect, formats, head_records
from stenograph.model import Event, decode, encode
from stenograph.sources import convert, detect_file
from stenograph.testing import LAWS, check_format
from stenograph.testing.case import RUN_ID, parsed, raw_of
from stenograph.testing.formats import check_bytes
from strategies import examples

SPECS = formats()
GOLDEN: dict[str, list[Path]] = defaultdict(list)
for _case in CASES:
    GOLDEN[_case.parent.name] += files_of(_case)
FILES = [(name, path) for name, paths in sorted(GOLDEN.items()) for path in paths]
SAMPLED = [
    pytest.param(name, path, marks=[] if number % 3 == 0 else [pytest.mark.scale])
    for name, paths in sorted(GOLDEN.items())
    for number, path in enumerate(paths)
]
"""Of each format the first and every third; `make scale` has all of them."""
EXCEPT = {"exchange": ("types", "lines", "order", "ids")}
"""A journal is read as it stands: its events keep their types, numbers, runs and origins."""


def _file_id(value: object) -> str:
    return f"{value.parent.name}-{value.name}" if isinstance(value, Path) else str(value)


@pytest.mark.parametrize(("name", "path"), SAMPLED, ids=_file_id)
def test_a_format_keeps_the_contract_on_a_real_file(name: str, path: Path) -> None:
    """Every law, on the file and on damage done to it."""
    check_format(SPECS[name], [path], except_for=EXCEPT.get(name, ()))


@pytest.mark.parametrize("path", GOLDEN["exchange"], ids=_file_id)
def test_a_journal_is_rebuilt_from_its_events(path: Path) -> None:
    """What stands in for the law of lines: each event is a line, by its raw or as we write it."""
    data = path.read_bytes()
    assert b"".join(_exchange_lines(*parsed(SPECS["exchange"], data))) == data


def _exchange_lines(events: list[Event], parser: Format) -> Iterator[bytes]:
    left = iter(events)
    for number in range(1, parser.report.lines + 1):
        if number > 1:
            yield b"\n"
        if number in parser.report.blank_lines:
            yield parser.report.blank_lines[number].encode()
            continue
        event = next(left)
        raw = raw_of(decode(encode(event)))
        yield encode(event) if raw is None or b'"raw' in raw else raw  # a raw that it was recorded with is not its line
    if parser.report.lines and parser.report.final_newline:
        yield b"\n"


@pytest.mark.parametrize("spec", SPECS.values(), ids=list(SPECS))
@given(data=st.binary(max_size=300))
@examples(60)
def test_any_bytes_give_events_and_never_an_exception(spec: FormatSpec, data: bytes) -> None:
    """Totality on bytes that nobody chose."""
    check_bytes(spec, data, except_for=EXCEPT.get(spec.name, ()))


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_damages = st.lists(st.tuples(st.lists(st.integers(0, 99), min_size=1, max_size=6), _json), min_size=1, max_size=3)
"""What is replaced by what: the way down into a record, by numbers that are taken modulo what is there, and a value."""


_OF_JSON = {name: spec for name, spec in SPECS.items() if spec.text is None}


@pytest.mark.parametrize("spec", _OF_JSON.values(), ids=list(_OF_JSON))
@given(number=st.integers(0, 9999), damages=_damages)
@examples(100)
def test_records_with_any_value_in_any_field_give_events(
    spec: FormatSpec, number: int, damages: list[tuple[list[int], object]]
) -> None:
    """Real records of the format with fields replaced by arbitrary JSON, wherever they are."""
    records = _records(spec.name)
    assert records, "no golden case of this format"
    record = json.loads(json.dumps(records[number % len(records)]))
    for way, value in damages:
        _damage(record, way, value)
    check_bytes(spec, json.dumps(record).encode() + b"\n", except_for=EXCEPT.get(spec.name, ()))
    spec.open(Context(run_id=RUN_ID)).feed_object(record)


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


_cache: dict[str, list[Any]] = {}


def _records(name: str) -> list[Any]:
    """Records of the golden cases, one of each shape."""
    if name not in _cache:
        seen: dict[str, Any] = {}
        files = GOLDEN[name] or _documents(name)
        for line in (line for path in files for line in _lines(path) if len(line) <= 20_000):
            for value in head_records(line):
                if isinstance(value, dict):
                    kinds = [value.get(key) for key in ("type", "method", "object", "subtype")]
                    seen.setdefault(f"{kinds!r} {sorted(value)!r}", value)
        _cache[name] = list(seen.values())
    return _cache[name]


def _documents(name: str) -> list[Path]:
    """The documents in the folders of the cases."""
    inputs = [input_of(case) for case in CASES if case.parent.name == name]
    return [path for each in inputs for path in sorted(each.rglob("*.json")) if detect_file(path).spec is not None]


def _lines(path: Path) -> list[bytes]:
    """The lines of a file; of a document that is cut into lines for its format, those."""
    spec = detect_file(path).spec
    if spec is None or spec.kind != "document" or spec.layout is None or spec.layout.runs is None:
        return path.read_bytes().split(b"\n")
    return [line for event in convert(path) if (line := raw_of(event)) is not None]


@pytest.mark.parametrize("name", SPECS)
def test_a_format_has_cases_and_a_provenance_page(name: str) -> None:
    """No format without real cases and without a page that says where its facts come from."""
    assert any(case.parent.name == name for case in CASES), f"tests/golden/{name} has no case"
    page = (Path(__file__).parents[2] / "docs" / "formats" / f"{name}.md").read_text("utf-8")
    assert name in page


@pytest.mark.parametrize("name", SPECS)
def test_a_format_says_everything_about_its_agent(name: str) -> None:
    """Who writes it, what a first line is, what its tokens are about, and where its files are."""
    spec = SPECS[name]
    assert spec.agent.id
    assert spec.agent.name
    assert not spec.sample or detect(spec.sample) is spec
    reported = {event.payload.scope for path in GOLDEN[name] for event in _usage(spec, path)}  # type: ignore[union-attr]
    assert reported <= set(spec.tokens)
    assert spec.layout is None or bool(spec.layout.described()) == spec.is_placed
    assert spec.kind != "database" or spec.layout is not None


def _usage(spec: FormatSpec, path: Path) -> Iterator[Event]:
    yield from (event for event in parsed(spec, path.read_bytes())[0] if event.type == "token.usage")


def test_the_laws_are_documented() -> None:
    """The how-to page names every law of the suite."""
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "add-a-format.md").read_text("utf-8")
    assert [law.name for law in LAWS if f"| `{law.name}` |" not in page] == []


def no_side_file(name: str) -> str | None:
    """Golden files stand alone."""
    return None


_READ_ON = """
import pickle, sys
from stenograph.archive.keep.parser_state import dump_state, load_state
from stenograph.formats.registry import formats
from stenograph.model import encode

def no_side_file(name):
    return None

told = []
for name, state, rest in pickle.load(sys.stdin.buffer):
    parser = load_state(state, formats()[name], no_side_file)
    events = [encode(event) for event in parser.feed(rest) + parser.finish()]
    told.append((events, dump_state(parser.report, no_side_file)))
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
        halves.append((name, dump_state(parser, no_side_file), data[middle:]))
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
        assert load_state(report, SPECS[name], no_side_file) == untouched, path
