"""The tables over a bundle: stable names and columns, each with its description.

Long values are stored once: `transcript` and `entries` read from `logs`, `tool_calls` from `events`.
"""

from __future__ import annotations

from msgspec import Struct

from stenograph.query.views import VIEWS

SCHEMA_VERSION = 2


class Table(Struct, frozen=True, kw_only=True):
    """One table, as users see it."""

    name: str
    about: str
    columns: dict[str, str]
    """Each with its description."""


_RECORD = {
    "id": "its line in `logs/app.jsonl`",
    "timestamp": "when it was captured",
    "level": "`DEBUG`, `INFO`, `WARNING`, `ERROR` …",
    "logger": "who logged it",
    "event": "its name, such as `transcript.entry`; null for plain messages",
    "message": "the text",
    "context": "JSON; `context->>'key'` takes a value out",
}
_PLACE = {
    "run_id": "the run, or one that it called",
    "seq": "the number of the event in its run",
    "source": "`main` or `subagent:<id>`",
    "timestamp": "when, as the agent wrote it",
}

TABLES: tuple[Table, ...] = (
    Table(
        name="logs", about="every log record", columns=_RECORD | {"exception": "the traceback that was logged with it"}
    ),
    Table(name="transcript", about="the records among them that are transcript entries", columns=_RECORD),
    Table(
        name="entries",
        about="the transcript for people, one row per entry",
        columns={
            "source": "`main` or `subagent:<id>`",
            "sequence_number": "1, 2, 3 … per source",
            "entry_type": "one of nine: `user_message`, `assistant_message`, `tool_use` …",
            "role": "`system`, `user`, `assistant` or `tool`",
            "timestamp": "when, as the agent wrote it",
            "tool_name": "the tool, for calls and results",
            "tool_call_id": "joins a call and its result",
            "session_id": "the agent's session",
            "prompt_name": "the prompt or run",
            "adapter": "the adapter that recorded it",
            "entry_id": "the same wherever the entry is read",
            "content": "the text",
            "tool_input": "JSON, for calls",
            "metadata": "JSON; `model`, `error`, `duration_ms`, `usage` among it",
            "detail": "JSON; further fields of the provider",
            "raw": "the source line, where it was kept",
            "run_id": "the run; of an evaluation that is not recorded, the evaluation's id",
        },
    ),
    Table(
        name="events",
        about="the run for programs, one row per event",
        columns={"id": "its place among all events of the bundle"}
        | _PLACE
        | {
            "type": "one of fourteen: `message.user`, `tool.call` …",
            "path": "the step, dot-separated",
            "iteration": "of a loop, from 0",
            "adapter": "the adapter that recorded it",
            "session_id": "the agent's session",
            "parent_run_id": "the run that called this one",
            "child_run_id": "the run that this step called",
            "payload": "JSON; by type, see the reference of events",
            "origin": "JSON; where it comes from",
            "raw": "the source line, where it was kept",
        },
    ),
    Table(
        name="tool_calls",
        about="each call with its result",
        columns={
            "run_id": "the run, or one that it called",
            "source": "`main` or `subagent:<id>`",
            "tool_name": "the tool",
            "call_id": "joins them",
            "call_seq": "the event of the call",
            "result_seq": "the event of the result; null when it was never answered",
            "started_at": "when it was called",
            "ended_at": "when it was answered",
            "duration_ms": "as reported, or from these times",
            "error": "why it failed; null when it did not",
            "input": "JSON",
            "output": "JSON",
            "seq": "the same as `call_seq`, as in an archive",
            "name": "the same as `tool_name`",
            "timestamp": "the same as `started_at`",
        },
    ),
    Table(
        name="errors",
        about="everything that failed: errors, tools, steps, runs and log records",
        columns={"kind": "`error`, `tool`, `step`, `run` or `log`"}
        | _PLACE
        | {
            "log_id": "the record, for kind `log`",
            "message": "what went wrong",
            "detail": "JSON; everything that was reported",
        },
    ),
    Table(
        name="usage",
        about="tokens as they were reported",
        columns=_PLACE
        | {
            "scope": "of a `call`, a `turn` or the `total` so far",
            "model": "the model, where it was named",
            "message_id": "the call; a later report replaces an earlier one",
            "input_tokens": "cached ones included",
            "output_tokens": "reasoning included",
            "cache_read_input_tokens": "read from a cache",
            "cache_creation_input_tokens": "written to a cache",
            "reasoning_output_tokens": "spent on reasoning",
            "is_counted": "1 when it is part of the sum: every token counts once",
            "cache_creation_1h_input_tokens": "of those written to a cache, for an hour",
            "speed": "such as `fast`, where the source names one",
            "service_tier": "such as `batch`, where the source names one",
            "cost_usd": "where the source itself names a cost",
        },
    ),
    Table(name="manifest", about="what the manifest says", columns={"key": "the field", "value": "text, or JSON"}),
    Table(
        name="environment",
        about="on what it ran",
        columns={
            "section": "`system`, `python`, `packages`, `variables` or `git`",
            "name": "the fact",
            "value": "text, or JSON",
        },
    ),
)

