"""Other copies of a content: runs whose kept bytes contain a text, and runs with the same messages as others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from stenograph.archive.index.words import event_text
from stenograph.archive.reader import IndexReader
from stenograph.archive.store.pack import Damage, Header, Place, packs_in, payload_of, scan
from stenograph.errors import SourceError
from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload, ToolPayload

_SHORTEST = 40
"""Characters. A shorter text is in many runs by chance, and is not a copy."""


def runs_containing(kept: Path, text: str) -> dict[str, int]:
    """The runs whose kept files contain a text, as it is or as JSON writes it; with the number of frames of each.

    Every frame is read: the full-text index has words, not texts.
    """
    patterns = _patterns(text)
    reach = max(map(len, patterns)) - 1
    runs: dict[int, str] = {}
    ends: dict[tuple[int, int], bytes] = {}
    found: dict[str, int] = {}
    for header, place in _frames(kept):
        if header.about is not None:
            runs[header.file] = header.about.run_id
        if not header.length:
            continue
        try:
            data = payload_of(kept, place, header.length)
        except SourceError:  # removed, or damaged: `steno evidence verify` says which
            continue
        if header.kind == "bytes":
            key = header.file, header.version
            data = ends.get(key, b"") + data
            ends[key] = data[-reach:] if reach else b""
        if any(pattern in data for pattern in patterns):
            run_id = runs.get(header.file, "")
            found[run_id] = found.get(run_id, 0) + 1
    found.pop("", None)
    return found


def _frames(kept: Path) -> Iterator[tuple[Header, Place]]:
    for pack in packs_in(kept):
        for found in scan(kept, pack):
            if not isinstance(found, Damage):
                yield found


def _patterns(text: str) -> set[bytes]:
    written = (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
    return {each.encode("utf-8", "replace") for each in written}


def copies_of(reader: IndexReader, run_ids: Iterable[str]) -> dict[str, int]:
    """Other runs that hold the same messages and tool results, with how many; runs that these called, with 0."""
    wanted = set(run_ids)
    rows = reader.index.execute("SELECT id, run_id, parent_run_id FROM runs ORDER BY id").fetchall()
    said = {digest for number, run_id, _ in rows if run_id in wanted for digest in _said(reader.events(number))}
    found: dict[str, int] = {}
    for number, run_id, parent in rows:
        if run_id in wanted:
            continue
        same = sum(digest in said for digest in _said(reader.events(number))) if said else 0
        if same or parent in wanted:
            found[run_id] = same
    return found


def _said(events: Iterable[Event]) -> Iterator[bytes]:
    for event in events:
        payload = event.payload
        is_said = isinstance(payload, ToolPayload) or (
            isinstance(payload, MessagePayload) and payload.role in ("user", "assistant", "tool")
        )
        if is_said and len(text := event_text(event)) >= _SHORTEST:
            yield blake2b(text.encode("utf-8", "replace"), digest_size=12).digest()
