"""The tables of the index. Docs/design/004-archive.md says what they are for.

`SCHEMA` is raised whenever a table or the meaning of a column changes.
"""

from __future__ import annotations

from stenograph.model.payload import TOKEN_COUNTS

SCHEMA = 8
MS_PER_ID = 4
"""An event's id is its time in milliseconds over this, or the next that is free; without one, that after the last."""
QUARTER_HOUR = 900_000
"""Milliseconds. Days begin at one of these in every time zone, so sums by them give sums by day."""
NEVER = -(1 << 53)
"""The quarter of an hour of calls without a time."""
LONG_INPUT = 100_000
"""Tokens. Calls with more can be found by their number, for prices that depend on it."""
NANODOLLARS = 1_000_000_000
"""Nanodollars of one dollar. Costs are summed as integers, because the sums are added to and subtracted from."""
_LONGEST_MS = 10**11
"""More than any tool takes; sums of garbage stay within what SQLite can add."""
_TOKENS = ", ".join(TOKEN_COUNTS)
_OF = "json_array_length(usage_told.tools)"
_SHARES = ", ".join(
    f"(max(0, {name}) + {_OF} - 1 - tool.key) / {_OF} AS {name}" for name in (*TOKEN_COUNTS, "nanodollars", "calls")
)
"""The share of one tool; a remainder goes to the first tools, so that the shares add up."""


def sum_of_run(id: str) -> str:
    """A statement that writes the tokens of a run's own model calls into its row."""
    sums = ", ".join(f"coalesce(sum({name}), 0)" for name in TOKEN_COUNTS)
    return f"UPDATE runs SET ({_TOKENS}) = (SELECT {sums} FROM counted_sums WHERE run = {id}) WHERE id = {id}"


def _kept_sums(
    table: str, columns: str, keys: str, sums: str, then: str = "", *, of: str = "", count: str = "calls"
) -> str:
    """A table `<table>_sums` with sums of the view `<table>_told`, kept true whenever one of those columns changes.

    The columns are those of the table itself, or of the one that the view is `of`. `then` is a statement for a row that
    has changed; `count` is the sum that is zero when nothing is left.
    """
    of = of or table
    changes = ", ".join(f"{name} = {name} + excluded.{name}" for name in sums.split(", "))
    negated = ", ".join(f"-{name}" for name in sums.split(", "))
    old, new = (", ".join(f"{row}.{name}" for name in columns.split(", ")) for row in ("old", "new"))

    def add(row: str, numbers: str) -> str:
        return f"""
          INSERT INTO {table}_sums ({keys}, {sums}) SELECT {keys}, {numbers} FROM {table}_told WHERE id = {row}.id
          ON CONFLICT DO UPDATE SET {changes};
        """

    return f"""
    CREATE TABLE {table}_sums (
      {", ".join(f"{name} NOT NULL" for name in f"{keys}, {sums}".split(", "))}, PRIMARY KEY ({keys})
    ) WITHOUT ROWID;
    CREATE TRIGGER {table}_added AFTER INSERT ON {of} BEGIN {add("new", sums)} END;
    CREATE TRIGGER {table}_changing BEFORE UPDATE ON {of} WHEN ({old}) IS NOT ({new}) BEGIN
      {add("old", negated)}
    END;
    CREATE TRIGGER {table}_changed AFTER UPDATE ON {of} WHEN ({old}) IS NOT ({new}) BEGIN
      {add("new", sums)}
      DELETE FROM {table}_sums WHERE run = old.run AND {count} = 0;
      {then}
    END;
    CREATE TRIGGER {table}_removing BEFORE DELETE ON {of} BEGIN {add("old", negated)} END;
    CREATE TRIGGER {table}_removed AFTER DELETE ON {of} BEGIN
      DELETE FROM {table}_sums WHERE run = old.run AND {count} = 0;
    END;
    """


def _counted(name: str, table: str) -> str:
    """A view of the rows of a table that may be summed: each token once."""
    return f"""
    CREATE VIEW {name} AS
      SELECT {table}.* FROM {table} JOIN runs ON runs.id = {table}.run
      WHERE {table}.scope = 'call'
         OR ({table}.scope = 'turn' AND NOT runs.has_calls)
         OR ({table}.scope = 'total' AND NOT runs.has_calls AND NOT runs.has_turns);
    """


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
  unchecked INTEGER NOT NULL DEFAULT 0,
  next_range INTEGER NOT NULL DEFAULT 0,
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

CREATE TABLE ranges (
  file INTEGER NOT NULL REFERENCES files,
  version INTEGER NOT NULL,
  first INTEGER NOT NULL,
  digests BLOB NOT NULL,
  PRIMARY KEY (file, version, first)
) WITHOUT ROWID;

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
  status TEXT NOT NULL DEFAULT 'unknown',
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
  evidence TEXT NOT NULL DEFAULT '{{}}',
  revision INTEGER NOT NULL DEFAULT 0,
  cache_creation_1h_input_tokens INTEGER NOT NULL DEFAULT 0,
  messages INTEGER NOT NULL DEFAULT 0,
  failed_calls INTEGER NOT NULL DEFAULT 0,
  open_calls INTEGER NOT NULL DEFAULT 0,
  status_reason TEXT NOT NULL DEFAULT '',
  copied_calls INTEGER NOT NULL DEFAULT 0,
  copied_errors INTEGER NOT NULL DEFAULT 0,
  branch TEXT
);
CREATE INDEX runs_parent ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_ended ON runs (ended_ms);

