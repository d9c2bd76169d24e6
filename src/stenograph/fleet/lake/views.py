"""The views of `steno sql` over the tables of the lake, in the SQL of DuckDB.

Names, columns and answers are those of `query.views`; each view has the archive beside them. What SQL cannot decide,
the functions of `functions` do: they ask the same code as the index does. Two tables stand below, `events_table` and
`runs_table`; `current_events` are the rows of the first that count, by the newest row of each run.
"""

from __future__ import annotations

from msgspec import Struct

from stenograph.model.payload import TOKEN_COUNTS

_TOKENS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation_1h_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)
_PRICED = (
    "used.model, used.speed, used.service_tier, used.cost_usd, used.scope, "
    f"[{', '.join(f'used.{name}' for name in TOKEN_COUNTS)}]"
)
_KEY = "archive, run_id"


class LakeView(Struct, frozen=True):
    """One view."""

    name: str
    select: str
    is_public: bool = False
    """Whether it is one of those that people ask."""
    is_plain: bool = False
    """Whether it asks none of the functions."""


def _joined(one: str, other: str) -> str:
    return f"{one}.archive = {other}.archive AND {one}.run_id = {other}.run_id"


CURRENT = """
    SELECT * FROM runs_table WHERE {}
    QUALIFY row_number() OVER (PARTITION BY archive, run_id ORDER BY generation DESC, last_block DESC, events DESC) = 1
"""
"""The newest row of each run; the condition selects the runs. It is computed once, and kept as a table."""

CURRENT_EVENTS = f"""
    SELECT event.* FROM events_table AS event JOIN current_runs AS run ON {_joined("event", "run")}
      AND event.generation = run.generation AND event.revision = run.revision
"""
"""The events that count: of the newest generation of their run, and not numbered anew since."""

PAIRS = """
    WITH tool AS (
      SELECT archive, run_id, call_id, source, seq, tool_name, fidelity, error, duration_ms, known_by, block,
        epoch_ms(time) AS ms, type = 'tool.call' AS is_call
      FROM current_events WHERE type IN ('tool.call', 'tool.result') AND fidelity IS NOT NULL
    ), grouped AS (
      SELECT archive, run_id, call_id, if(call_id = '', seq, 0) AS alone, min(block) AS block,
        count(*) FILTER (is_call) AS calls, count(*) FILTER (NOT is_call) AS results,
        any_value(source) FILTER (is_call) AS call_source, any_value(source) AS any_source,
        any_value(tool_name) FILTER (is_call) AS call_name, any_value(tool_name) FILTER (NOT is_call) AS result_name,
        any_value(seq) FILTER (is_call) AS call_seq, any_value(seq) FILTER (NOT is_call) AS result_seq,
        any_value(ms) FILTER (is_call) AS started_ms, any_value(ms) FILTER (NOT is_call) AS ended_ms,
        any_value(duration_ms) FILTER (NOT is_call) AS told_ms,
        any_value(error) FILTER (NOT is_call) AS error, any_value(known_by) AS known_by
      FROM tool GROUP BY archive, run_id, call_id, alone
    ), paired AS (
      SELECT archive, run_id, block, coalesce(call_source, any_source) AS source, call_id,
        coalesce(call_name, result_name, '') AS name, call_seq, result_seq, started_ms, ended_ms, told_ms, error,
        known_by
      FROM grouped WHERE calls <= 1 AND results <= 1
      UNION ALL
      SELECT odd.archive, odd.run_id, odd.block, odd.pair.source, odd.call_id, odd.pair.name, odd.pair.call_seq,
        odd.pair.result_seq, call.ms, result.ms, result.duration_ms, odd.pair.error, odd.known_by
      FROM (
        SELECT archive, run_id, call_id, min(block) AS block, any_value(known_by) AS known_by,
          unnest(from_json(steno_pairs(CAST(to_json(list({
            'seq': seq, 'is_call': is_call, 'source': source, 'name': coalesce(tool_name, ''),
            'fidelity': fidelity, 'error': error
          } ORDER BY seq)) AS VARCHAR)), '[{"source": "VARCHAR", "name": "VARCHAR", "call_seq": "BIGINT",
            "result_seq": "BIGINT", "error": "VARCHAR"}]')) AS pair
        FROM tool SEMI JOIN (SELECT * FROM grouped WHERE calls > 1 OR results > 1) AS odd
          USING (archive, run_id, call_id)
        GROUP BY archive, run_id, call_id
      ) AS odd
      LEFT JOIN tool AS call ON call.archive = odd.archive AND call.run_id = odd.run_id AND call.seq = odd.pair.call_seq
      LEFT JOIN tool AS result ON result.archive = odd.archive AND result.run_id = odd.run_id
        AND result.seq = odd.pair.result_seq
    )
    SELECT archive, run_id, source, call_id, name, call_seq, result_seq, started_ms, error,
      coalesce(told_ms, CAST(greatest(0, ended_ms - started_ms) AS DOUBLE)) AS duration_ms,
      known_by IS NOT NULL AND run_id <> first_value(run_id) OVER (
        PARTITION BY archive, call_id, known_by, if(known_by = 'time', name, ''), if(known_by = 'time', started_ms, 0)
        ORDER BY block, coalesce(call_seq, result_seq)
      ) AS is_copy
    FROM paired
"""
"""Calls and results as `fold.calls` pairs them; SQL sees to those that have one of each, as nearly all have."""

