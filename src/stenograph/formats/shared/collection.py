"""Runs of a file that holds many, each as a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from stenograph.formats.base import Identity
from stenograph.formats.layout import State, StoredSession
from stenograph.formats.shared.digest import digest_of


def run_line(record: Any) -> bytes:
    """A record on one line."""
    try:
        return msgspec.json.encode(record) + b"\n"
    except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError):  # values that only Python's JSON accepts
        return json.dumps(record, ensure_ascii=True).encode() + b"\n"


def run_in(identity: Identity, record: Any) -> StoredSession:
    """A run by its record; its state changes when the record is written differently."""
    line = run_line(record)
    state = digest_of("run", line) >> 1, len(line)  # numbers that fit into a database column
    return _stored(identity, lambda: iter((line,)), state)


def run_to_read(identity: Identity, read: Callable[[], Any], state: State | None) -> StoredSession:
    """A run whose record is read on demand."""

    def lines() -> Iterator[bytes]:
        yield run_line(read())

    return _stored(identity, lines, state)


def _stored(identity: Identity, lines: Callable[[], Iterator[bytes]], state: State | None) -> StoredSession:
    if not identity.native_id:  # without an id, its content identifies it
        first = b"".join(lines())
        identity = msgspec.structs.replace(identity, native_id=f"{digest_of('run', first):016x}")
    return StoredSession(
        identity=identity, state=state, parent=lambda: (None, None), lines=lines, lines_since=lambda _: None
    )