CREATE TABLE witnesses (
  run INTEGER NOT NULL REFERENCES runs,
  name TEXT NOT NULL,
  upto INTEGER NOT NULL,
  untold TEXT NOT NULL,
  last TEXT NOT NULL,
  PRIMARY KEY (run, name)
) WITHOUT ROWID;

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
CREATE INDEX events_unit ON events (run, seq) WHERE type = 'message.user' AND source = 'main';
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
  error TEXT,
  copy_of INTEGER REFERENCES runs
);
CREATE INDEX calls_run ON calls (run, call_id);
CREATE INDEX calls_id ON calls (call_id);
CREATE INDEX calls_copied ON calls (run) WHERE copy_of IS NOT NULL;
CREATE VIEW calls_told AS
  SELECT id, run, started_ms AS at_ms, coalesce(max(0, started_ms) / {QUARTER_HOUR}, {NEVER}) AS quarter, name,
    1 AS calls, result IS NOT NULL AS answered, error IS NOT NULL AS failed, duration_ms IS NOT NULL AS timed,
    CAST(round(1000 * coalesce(max(-{_LONGEST_MS}, min({_LONGEST_MS}, duration_ms)), 0)) AS INTEGER) AS duration_us
  FROM calls WHERE call IS NOT NULL AND copy_of IS NULL;
{
    _kept_sums(
        "calls",
        "name, call, result, started_ms, duration_ms, error",
        "run, quarter, name",
        "calls, answered, failed, timed, duration_us",
    )
}

CREATE TABLE model_calls (
  run INTEGER NOT NULL REFERENCES runs,
  number INTEGER NOT NULL,
  tools TEXT NOT NULL,
  is_over INTEGER NOT NULL,
  PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE model_call_messages (
  run INTEGER NOT NULL REFERENCES runs,
  message_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (run, message_id)
) WITHOUT ROWID;
CREATE TABLE model_call_sources (
  run INTEGER NOT NULL REFERENCES runs,
  source TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (run, source)
) WITHOUT ROWID;

CREATE TABLE usage (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  run INTEGER NOT NULL REFERENCES runs,
  model_call INTEGER NOT NULL,
  tools TEXT NOT NULL,
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
  reasoning_output_tokens INTEGER NOT NULL,
  cache_creation_1h_input_tokens INTEGER NOT NULL,
  speed TEXT,
  service_tier TEXT,
  cost_usd REAL,
  reporter TEXT NOT NULL,
  reported_ms INTEGER NOT NULL
);
CREATE INDEX usage_run ON usage (run, model_call);
CREATE TABLE usage_keys (
  run INTEGER NOT NULL REFERENCES runs,
  name TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (run, name)
) WITHOUT ROWID;
CREATE TABLE usage_shared (
  run INTEGER NOT NULL REFERENCES runs,
  key TEXT NOT NULL REFERENCES usage (key),
  PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE TRIGGER usage_sharing BEFORE INSERT ON usage
WHEN EXISTS (SELECT 1 FROM usage WHERE key = new.key AND run <> new.run) BEGIN
  INSERT INTO usage_shared (run, key)
    SELECT reporter.run, new.key
    FROM (SELECT new.run AS run UNION SELECT run FROM usage WHERE key = new.key) AS reporter
    WHERE NOT EXISTS (SELECT 1 FROM usage_shared WHERE run = reporter.run AND key = new.key);
END;
CREATE INDEX usage_long ON usage (input_tokens) WHERE input_tokens > {LONG_INPUT};
CREATE VIEW usage_told AS
  SELECT id, run, at_ms, max(0, at_ms) / {QUARTER_HOUR} AS quarter, coalesce(model, '') AS model, scope,
    coalesce(speed, '') AS speed, coalesce(service_tier, '') AS service_tier, cost_usd > 0 IS TRUE AS has_cost, {
    _TOKENS
},
    CAST(round({NANODOLLARS} * coalesce(cost_usd, 0)) AS INTEGER) AS nanodollars, 1 AS calls,
    input_tokens AS call_input, tools
  FROM usage;
{
    _kept_sums(
        "usage",
        f"run, at_ms, model, speed, service_tier, cost_usd, {_TOKENS}",
        "run, quarter, model, scope, speed, service_tier, has_cost",
        f"{_TOKENS}, nanodollars, calls",
        f"{sum_of_run('old.run')} AND old.run <> new.run;",
    )
}
CREATE VIEW shares_told AS
  SELECT usage_told.id, run, at_ms, quarter, model, scope, speed, service_tier, has_cost, tool.value AS tool,
    call_input, {_SHARES}, 1 AS shares
  FROM usage_told JOIN json_each(usage_told.tools) AS tool;
{
    _kept_sums(
        "shares",
        f"run, tools, at_ms, model, speed, service_tier, cost_usd, {_TOKENS}",
        "run, quarter, tool, model, scope, speed, service_tier, has_cost",
        f"{_TOKENS}, nanodollars, calls, shares",
        of="usage",
        count="shares",
    )
}

CREATE VIRTUAL TABLE words USING fts5(
  text, content='', tokenize='unicode61 remove_diacritics 2'
);
INSERT INTO words (words, rank) VALUES ('hashsize', 33554432), ('automerge', 16);

{_counted("counted", "usage")}
{_counted("counted_told", "usage_told")}
{_counted("counted_sums", "usage_sums")}
{_counted("counted_shares_told", "shares_told")}
{_counted("counted_shares_sums", "shares_sums")}
"""