REPORTS = f"""
    SELECT archive, run_id, source, seq, timestamp, epoch_ms(time) AS ms, day, scope, model, message_id, speed,
      service_tier, cost_usd, {", ".join(_TOKENS)}, block, usage_key, report_key
    FROM current_events WHERE type = 'token.usage' AND scope IS NOT NULL
"""
"""Reports of usage."""

KEYS = "SELECT usage_key, report_key FROM reports"
"""Which reports there are: asked once, and kept as a table while sums are made."""
REPEATED_REPORTS = "SELECT report_key FROM report_keys GROUP BY report_key HAVING count(*) > 1"
REPEATED_CALLS = "SELECT usage_key FROM report_keys GROUP BY usage_key HAVING count(*) > 1"

REPEATED = """
    SELECT *, first_value(usage_key) OVER (PARTITION BY report_key ORDER BY block, seq) AS key FROM reports
    WHERE report_key IN (FROM repeated_reports) OR usage_key IN (FROM repeated_calls)
"""
"""Reports of model calls that were reported several times, each with the call that it is of."""

_FIRST = ("run_id", "source", "seq", "timestamp", "scope", "ms", "day")
_LAST = ("model", "message_id", "speed", "service_tier", "cost_usd", *_TOKENS)
_EARLIEST = "(coalesce(ms, 0), block, seq)"
"""A call belongs to the run that reported it first."""

ONCE = f"SELECT archive, usage_key AS key, {', '.join(_FIRST)}, {', '.join(_LAST)} FROM reports"
"""Model calls that were reported once."""

USAGE = f"""
    WITH by_run AS (
      SELECT archive, key, run_id, min(seq) AS seq, min(block) AS block,
        {", ".join(f"arg_min({name}, seq) AS {name}" for name in _FIRST if name not in ("run_id", "seq"))},
        coalesce(arg_max(coalesce(ms, 0), seq), 0) AS last_ms,
        arg_max({{{", ".join(f"'{name}': {name}" for name in _LAST)}}}, seq) AS last
      FROM repeated GROUP BY archive, key, run_id
    ), by_call AS (
      SELECT archive, key, arg_min({{{", ".join(f"'{name}': {name}" for name in _FIRST)}}}, {_EARLIEST}) AS first,
        arg_max(last, (last_ms, run_id)) AS last
      FROM by_run GROUP BY archive, key
    )
    {ONCE} WHERE report_key NOT IN (FROM repeated_reports) AND usage_key NOT IN (FROM repeated_calls)
    UNION ALL
    SELECT archive, key, {", ".join(f"first.{name}" for name in _FIRST)}, {", ".join(f"last.{name}" for name in _LAST)}
    FROM by_call
"""
"""One row per model call, as `fold.usage` counts them; SQL has little to do for those that were reported once."""

COUNTED = f"""
    SELECT used.*, run.agent, run.project FROM usage_calls AS used JOIN current_runs AS run ON {_joined("used", "run")}
    WHERE used.scope = 'call' OR (used.scope = 'turn' AND run.has_calls = 0)
      OR (used.scope = 'total' AND run.has_calls = 0 AND run.has_turns = 0)
"""
"""Those that add up."""

_PLACE = "event.run_id, event.seq, event.source, event.timestamp"
_EVENT = """
    SELECT event.* REPLACE (coalesce(event.tool_name, named.name) AS tool_name) FROM current_events AS event
    LEFT JOIN (
      SELECT archive, run_id, call_id, arg_min(tool_name, seq) AS name FROM current_events
      WHERE type = 'tool.call' AND tool_name IS NOT NULL AND call_id <> '' GROUP BY archive, run_id, call_id
    ) AS named ON event.type = 'tool.result' AND event.tool_name IS NULL AND named.archive = event.archive
      AND named.run_id = event.run_id AND named.call_id = event.call_id
"""
"""Results get the names of their tools, which many agents write only with the call."""

