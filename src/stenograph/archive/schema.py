"""The index: its tables, and how a connection to it is opened.

The index is disposable. `SCHEMA` is raised whenever a table or the meaning of a column changes; an index of another
number is made again from the packs, and one with a higher number is refused, because a newer program owns it.
Docs/design/004-archive.md tells what the tables are for.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from stenograph.errors import RunNotFound, SourceError, StoreError

SCHEMA = 2
PATIENCE = 30.0
"""Seconds that a reader or writer waits for another one to be done with the database."""

QUARTER_HOUR = 900_000
"""Milliseconds. Days begin at one of these in every time zone, so sums by them give sums by day."""
TABLES = f"""
CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  root TEXT NOT NULL,
  path TEXT NOT NULL UNIQUE,
  format TEXT NOT NULL,
  run_id TEXT NOT NULL,
  source TEXT NOT NULL,
  main INTEGER REFERENCES files,
  version INTEGER NOT NULL,
  kept INTEGER NOT NULL,
  about TEXT NOT NULL,
  cwd TEXT,
  agent_version TEXT,
  lines INTEGER NOT NULL DEFAULT 0,
  events INTEGER NOT NULL DEFAULT 0,
  malformed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  unknown INTEGER NOT NULL DEFAULT 0,
  unknown_types TEXT NOT NULL DEFAULT '{{}}',
  wanted_files INTEGER NOT NULL DEFAULT 0,
  tail BLOB,
  size INTEGER,
  mtime_ns INTEGER,
  inode INTEGER,
  is_present INTEGER NOT NULL DEFAULT 1
);
CREATE INDEX files_run ON files (run_id);

CREATE TABLE frames (
  id INTEGER PRIMARY KEY,
  batch INTEGER NOT NULL,
  kind TEXT NOT NULL,
  file INTEGER NOT NULL REFERENCES files,
  version INTEGER NOT NULL,
  name TEXT,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  pack INTEGER NOT NULL,
  at INTEGER NOT NULL,
  size INTEGER NOT NULL
);
CREATE INDEX frames_file ON frames (file, version, start);

CREATE TABLE parsers (
  file INTEGER PRIMARY KEY REFERENCES files,
  program TEXT NOT NULL,
  state BLOB NOT NULL
);

CREATE TABLE skipped (
  path TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  reason TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  parent_run_id TEXT,
  forked_from TEXT,
  agent TEXT NOT NULL,
  format TEXT NOT NULL,
  cwd TEXT,
  project TEXT,
  agent_version TEXT,
  name TEXT,
  first_prompt TEXT,
  model TEXT,
  started_at TEXT,
  ended_at TEXT,
  started_ms INTEGER,
  ended_ms INTEGER,
  status TEXT NOT NULL DEFAULT 'running',
  events INTEGER NOT NULL DEFAULT 0,
  turns INTEGER NOT NULL DEFAULT 0,
  tools INTEGER NOT NULL DEFAULT 0,
  errors INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  cache_read_input_tokens INTEGER NOT NULL DEFAULT 0,
  cache_creation_input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_output_tokens INTEGER NOT NULL DEFAULT 0,
  has_calls INTEGER NOT NULL DEFAULT 0,
  has_turns INTEGER NOT NULL DEFAULT 0,
  last_seq INTEGER NOT NULL DEFAULT 0,
  last_id INTEGER NOT NULL DEFAULT 0,
  evidence TEXT NOT NULL DEFAULT '{{}}'
);
CREATE INDEX runs_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_ended ON runs (ended_ms);

CREATE TABLE sources (
  run INTEGER NOT NULL REFERENCES runs,
  source TEXT NOT NULL,
  parent_source TEXT,
  parent_call_id TEXT,
  events INTEGER NOT NULL DEFAULT 0,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  PRIMARY KEY (run, source)
) WITHOUT ROWID;

CREATE TABLE blocks (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  lines BLOB NOT NULL
);
CREATE INDEX blocks_run ON blocks (run, first_seq);

