"""Agents that keep documents, folders of events or databases: their files to canonical events.

The bytes are golden sessions over and over, each copy with ids of its own, because a format tells a call once.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench import opencode
from bench.lengthening import lengthened
from bench.measure import Row, median_pairs
from stenograph.formats.registry import formats
from stenograph.sources import convert

GOLDEN = Path(__file__).parent.parent / "tests" / "golden"
DATABASE_GOAL = 15_000
SIZE, ROWS, FILES = 20_000_000, 30_000, 5_000
_IDS = re.compile(rb"\b(?:call_|msg_|fc_)\w+|[0-9a-f]{8}(?=(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


@dataclass(frozen=True)
class Made:
    """What was made for an agent, and the JSON that a plain loop reads."""

    path: Path
    texts: list[bytes]


def rows(folder: Path) -> list[Row]:
    """Every measurement of these agents."""
    documents = [_by_bytes(name, make(folder / name)) for name, make in _DOCUMENTS.items()]
    databases = [_by_rows(name, make(folder / name)) for name, make in _DATABASES.items()]
    return [*documents, *databases]


def _by_bytes(name: str, made: Made) -> Row:
    files = [path for path in [made.path, *made.path.rglob("*")] if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    rate, limit, ratio = _rates(name, made, size / 1e6)
    return Row(
        f"{name} to events, without raw ({size / 1e6:.0f} MB in {len(files):,} files)",
        "",
        f"{rate:.0f} MB/s by processor time, {ratio:.2f} x a `json.loads` loop",
        f"json.loads {limit:.0f} MB/s",
        None,
    )


def _by_rows(name: str, made: Made) -> Row:
    count = len(made.texts)
    rate, limit, ratio = _rates(name, made, count)
    return Row(
        f"{name}'s database to events, without raw ({count:,} rows, {made.path.stat().st_size / 1e6:.0f} MB)",
        f"≥ {DATABASE_GOAL:,} rows/s",
        f"{rate:,.0f} rows/s by processor time, {ratio:.2f} x a `json.loads` loop",
        f"json.loads {limit:,.0f} rows/s",
        rate >= DATABASE_GOAL,
    )


def _rates(name: str, made: Made, amount: float) -> tuple[float, float, float]:
    def ours() -> float:
        began = time.process_time()
        for _ in convert(made.path, formats()[name], keep_raw=False):
            pass
        return amount / (time.process_time() - began)

    def plain() -> float:
        began = time.process_time()
        for text in made.texts:
            json.loads(text)
        return amount / (time.process_time() - began)

    return median_pairs(ours, plain, pairs=5)


def _copies(entries: list[Any], size: int) -> Iterator[list[dict[str, Any]]]:
    """The entries over and over until they have this size, their texts as long as real ones, their ids new."""
    once = json.dumps(lengthened(entries), ensure_ascii=False, separators=(",", ":")).encode()
    for number in range(1 + size // len(once)):
        mark = b"%08x" % number
        yield json.loads(_IDS.sub(partial(_renamed, mark=mark), once))


def _renamed(found: re.Match[bytes], mark: bytes) -> bytes:
    """An id of a copy: the first eight digits of a UUID are the copy's, other ids end with it."""
    return found[0] + mark if b"_" in found[0] else mark


def _document(golden: str, key: str) -> Callable[[Path], Made]:
    """One document whose entries stand in a list."""

    def make(folder: Path) -> Made:
        (origin,) = GOLDEN.glob(golden)
        whole = json.loads(origin.read_bytes())
        whole[key] = [entry for copy in _copies(whole[key], SIZE) for entry in copy]
        folder.mkdir()
        path = folder / origin.name
        path.write_text(json.dumps(whole, ensure_ascii=False, separators=(",", ":")), "utf-8")
        return Made(path, [path.read_bytes()])

    return make


