"""Which formats there are, and which one a file is written in.

Ours and other people's come by the same door: the entry-point group `stenograph.formats`, each naming a `FormatSpec`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from stenograph.errors import AmbiguousFormat
from stenograph.formats.base import FormatSpec
from stenograph.model import mend
from stenograph.model.codec import REFUSALS

GROUP = "stenograph.formats"
HEAD_BYTES = 1 << 16
HEAD_RECORDS = 20


@cache
def formats() -> dict[str, FormatSpec]:
    """Every installed format by its name, in alphabetical order."""
    from importlib.metadata import entry_points  # slow to import, and not every command looks for a format

    specs = (point.load() for point in entry_points(group=GROUP))
    return {spec.name: spec for spec in sorted(specs, key=lambda spec: str(spec.name))}


def head_records(head: bytes) -> list[Any]:
    """The first records in the beginning of a file: its complete lines that are JSON (and a last one that is)."""
    records = []
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n")[: HEAD_RECORDS * 2]:
        text = line.removeprefix(b"data:").strip()  # a stream of server-sent events holds JSON, too
        if not text:
            continue
        try:
            records.append(_parsed(text))
        except (ValueError, RecursionError):
            continue
        if len(records) == HEAD_RECORDS:
            break
    return records


def _parsed(text: bytes) -> Any:
    """Any JSON: most of it by the fast decoder, because a sync looks at thousands of files."""
    try:
        return msgspec.json.decode(text)
    except REFUSALS:
        return mend.parse_json(text)[0]


def detect(head: bytes, path: str = "") -> FormatSpec | None:
    """The format that a file with this beginning and path is written in; None when no format knows it."""
    return detect_records(head_records(head), path)


def detect_records(records: Sequence[Any], path: str = "") -> FormatSpec | None:
    """The format of these first records: the one that is surest, then the one with the higher priority.

    Raises `AmbiguousFormat` where that leaves two.
    """
    scores = {spec.name: (spec.detect(records, path), spec.priority) for spec in formats().values()} if records else {}
    best = max(scores.values(), default=(0, 0))
    if best[0] <= 0:
        return None
    names = tuple(name for name, score in scores.items() if score == best)
    if len(names) > 1:
        raise AmbiguousFormat(path, names)
    return formats()[names[0]]
