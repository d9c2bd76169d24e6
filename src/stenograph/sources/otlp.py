"""OTLP in files: conversations that an archive received, and files of spans that others wrote.

What `steno receive` and `StenographSpanProcessor` keep is one file for each conversation, in the archive itself, so
nothing but the archive knows the folder. Any other file of OTLP may hold many conversations, as JSON or as protobuf.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import msgspec

from stenograph.errors import SourceError, unreadable
from stenograph.formats.base import Identity
from stenograph.formats.otlp.detection import identify
from stenograph.formats.otlp.format import conversation_in
from stenograph.formats.otlp.protobuf import Signal, requests_in_file
from stenograph.formats.otlp.routing import Routed, Routing, request_of
from stenograph.formats.registry import head_records
from stenograph.formats.shared.loose import dicts
from stenograph.model import mend
from stenograph.model.codec import REFUSALS
from stenograph.sources.document import LARGEST
from stenograph.sources.files import Open, open_regular
from stenograph.sources.layout import Layout, StoredSession

_FIRST_LINES = 8


class OtlpLayout(Layout):
    """`<archive>/received/runs/<digest of the conversation>.jsonl`, and any file of OTLP."""

    def sessions(self, root: Path) -> Iterator[Path]:
        """Every conversation that was received."""
        yield from sorted(root.glob("*.jsonl"))

    def is_session(self, root: Path, path: Path) -> bool:
        """Everything in the folder."""
        return path.parent == root and path.suffix == ".jsonl"

    def stored(self, path: Path, open: Open = open_regular) -> AbstractContextManager[list[StoredSession]] | None:
        """The conversations of a file that others wrote; a file that was received is one."""
        try:
            with open(path) as file:
                first = head_records(file.readline())
                if first and conversation_in(first[0]):
                    return None
                file.seek(0)
                data = file.read(LARGEST + 1)
        except OSError as error:
            raise unreadable(path, error) from error
        if len(data) > LARGEST:
            raise SourceError(f"{path} is larger than {LARGEST >> 20} MB; split it into several files", str(path))
        return nullcontext(list(_conversations(requests_of(data))))


def requests_of(data: bytes) -> list[dict[str, Any]]:
    """The requests in a file: lines of JSON, one JSON document, or protobuf."""
    if data[:1] in (b"\n", b"\0"):
        return requests_in_file(data, Signal.TRACES)
    try:
        document = msgspec.json.decode(data)
        return dicts(document if isinstance(document, list) else [document])
    except REFUSALS:
        return dicts([_parsed(line) for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")])


def _parsed(line: bytes) -> Any:
    try:
        return mend.parse_json(line)[0] if line.strip() else None
    except (ValueError, RecursionError):
        return None


def _conversations(requests: list[dict[str, Any]]) -> Iterator[StoredSession]:
    """The conversations in some requests, each as the lines that `steno receive` would have written of it."""
    routing = Routing(traces=1 << 40, size=1 << 60)
    lines: dict[str, list[bytes]] = {}
    for request in requests:
        _append(lines, routing.take(request))
    _append(lines, routing.settle())
    for own in lines.values():
        identity = identify(head_records(b"".join(own[:_FIRST_LINES])), "")
        yield _session(identity, own)


def _append(lines: dict[str, list[bytes]], routed: Routed) -> None:
    for key, pieces in routed.items():
        lines.setdefault(key, []).append(request_of(key, pieces))


def _session(identity: Identity, lines: list[bytes]) -> StoredSession:
    return StoredSession(
        identity=identity, parent=lambda: (None, None), lines=lambda: iter(lines), lines_since=lambda _: None
    )