def _openhands(folder: Path) -> Made:
    """A folder with a file for each event."""
    (origin,) = (GOLDEN / "openhands" / "resumed" / "input").iterdir()
    once = [json.loads(path.read_bytes()) for path in sorted(origin.glob("events/*.json"))]
    place = folder / origin.name
    (place / "events").mkdir(parents=True)
    (place / "base_state.json").write_bytes((origin / "base_state.json").read_bytes())
    texts: list[bytes] = []
    for copy in _copies(once, SIZE):
        for event in copy[: FILES - len(texts)]:
            text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
            (place / "events" / f"event-{len(texts):05}-{event['id']}.json").write_text(text, "utf-8")
            texts.append(text.encode())
    return Made(place, texts)


def _database(path: Path, tables: dict[str, list[dict[str, Any]]]) -> None:
    """Tables with these rows; their columns are those that any of the rows has."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, found in tables.items():
            columns = list(dict.fromkeys(name for row in found for name in row))
            connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            values = [[row.get(name) for name in columns] for row in found]
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", values)


def _hermes_agent(folder: Path) -> Made:
    """One long session."""
    once = [json.loads(line) for line in (GOLDEN / "hermes_agent" / "resumed" / "input.jsonl").open("rb")]
    tables: dict[str, list[dict[str, Any]]] = {"messages_fts": [{"content": ""}], "schema_version": [{"version": 22}]}
    for row in (row for row in once if "grown" not in row and row["table"] != "messages"):
        tables.setdefault(row.pop("table"), []).append(row)
    messages = [row for row in once if row.pop("table", "") == "messages"]
    tables["messages"] = [row for copy in _copies(messages, ROWS * 1000) for row in copy][:ROWS]
    for number, row in enumerate(tables["messages"]):
        row["id"] = number
    _database(folder / "state.db", tables)
    return Made(folder / "state.db", [json.dumps(row).encode() for row in tables["messages"]])


def _openclaw(folder: Path) -> Made:
    """One long session."""
    first, *once = [json.loads(line) for line in (GOLDEN / "openclaw" / "resume" / "input.jsonl").open("rb")][1:]
    entries = [first, *(entry for copy in _copies(once, ROWS * 1000) for entry in copy)][:ROWS]
    texts = [json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries]
    session, key = first["id"], "agent:main:main"
    missing = dict.fromkeys(("previous_session_id", "reason", "model", "spawned_by", "fork_source_session_id"))
    packed = dict.fromkeys(("event_zstd", "event_utf8_bytes"))
    tables = {
        "schema_meta": [{"meta_key": "primary", "app_version": "2026.9.6"}],
        "session_windows": [{"session_id": session, "session_key": key, "created_at": 1, **missing}],
        "session_nodes": [{"session_key": key, "current_session_id": session, **missing}],
        "transcript_events": [
            {"session_id": session, "seq": number, "event_json": text, **packed} for number, text in enumerate(texts)
        ],
        "transcript_rewrite_watermarks": [{"session_id": session, "generation": 0, "updated_at": 0}],
    }
    _database(folder / "openclaw-agent.sqlite", tables)
    return Made(folder / "openclaw-agent.sqlite", [text.encode() for text in texts])


def _kilo(folder: Path) -> Made:
    """Sessions of OpenCode, whose tables Kilo has, with a table more."""
    folder.mkdir()
    path = folder / "kilo.db"
    opencode.make(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE kilo_board (id)")
        return Made(path, [data.encode() for (data,) in connection.execute("SELECT data FROM part")])


_DOCUMENTS = {
    "cline": _document("cline/full/input/*/*.messages.json", "messages"),
    "continue_session": _document("continue_session/resumed/input/*-*.json", "history"),
    "mini_swe_agent": _document("mini_swe_agent/full/input.json", "messages"),
    "openhands": _openhands,
}
_DATABASES = {"hermes_agent": _hermes_agent, "openclaw": _openclaw, "kilo": _kilo}
