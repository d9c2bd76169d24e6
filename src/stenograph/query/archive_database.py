"""An archive as a database for SQL: a connection with the views, and with functions that read events."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec

from stenograph.archive.index.schema import PATIENCE, readonly_address
from stenograph.archive.index.words import event_text
from stenograph.archive.reader import IndexReader
from stenograph.fold.actions import Change, action
from stenograph.fold.calls import CallPair
from stenograph.fold.prices import Cost, Prices, Terms
from stenograph.fold.usage import Usage
from stenograph.formats.registry import formats
from stenograph.model import mend
from stenograph.model.event import Event
from stenograph.model.payload import TOKEN_COUNTS
from stenograph.query.run_status import RunStatuses, add_status_functions
from stenograph.query.runs import title_of
from stenograph.query.views import VIEWS
from stenograph.transcript.entry import TranscriptEntry
from stenograph.transcript.project import Projector

_EVENTS_AT_HAND = 64


@contextmanager
def views_of(archive: IndexReader, prices: Prices) -> Iterator[sqlite3.Connection]:
    """A connection of its own with the views and their functions; `archive` reads the events.

    The tables are in a database with an unguessable name, and the main database, which is empty, has a table of
    each of their names: so `run_sql` can distinguish what a query reads itself from what the views read for it.
    """
    schema = f"index_{secrets.token_hex(16)}"
    connection = _attached(archive.home.index, schema)
    reading = _Reading(archive)
    functions: dict[str, tuple[int, Callable[..., Any]]] = {
        "steno_text": (1, reading.text),
        "steno_payload": (1, reading.payload),
        "steno_entries": (1, reading.entries),
        "steno_entry": (3, reading.entry),
        "steno_error": (1, reading.error),
        "steno_title": (2, title_of),
        "steno_archive": (1, partial(getattr, archive.home.identity() or _Unknown())),
        "steno_action": (2, reading.action),
        "steno_may_be": (2, may_be),
        "steno_cost": (5 + len(TOKEN_COUNTS), lambda *values: cost_of(prices, *values).dollars),
        "steno_cost_is_partial": (5 + len(TOKEN_COUNTS), lambda *values: int(cost_of(prices, *values).is_partial)),
    }
    try:
        for name, (arguments, function) in functions.items():
            connection.create_function(name, arguments, function, deterministic=True)
        add_status_functions(connection, RunStatuses(archive.index))
        for view in VIEWS:
            connection.execute(view.statement.replace("main.", f"{schema}."))
        yield connection
    finally:
        connection.close()


def _attached(index: Path, schema: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        "file::memory:", uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute(f"ATTACH ? AS {schema}", (readonly_address(index),))
        connection.execute(f"PRAGMA {schema}.cache_size = -32768")
        names = connection.execute(f"SELECT name FROM {schema}.sqlite_master WHERE type IN ('table', 'view')")
        for (name,) in names.fetchall():
            if not name.startswith("sqlite_"):
                connection.execute(f'CREATE TABLE main."{name}" (hidden)')
    except BaseException:
        connection.close()
        raise
    return connection


class _Unknown:
    """The identity of an archive that has none: an older version made it, and it was not synced since."""

    id = host = user = None


class _Reading:
    """Reads events for the SQL functions of the connection."""

    def __init__(self, archive: IndexReader) -> None:
        self._event = lru_cache(_EVENTS_AT_HAND)(archive.event)
        self._entries = lru_cache(_EVENTS_AT_HAND)(self._projected)

    def text(self, ids: int | str | None) -> str | None:
        """The text of an event, or of several that make one message."""
        if ids is None:
            return None
        events = [self._event(number) for number in sorted(map(int, str(ids).split(",")))]
        return "\n".join(event_text(event) for event in events if event is not None)

    def payload(self, number: int | None) -> str | None:
        event = self._of(number)
        return None if event is None else msgspec.json.encode(mend.plain(event.payload)).decode()

    def entries(self, number: int) -> str:
        """The numbers of an event's entries, as JSON."""
        return str(list(range(len(self._entries(number)))))

    def entry(self, number: int, place: int, field: str) -> str | None:
        entry = self._entries(number)[place]
        value = (entry.metadata or {}).get("error") if field == "error" else getattr(entry, field)
        return None if value is None else str(value)

    def _projected(self, number: int) -> list[TranscriptEntry]:
        event = self._event(number)
        return [] if event is None else Projector().feed(event)

    def action(self, call: int, result: int | None) -> str | None:
        """What a call does, as JSON."""
        event, answer = self._of(call), self._of(result)
        if event is None:
            return None
        pair = CallPair(run_id=event.run_id, source=event.source, call_id="", name="", call=event, result=answer)
        return action_json(pair)

    def error(self, number: int | None) -> str | None:
        event = self._of(number)
        if event is None:
            return None
        payload: Any = event.payload
        return getattr(payload, "error", None) or getattr(payload, "message", None)

    def _of(self, number: int | None) -> Event | None:
        return None if number is None else self._event(number)


def action_json(pair: CallPair) -> str:
    """What a call does, as JSON: its kind, command, folder, exit code and changes of files."""
    does = action(pair)
    changes = [_change(change) for change in does.changes]
    facts = {"kind": does.kind, "command": does.command, "cwd": does.cwd, "exit_code": does.exit_code}
    return msgspec.json.encode({**facts, "changes": changes}).decode()


def _change(change: Change) -> dict[str, Any]:
    added, removed = change.lines
    return {"path": change.path, "kind": change.kind, "added": added, "removed": removed}


@cache
def may_be(name: str, kinds: str) -> bool:
    """Whether some format has a tool of that name and of one of these kinds; saves reading the calls of all others."""
    tools = (spec.tools.get(name) for spec in formats().values())
    return any(tool is not None and tool.kind in kinds.split() for tool in tools)


def cost_of(
    prices: Prices,
    model: str | None,
    speed: str | None,
    service_tier: str | None,
    reported: float | None,
    scope: str,
    *tokens: int,
) -> Cost:
    """What one row of usage costs."""
    usage = Usage(**dict(zip(TOKEN_COUNTS, tokens, strict=True)))
    length = None if scope == "call" else 0
    return prices.cost(Terms(model, speed, service_tier), usage, input_of_call=length, reported=reported)