RUNS = f"""
    SELECT run.run_id, run.parent_run_id, run.forked_from, run.agent, run.format, run.agent_version, run.project,
      run.cwd, run.branch, run.name, steno_status(run.evidence, run.ended_ms) AS status, run.started_at, run.ended_at,
      (run.ended_ms - run.started_ms) / 1000.0 AS duration_s, run.turns, run.tools, run.errors, run.events, run.model,
      {", ".join(f"coalesce(spent.{name}, 0) AS {name}" for name in _TOKENS)}, spent.cost_usd,
      coalesce(spent.cost_is_partial, 0) AS cost_is_partial, run.first_prompt,
      steno_status_reason(run.evidence, run.ended_ms) AS status_reason, run.messages, run.tools AS tool_calls,
      run.failed_calls, run.open_calls, run.copied_calls, coalesce(copied.tokens, 0) AS copied_tokens, run.revision,
      run.subagents, run.ended_ms - run.started_ms AS duration_ms, steno_title(run.name, run.first_prompt) AS title,
      run.host, run.user, run.archive AS archive_id, run.team
    FROM current_runs AS run
    LEFT JOIN (
      SELECT archive, run_id, {", ".join(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in _TOKENS)},
        round(sum(steno_cost({_PRICED})), 6) AS cost_usd, max(steno_cost_is_partial({_PRICED})) AS cost_is_partial
      FROM counted AS used GROUP BY {_KEY}
    ) AS spent ON {_joined("spent", "run")}
    LEFT JOIN (
      SELECT report.archive, report.run_id, CAST(sum(used.input_tokens + used.output_tokens) AS BIGINT) AS tokens
      FROM (SELECT DISTINCT archive, run_id, key FROM repeated) AS report
      JOIN usage_calls AS used
        ON used.archive = report.archive AND used.key = report.key AND used.run_id <> report.run_id
      GROUP BY report.archive, report.run_id
    ) AS copied ON {_joined("copied", "run")}
"""

EVENTS = f"""
    SELECT {_PLACE}, event.type, event.role, event.tool_name, event.call_id, event.message_id, event.subtype,
      CAST(event.is_error AS INTEGER) AS is_error, event.child_run_id, coalesce(event.text, '') AS text, event.payload,
      event.archive AS archive_id
    FROM named_events AS event
"""

ENTRIES = f"""
    SELECT {_PLACE}, event.entry.entry_type, event.entry.role, event.entry.content,
      coalesce(event.entry.tool_name, event.tool_name) AS tool_name, event.entry.tool_call_id, event.entry.error,
      event.archive AS archive_id
    FROM (
      SELECT *, unnest(from_json(steno_entries(payload, envelope), '[{{"entry_type": "VARCHAR", "role": "VARCHAR",
        "content": "VARCHAR", "tool_name": "VARCHAR", "tool_call_id": "VARCHAR", "error": "VARCHAR"}}]')) AS entry
      FROM named_events
    ) AS event
"""

TOOL_CALLS = f"""
    SELECT call.run_id, call.call_seq AS seq, call.result_seq, call.source, call.call_id, call.name,
      event.timestamp, call.duration_ms, call.error, steno_part(event.payload, 'input') AS input,
      steno_part(answer.payload, 'output') AS output, call.archive AS archive_id
    FROM pairs AS call JOIN current_events AS event ON {_joined("event", "call")} AND event.seq = call.call_seq
    LEFT JOIN current_events AS answer ON {_joined("answer", "call")} AND answer.seq = call.result_seq
    WHERE NOT call.is_copy
"""

MESSAGES = """
    SELECT run_id, min(seq) AS seq, source, arg_min(timestamp, seq) AS timestamp, arg_min(role, seq) AS role,
      arg_min(message_id, seq) AS message_id, count(*) AS parts,
      string_agg(coalesce(text, ''), chr(10) ORDER BY seq) AS text, archive AS archive_id
    FROM current_events WHERE type IN ('message.user', 'message.assistant') AND subtype IS NULL
    GROUP BY archive, run_id, source, type, coalesce(nullif(message_id, ''), concat(chr(0), seq))
"""