OWN = tuple(table.name for table in TABLES)
"""The tables that only a bundle has, or that have columns of their own there."""
_SAME = ("runs", "messages", "commands", "file_changes")
TABLES += tuple(
    Table(name=view.name, about=view.about, columns={name: about for name, (_, about) in view.columns.items()})
    for view in VIEWS
    if view.name in _SAME
)
"""All tables, with the archive's views that a bundle also supports."""

EXAMPLES = (
    (
        "the transcript from the log records",
        "SELECT context->>'entry_type', context->>'source', context->>'detail'\nFROM logs\n"
        "WHERE event = 'transcript.entry'\nORDER BY context->>'sequence_number'",
    ),
    (
        "tools by use, failures and time",
        "SELECT tool_name, count(*) AS calls, count(error) AS failed, round(sum(duration_ms)) AS ms\n"
        "FROM tool_calls GROUP BY tool_name ORDER BY calls DESC",
    ),
    ("what went wrong, first things first", "SELECT kind, seq, timestamp, message FROM errors ORDER BY timestamp"),
    (
        "tokens by model",
        "SELECT model, sum(input_tokens) AS input, sum(output_tokens) AS output\n"
        "FROM usage WHERE is_counted GROUP BY model",
    ),
    (
        "what was said, without what the tools said",
        "SELECT source, role, content FROM entries\n"
        "WHERE entry_type IN ('user_message', 'assistant_message') ORDER BY source, sequence_number",
    ),
)

STATEMENTS = """
CREATE TABLE logs (id INTEGER PRIMARY KEY, timestamp, level, logger, event, message, context, exception);
CREATE TABLE entry_facts (
    log_id INTEGER PRIMARY KEY, source, sequence_number, entry_type, role, timestamp, tool_name, tool_call_id,
    session_id, prompt_name, adapter, entry_id
);
CREATE TABLE events (
    id INTEGER PRIMARY KEY, run_id, seq, source, timestamp, type, path, iteration, adapter, session_id,
    parent_run_id, child_run_id, payload, origin, raw
);
CREATE TABLE call_facts (
    run_id, source, tool_name, call_id, call_seq, result_seq, started_at, ended_at, duration_ms, error,
    call_event, result_event
);
CREATE TABLE errors (kind, run_id, seq, source, timestamp, log_id, message, detail);
CREATE TABLE usage (
    run_id, seq, source, timestamp, scope, model, message_id, input_tokens, output_tokens, cache_read_input_tokens,
    cache_creation_input_tokens, reasoning_output_tokens, is_counted, cache_creation_1h_input_tokens, speed,
    service_tier, cost_usd
);
CREATE TABLE manifest (key, value);
CREATE TABLE environment (section, name, value);
CREATE TABLE fingerprint (digest, seal, parts);
CREATE VIEW transcript AS
    SELECT id, timestamp, level, logger, event, message, context FROM logs WHERE event = 'transcript.entry';
CREATE VIEW entries AS
    SELECT fact.source AS source, sequence_number, entry_type, role, fact.timestamp AS timestamp, tool_name,
        tool_call_id, session_id, prompt_name, adapter, entry_id, context->>'content' AS content,
        context->'tool_input' AS tool_input, context->'metadata' AS metadata, context->'detail' AS detail,
        context->>'raw' AS raw, context->>'run_id' AS run_id
    FROM entry_facts AS fact LEFT JOIN logs ON logs.id = fact.log_id;
CREATE VIEW tool_calls AS
    SELECT fact.run_id AS run_id, fact.source AS source, tool_name, call_id, call_seq, result_seq, started_at, ended_at,
        duration_ms, error, call.payload->'input' AS input, result.payload->'output' AS output, call_seq AS seq,
        tool_name AS name, started_at AS timestamp
    FROM call_facts AS fact
    LEFT JOIN events AS call ON call.id = fact.call_event
    LEFT JOIN events AS result ON result.id = fact.result_event;
"""
"""The statements that create them; a left join costs nothing while no column of it is used."""
