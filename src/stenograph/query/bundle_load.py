"""Fills the tables from a bundle: each file is read once, line by line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import astuple

from stenograph.bundle.container import Container
from stenograph.bundle.manifest import NAME, Manifest, read_manifest
from stenograph.bundle.records import EVENTS, LOGS
from stenograph.logs.emitter import ENTRY
from stenograph.logs.formatter import as_json
from stenograph.model import mend
from stenograph.query.bundle_events import EventRows
from stenograph.query.bundle_parts import ALL
from stenograph.query.bundle_parts import EVENTS as EVENTS_PART
from stenograph.query.bundle_parts import LOGS as LOGS_PART
from stenograph.query.bundle_tables import STATEMENTS

_BATCH = 2000
_FAILED = {"ERROR", "CRITICAL"}
_REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _Log(Struct):
    """A log record whose context has not been decoded."""

    timestamp: str | None = None
    level: str | None = None
    logger: str | None = None
    event: str | None = None
    message: str | None = None
    context: Raw = Raw(b"{}")
    exception: str | None = None


class _Entry(Struct):
    """The short fields of an entry."""

    source: str | None = None
    sequence_number: int | None = None
    entry_type: str | None = None
    role: str | None = None
    timestamp: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    session_id: str | None = None
    prompt_name: str | None = None
    adapter: str | None = None
    entry_id: str | None = None


_ENTRY_FIELDS = _Entry.__struct_fields__
_decode_log = msgspec.json.Decoder(_Log).decode
_decode_entry = msgspec.json.Decoder(_Entry).decode


def load_bundle(connection: sqlite3.Connection, container: Container, parts: frozenset[str] = ALL) -> None:
    """Make the tables in an empty database and fill those of these parts; raises `SourceError` for a broken bundle."""
    connection.executescript(STATEMENTS)
    manifest = read_manifest(container.read(NAME), str(container.path))
    connection.executemany("INSERT INTO manifest VALUES (?, ?)", _facts(msgspec.to_builtins(manifest)))
    _load_environment(connection, container)
    if LOGS_PART in parts:
        _load_logs(connection, container)
    if EVENTS_PART in parts:
        _load_events(connection, container, manifest)
    connection.commit()


def _load_logs(connection: sqlite3.Connection, container: Container) -> None:
    logs: list[tuple[Any, ...]] = []
    entries: list[tuple[Any, ...]] = []
    errors: list[tuple[Any, ...]] = []

    def store() -> None:
        connection.executemany("INSERT INTO logs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", logs)
        connection.executemany("INSERT INTO entry_facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entries)
        connection.executemany("INSERT INTO errors VALUES ('log', NULL, NULL, NULL, ?, ?, ?, ?)", errors)
        for rows in (logs, entries, errors):
            rows.clear()

    for number, line in enumerate(container.lines(LOGS), 1):
        try:
            log = _decode_log(line)
            context: bytes = bytes(log.context)
            fact = _decode_entry(context) if log.event == ENTRY else None
        except _REFUSALS:
            log, context, fact = _mended(line)
        text = context.decode()
        logs.append((number, log.timestamp, log.level, log.logger, log.event, log.message, text, log.exception))
        if fact is not None:
            entries.append((number, *astuple(fact)))
        if log.level in _FAILED or log.exception:
            errors.append((log.timestamp, number, log.message, text))
        if len(logs) >= _BATCH:
            store()
    store()


def _mended(line: bytes) -> tuple[_Log, bytes, _Entry | None]:
    """A record of another shape than ours: values that are not text become JSON, so that nothing is lost."""
    try:
        found, _ = mend.parse_json(line)
    except (ValueError, RecursionError):
        found = {"message": line.decode("utf-8", "replace")}
    record = found if isinstance(found, dict) else {"message": found}
    context = record.get("context", {})
    log = _Log()
    for name in ("timestamp", "level", "logger", "event", "message", "exception"):
        setattr(log, name, _text(record.get(name)))
    fact = None
    if log.event == ENTRY:
        fields = context if isinstance(context, dict) else {}
        fact = _Entry(**{name: _cell(fields.get(name)) for name in _ENTRY_FIELDS})
    return log, as_json(context).encode(), fact


def _load_events(connection: sqlite3.Connection, container: Container, manifest: Manifest) -> None:
    rows = EventRows()
    files = [(EVENTS, manifest.run_id), *((f"runs/{run_id}.jsonl", run_id) for run_id in manifest.child_run_ids)]
    for name, run_id in files:
        waiting: list[tuple[Any, ...]] = []
        for line in container.lines(name):
            if line.strip():
                waiting.append(rows.row(line, run_id))
            if len(waiting) >= _BATCH:
                _store_events(connection, waiting)
        _store_events(connection, waiting)
    marks = ", ".join("?" * 12)
    connection.executemany(f"INSERT INTO call_facts VALUES ({marks})", rows.calls())
    connection.executemany("INSERT INTO errors VALUES (?, ?, ?, ?, ?, NULL, ?, ?)", rows.errors)
    connection.executemany(f"INSERT INTO usage VALUES ({', '.join('?' * 17)})", rows.usage())


def _store_events(connection: sqlite3.Connection, waiting: list[tuple[Any, ...]]) -> None:
    connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * 15)})", waiting)
    waiting.clear()


def _load_environment(connection: sqlite3.Connection, container: Container) -> None:
    for name in container.names:
        folder, _, file = name.partition("/")
        section, _, kind = file.partition(".")
        if folder != "environment":
            continue
        if kind == "json":
            found = mend.parse_json(container.read(name))[0]
            facts = _facts(found if isinstance(found, dict) else {section: found})
        else:
            facts = iter([(kind, container.read(name).decode("utf-8", "replace"))])
        rows = [(section, *fact) for fact in facts]
        connection.executemany("INSERT INTO environment VALUES (?, ?, ?)", rows)


def _facts(fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        yield name, _cell(value)


def _cell(value: Any) -> Any:
    """A value as SQLite can store it: other than text and numbers, JSON."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 63:
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else as_json(value)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else as_json(value)