USAGE_VIEW = f"""
    SELECT used.run_id, used.seq, used.source, used.timestamp,
      coalesce(strftime(to_timestamp(used.ms // 1000), '%Y-%m-%d'), used.day) AS day, used.agent, used.project,
      used.model, used.message_id, used.scope, {", ".join(f"used.{name}" for name in _TOKENS)}, used.speed,
      used.service_tier, used.cost_usd AS reported_cost_usd, steno_cost({_PRICED}) AS cost_usd,
      steno_cost_is_partial({_PRICED}) AS cost_is_partial, used.archive AS archive_id
    FROM counted AS used
"""

ERRORS = f"""
    SELECT {_PLACE}, event.type, event.tool_name, event.error AS message, event.archive AS archive_id
    FROM named_events AS event LEFT JOIN pairs AS call
      ON {_joined("event", "call")} AND event.seq = call.result_seq AND NOT call.is_copy
    WHERE event.is_error AND (event.type <> 'tool.result' OR call.run_id IS NOT NULL)
"""


def _actions(kinds: str) -> str:
    """Calls whose tool is of one of these kinds, with what they do as JSON."""
    return f"""(
      SELECT call.archive, call.run_id, call.call_seq AS seq, event.timestamp, run.agent, run.cwd,
        call.error IS NOT NULL AS is_error,
        steno_action(event.payload, event.envelope, answer.payload, answer.envelope) AS does
      FROM pairs AS call JOIN current_runs AS run ON {_joined("run", "call")}
      JOIN current_events AS event ON {_joined("event", "call")} AND event.seq = call.call_seq
      LEFT JOIN current_events AS answer ON {_joined("answer", "call")} AND answer.seq = call.result_seq
      WHERE steno_may_be(call.name, '{kinds}')
    )"""


COMMANDS = f"""
    SELECT act.run_id, act.seq, act.timestamp, act.agent, act.does ->> '$.command' AS command,
      coalesce(act.does ->> '$.cwd', act.cwd) AS cwd, CAST(act.does ->> '$.exit_code' AS BIGINT) AS exit_code,
      CAST(act.is_error AS INTEGER) AS is_error, act.archive AS archive_id
    FROM {_actions("shell")} AS act WHERE act.does ->> '$.kind' = 'shell'
"""

FILE_CHANGES = f"""
    SELECT act.run_id, act.seq, act.timestamp, act.agent, act.change.path, act.change.kind, act.change.added,
      act.change.removed, act.archive AS archive_id
    FROM (
      SELECT *, unnest(from_json(does -> '$.changes',
        '[{{"path": "VARCHAR", "kind": "VARCHAR", "added": "BIGINT", "removed": "BIGINT"}}]')) AS change
      FROM {_actions("write edit")} AS act WHERE act.does ->> '$.kind' IN ('write', 'edit')
    ) AS act
"""

ARCHIVES = """
    SELECT archive AS archive_id, any_value(host) AS host, any_value("user") AS user, any_value(team) AS team,
      count(*) AS runs, CAST(sum(events) AS BIGINT) AS events, max(ended_at) AS ended_at
    FROM current_runs GROUP BY archive
"""

VIEWS = (
    LakeView("current_events", CURRENT_EVENTS, is_plain=True),
    LakeView("named_events", _EVENT, is_plain=True),
    LakeView("pairs", PAIRS),
    LakeView("reports", REPORTS, is_plain=True),
    LakeView("report_keys", KEYS, is_plain=True),
    LakeView("repeated_reports", REPEATED_REPORTS, is_plain=True),
    LakeView("repeated_calls", REPEATED_CALLS, is_plain=True),
    LakeView("repeated", REPEATED, is_plain=True),
    LakeView("usage_calls", USAGE, is_plain=True),
    LakeView("counted", COUNTED, is_plain=True),
    LakeView("runs", RUNS, is_public=True),
    LakeView("events", EVENTS, is_public=True),
    LakeView("entries", ENTRIES, is_public=True),
    LakeView("tool_calls", TOOL_CALLS, is_public=True),
    LakeView("messages", MESSAGES, is_public=True),
    LakeView("usage", USAGE_VIEW, is_public=True),
    LakeView("errors", ERRORS, is_public=True),
    LakeView("commands", COMMANDS, is_public=True),
    LakeView("file_changes", FILE_CHANGES, is_public=True),
    LakeView("archives", ARCHIVES, is_public=True),
)
"""In the order in which they are made."""
KEPT = ("report_keys", "repeated_reports", "repeated_calls")
"""Those that are asked several times where tokens are added up: quicker as tables."""