CREATE TABLE events (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  seq INTEGER NOT NULL,
  source TEXT NOT NULL,
  type TEXT NOT NULL,
  role TEXT,
  timestamp TEXT NOT NULL,
  tool_name TEXT,
  call_id TEXT,
  message_id TEXT,
  subtype TEXT,
  error INTEGER NOT NULL DEFAULT 0,
  child_run_id TEXT,
  block INTEGER NOT NULL REFERENCES blocks,
  line INTEGER NOT NULL
);
CREATE INDEX events_run ON events (run, seq);
CREATE INDEX events_error ON events (id) WHERE error;

CREATE TABLE calls (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  source TEXT NOT NULL,
  call_id TEXT NOT NULL,
  name TEXT NOT NULL,
  call INTEGER REFERENCES events,
  result INTEGER REFERENCES events,
  witnesses INTEGER NOT NULL,
  started_ms INTEGER,
  duration_ms REAL,
  error TEXT
);
CREATE INDEX calls_run ON calls (run, call_id);
CREATE INDEX calls_time ON calls (started_ms / {QUARTER_HOUR});

CREATE TABLE usage (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  run INTEGER NOT NULL REFERENCES runs,
  event INTEGER NOT NULL REFERENCES events,
  source TEXT NOT NULL,
  scope TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  model TEXT,
  message_id TEXT,
  input_tokens INTEGER NOT NULL,
  cache_read_input_tokens INTEGER NOT NULL,
  cache_creation_input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_output_tokens INTEGER NOT NULL
);
CREATE INDEX usage_run ON usage (run);
CREATE INDEX usage_sums ON usage (
  at_ms / {QUARTER_HOUR}, model, scope, at_ms, input_tokens, output_tokens, cache_read_input_tokens,
  cache_creation_input_tokens, reasoning_output_tokens, run
);

CREATE VIRTUAL TABLE words USING fts5(
  text, content='', tokenize='unicode61 remove_diacritics 2'
);
INSERT INTO words (words, rank) VALUES ('hashsize', 33554432), ('automerge', 8);

CREATE VIEW counted AS
  SELECT usage.* FROM usage JOIN runs ON runs.id = usage.run
  WHERE usage.scope = 'call'
     OR (usage.scope = 'turn' AND NOT runs.has_calls)
     OR (usage.scope = 'total' AND NOT runs.has_calls AND NOT runs.has_turns);
"""


def open_index(home: str | os.PathLike[str], *, readonly: bool) -> sqlite3.Connection:
    """A connection to the index of the archive in the folder `home`.

    Readonly, it must be there and of our schema; else an empty one is made where there is none. Transactions are begun
    and ended by hand. Raises `RunNotFound` where there is no archive yet, `SourceError` or `StoreError` for an index
    that another version of the program must read or make.
    """
    path = Path(home) / "index.db"
    if not readonly:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    if readonly and not path.is_file():
        raise RunNotFound(f"there is no archive in {home} yet; run: steno sync", str(home))
    connection = _connected(path, readonly)
    try:
        number = connection.execute("PRAGMA user_version").fetchone()[0]
        check_schema(home, number, readonly)
        if number == 0:
            _create(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def check_schema(home: object, number: int, readonly: bool) -> None:
    """Raise for an index that this program may not use: a newer one never, an older one not before a sync."""
    if number > SCHEMA:
        message = f"the archive in {home} was written by a newer Stenograph (schema {number}, we know {SCHEMA}); update"
        raise (SourceError if readonly else StoreError)(message, str(home))
    if readonly and number < SCHEMA:
        raise SourceError(f"the index in {home} is of an older Stenograph; run: steno sync", str(home))


def schema_of(path: Path) -> int | None:
    """The number of the schema of an index; None where there is none, or none that SQLite can read."""
    if not path.is_file():
        return None
    try:
        connection = _connected(path, readonly=True)
        try:
            number: int = connection.execute("PRAGMA user_version").fetchone()[0]
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        finally:
            connection.close()
    except sqlite3.DatabaseError:
        return None
    return number


def _connected(path: Path, readonly: bool) -> sqlite3.Connection:
    mode = "ro" if readonly else "rwc"
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
    except sqlite3.OperationalError as error:
        kind = SourceError if readonly else StoreError
        raise kind(f"cannot open the index {path}: {error}; check its permissions", str(path)) from error
    connection.execute("PRAGMA cache_size = -32768")
    if not readonly:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _create(connection: sqlite3.Connection) -> None:
    connection.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;")
