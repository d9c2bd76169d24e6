"""Makes damaged transcripts, as crashes, editors and other programs leave them; the same ones each time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

ODD_VALUES: tuple[Any, ...] = (None, True, -1, 0, 1 << 70, 1.5, "", "x", "\ud83d", [], [None], {}, {"type": {}}, [[{}]])
"""Values that a field does not expect."""
_LONGEST = 60_000
"""Bytes of a transcript that are damaged; the rest is left out."""
_RECORDS = 25
"""How many records are made odd."""
GARBAGE = (
    b"",
    b"\n",
    b"\r\n \n\x00\n",
    b"\xff\xfe\x00\n{",
    b'null\n1\n[]\n{}\n"x"\n',
    b'{"type":"user",\n"message":1}',
    b'{"a":' * 3000 + b"1" + b"}" * 3000 + b"\n",
    b"[" * 5000 + b"\n",
)
"""Bytes that are in no format."""


def damaged(data: bytes, seed: int = 0) -> Iterator[bytes]:
    """A transcript cut, doubled, shuffled, with NULs, CRLF, a BOM, broken UTF-8 and lone surrogates."""
    data = data[:_LONGEST]
    chance = random.Random(seed)
    lines = data.split(b"\n")
    for _ in range(3):
        yield data[: chance.randrange(len(data) + 1)]
    yield b"\n".join(lines + lines)
    yield b"\n".join(chance.sample(lines, len(lines)))
    yield b"\xef\xbb\xbf" + data
    yield data.replace(b"\n", b"\r\n")
    yield data.replace(b"e", b"\xff", 40)
    yield data.replace(b'":"', b'":"\\ud83d', 40)
    places = sorted(chance.randrange(len(data) + 1) for _ in range(20))
    yield b"".join(data[start:end] + b"\x00\xff" for start, end in zip([0, *places], [*places, None], strict=True))


def odd_records(records: list[Any], seed: int = 0) -> Iterator[dict[str, Any]]:
    """Copies of the records, each with one field, at any depth, removed or replaced by one of `ODD_VALUES`."""
    chance = random.Random(seed)
    for record in [each for each in records if isinstance(each, dict)][:_RECORDS]:
        for path in _paths(record, chance):
            copy = json.loads(json.dumps(record))
            _replace(copy, path, chance)
            yield copy


def _paths(record: dict[str, Any], chance: random.Random) -> list[tuple[Any, ...]]:
    """Some of the paths from a record to its fields."""
    found: list[tuple[Any, ...]] = []
    todo: list[tuple[tuple[Any, ...], Any]] = [((), record)]
    while todo:
        path, node = todo.pop()
        items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in items:
            found.append((*path, key))
            todo.append(((*path, key), value))
    return chance.sample(found, min(len(found), 8))


def _replace(record: Any, path: tuple[Any, ...], chance: random.Random) -> None:
    *parents, last = path
    for key in parents:
        record = record[key]
    if chance.random() < 0.2:
        del record[last]
    else:
        record[last] = chance.choice(ODD_VALUES)
