"""The views of an archive for SQL: stable names and columns, whatever the index itself looks like.

They hide the tables of the index behind the documented names. An event's content is read from its compressed chunk
when a query asks for it, by the functions of `archive_database` (`steno_…`). `fleet.lake.views` has the same views for
DuckDB, so a new column goes there, too.
"""

from __future__ import annotations

from msgspec import Struct

from stenograph.model.payload import TOKEN_COUNTS


class View(Struct, frozen=True, kw_only=True):
    """One view."""

    name: str
    about: str
    columns: dict[str, tuple[str, str]]
    """By name: its SQL expression and its description."""
    source: str
    """The FROM clause."""

    @property
    def statement(self) -> str:
        """The statement that creates it."""
        columns = ", ".join(f"{how} AS {name}" for name, (how, _) in self.columns.items())
        return f"CREATE TEMP VIEW {self.name} AS SELECT {columns} FROM {self.source}"


_RUN_ID = {"run_id": ("run.run_id", "the run")}
_PLACE = {  # the first columns of the views whose rows are events
    **_RUN_ID,
    "seq": ("event.seq", "its number in the run"),
    "source": ("event.source", "who speaks: `main` or `subagent:<id>`"),
    "timestamp": ("nullif(event.timestamp, '')", "when, as the agent wrote it; null where it is not known"),
}
_TOKENS = {
    "input_tokens": "cached ones included",
    "cache_read_input_tokens": "read from a cache",
    "cache_creation_input_tokens": "written to a cache",
    "cache_creation_1h_input_tokens": "of these, written for an hour",
    "output_tokens": "reasoning included",
    "reasoning_output_tokens": "spent on reasoning",
}
_PRICED = ", ".join(f"used.{name}" for name in ("model", "speed", "service_tier", "cost_usd", "scope", *TOKEN_COUNTS))
"""What a price depends on."""
_EVENTS = "main.events AS event JOIN main.runs AS run ON run.id = event.run"


def _entry(field: str) -> str:
    """The SQL of a field of an entry, by a function of ours: the JSON functions of SQLite end a text at a NUL."""
    return f"steno_entry(event.id, entry.value, '{field}')"


def _plain(names: str, table: str) -> dict[str, tuple[str, str]]:
    """Columns that have the same names in the table; `names` has a line `name: description` for each."""
    pairs = (line.strip().partition(": ") for line in names.strip().splitlines())
    return {name: (f"{table}.{name}", about) for name, _, about in pairs}


_CALLED = {  # the first columns of the views whose rows are what a call does
    **_RUN_ID,
    "seq": ("event.seq", "the number of the call"),
    "timestamp": ("nullif(event.timestamp, '')", "when it was called"),
    "agent": ("run.agent", "who ran"),
}


def _actions(kinds: str) -> str:
    """The FROM clause for calls of tools of these kinds, with what they do; `json_each` makes that once per call."""
    return (
        "main.calls AS call JOIN main.runs AS run ON run.id = call.run"
        f" JOIN main.events AS event ON event.id = call.call AND steno_may_be(call.name, '{kinds}')"
        " JOIN json_each('[' || steno_action(call.call, call.result) || ']') AS does"
        f" ON instr(' {kinds} ', ' ' || (does.value ->> '$.kind') || ' ')"
    )


VIEWS = (
    View(
        name="runs",
        about="one row per run",
        columns=_plain(
            """
            run_id: its id
            parent_run_id: the run that spawned it
            forked_from: the run whose history it continues
            agent: who ran
            format: how its transcript is written
            agent_version: the agent's version
            project: the last part of `cwd`
            cwd: the folder it worked in
            branch: the git branch of that folder when it began
            name: its name, for runs of our own
            """,
            "run",
        )
        | {"status": ("steno_status(run.id)", "`running`, `waiting`, `finished`, `failed`, `interrupted` or `unknown`")}
        | _plain(
            """
            started_at: when its first event was
            ended_at: when its last event was
            """,
            "run",
        )
        | {"duration_s": ("(run.ended_ms - run.started_ms) / 1000.0", "seconds between the two")}
        | _plain(
            """
            turns: messages to the agent
            tools: tool calls
            errors: errors and failed tools
            events: its events
            model: the model it used last
            """,
            "run",
        )
        | {name: (f"run.{name}", about) for name, about in _TOKENS.items()}
        | {
            "cost_usd": (
                f"(SELECT round(sum(steno_cost({_PRICED})), 6) FROM main.counted AS used WHERE used.run = run.id)",
                "its own model calls by list prices; null when none has a price",
            ),
            "cost_is_partial": (
                f"(SELECT coalesce(max(steno_cost_is_partial({_PRICED})), 0) FROM main.counted AS used"
                " WHERE used.run = run.id)",
                "1 when a part of it has no price: then it cost at least that much",
            ),
            "first_prompt": ("run.first_prompt", "the beginning of the first message to it"),
            "status_reason": ("steno_status_reason(run.id)", "why it has that status"),
            "messages": ("run.messages", "messages of users and agents"),
            "tool_calls": ("run.tools", "the same as `tools`"),
            "failed_calls": ("run.failed_calls", "calls whose result is an error"),
            "open_calls": ("run.open_calls", "calls without a result"),
            "copied_calls": ("run.copied_calls", "calls that were copied from another run, and count there"),
            "copied_tokens": (
                "(SELECT coalesce(sum(used.input_tokens + used.output_tokens), 0) FROM main.usage_shared AS copy"
                " JOIN main.usage AS used ON used.key = copy.key WHERE copy.run = run.id AND used.run <> run.id)",
                "tokens of model calls that were copied from another run, and count there",
            ),
            "revision": ("run.revision", "how often its events were numbered anew"),
            "subagents": (
                "(SELECT count(*) FROM main.sources WHERE run = run.id AND source <> 'main')",
                "how many subagents spoke in it",
            ),
            "duration_ms": ("run.ended_ms - run.started_ms", "milliseconds between start and end"),
            "title": ("steno_title(run.name, run.first_prompt)", "its name, else the first line of its first prompt"),
            "host": ("steno_archive('host')", "the machine whose archive keeps it"),
            "user": ("steno_archive('user')", "whose archive that is"),
            "archive_id": ("steno_archive('id')", "which archive that is"),
        },
        source="main.runs AS run",
    ),
    View(
        name="events",
        about="one row per event",
        columns=_PLACE
        | _plain(
            """
            type: its type, such as `message.user`
            role: `user`, `assistant`, `tool` or `system`
            tool_name: the tool, for calls and results
            call_id: joins a call and its result
            message_id: joins the events of one message
            subtype: of a `system.event`; `chunk` for a piece of a streamed message
            """,
            "event",
        )
        | {
            "is_error": ("event.error", "1 for errors and failed tools"),
            "child_run_id": ("event.child_run_id", "the run that it began"),
            "text": ("steno_text(event.id)", "what a person reads of it"),
            "payload": ("steno_payload(event.id)", "all that it says, as JSON"),
        },
        source=_EVENTS,
    ),
    View(
        name="entries",
        about="one row per entry, the flat view of events",
        columns=_PLACE
        | {
            "entry_type": (_entry("entry_type"), "such as `user_message`"),
            "role": (_entry("role"), "`user`, `assistant`, `tool` or `system`"),
            "content": (_entry("content"), "what it says"),
            "tool_name": (f"coalesce({_entry('tool_name')}, event.tool_name)", "the tool"),
            "tool_call_id": (_entry("tool_call_id"), "joins a call and its result"),
            "error": (_entry("error"), "why the tool failed"),
        },
        source=f"{_EVENTS} JOIN json_each(steno_entries(event.id)) AS entry",
    ),
    View(
        name="tool_calls",
        about="one row per tool call with its result, in its first run; a stray result is only an event",
        columns=_RUN_ID
        | {
            "seq": ("event.seq", "the number of the call"),
            "result_seq": ("answer.seq", "the number of the result; null while there is none"),
            "source": ("call.source", "who called"),
            "call_id": ("call.call_id", "the agent's id of it"),
            "name": ("call.name", "the tool"),
            "timestamp": ("nullif(event.timestamp, '')", "when it was called"),
            "duration_ms": ("call.duration_ms", "as reported, else between call and result"),
            "error": ("call.error", "why it failed; null when it did not"),
            "input": ("steno_payload(call.call) -> '$.input'", "what was asked, as JSON"),
            "output": ("steno_payload(call.result) -> '$.output'", "what came back, as JSON"),
        },
        source="main.calls AS call JOIN main.runs AS run ON run.id = call.run"
        " JOIN main.events AS event ON event.id = call.call AND call.copy_of IS NULL"
        " LEFT JOIN main.events AS answer ON answer.id = call.result",
    ),
    View(
        name="messages",
        about="one row per message, put together again where the agent spread it over several records",
        columns={
            "run_id": ("message.run_id", "the run"),
            "seq": ("event.seq", "the number of its first event"),
            "source": ("event.source", "who speaks: `main` or `subagent:<id>`"),
            "timestamp": ("nullif(event.timestamp, '')", "when it began"),
            "role": ("event.role", "`user` or `assistant`"),
            "message_id": ("event.message_id", "the agent's id of it"),
            "parts": ("message.parts", "how many events it is spread over"),
            "text": ("steno_text(message.ids)", "what it says"),
        },
        source="""(
          SELECT run.run_id AS run_id, min(event.id) AS id, count(*) AS parts, group_concat(event.id) AS ids
          FROM main.events AS event JOIN main.runs AS run ON run.id = event.run
          WHERE event.type IN ('message.user', 'message.assistant') AND event.subtype IS NULL
          GROUP BY run.run_id, event.source, event.type, coalesce(nullif(event.message_id, ''), event.id)
        ) AS message JOIN main.events AS event ON event.id = message.id""",
    ),
    View(
        name="usage",
        about="one row per model call (or turn, or run, where an agent reports no more); each counts once",
        columns=_PLACE
        | {
            "day": ("date(used.at_ms / 1000, 'unixepoch', 'localtime')", "the day, in local time"),
            "agent": ("run.agent", "who ran"),
            "project": ("run.project", "the last part of the folder it worked in"),
            "model": ("used.model", "the model"),
            "message_id": ("used.message_id", "the message that it made"),
            "scope": ("used.scope", "`call`, `turn` or `total`"),
        }
        | {name: (f"used.{name}", about) for name, about in _TOKENS.items()}
        | {
            "speed": ("used.speed", "such as `fast`, where the source names one"),
            "service_tier": ("used.service_tier", "such as `batch`, where the source names one"),
            "reported_cost_usd": ("used.cost_usd", "where the source itself names a cost"),
            "cost_usd": (
                f"steno_cost({_PRICED})",
                "the reported cost, else by list prices; null for a model without one",
            ),
            "cost_is_partial": (
                f"steno_cost_is_partial({_PRICED})",
                "1 when the model, its tier or its speed has no price",
            ),
        },
        source="main.counted AS used JOIN main.runs AS run ON run.id = used.run"
        " LEFT JOIN main.events AS event ON event.id = used.event",
    ),
    View(
        name="errors",
        about="one row per error and failed tool; a failure that two reporters report is one",
        columns=_PLACE
        | {
            "type": ("event.type", "`error` or `tool.result`"),
            "tool_name": ("event.tool_name", "the tool that failed"),
            "message": ("steno_error(event.id)", "what went wrong"),
        },
        source=f"""{_EVENTS} WHERE event.error AND (event.type <> 'tool.result' OR EXISTS (
          SELECT 1 FROM main.calls WHERE run = event.run AND call_id = event.call_id AND result = event.id
            AND copy_of IS NULL
        ))""",
    ),
    View(
        name="commands",
        about="one row per shell command that an agent ran",
        columns=_CALLED
        | {
            "command": ("does.value ->> '$.command'", "the command line"),
            "cwd": ("coalesce(does.value ->> '$.cwd', run.cwd)", "the folder in which it ran"),
            "exit_code": ("does.value ->> '$.exit_code'", "as the result reports it; null where it does not"),
            "is_error": ("call.error IS NOT NULL", "1 when the call failed"),
        },
        source=_actions("shell"),
    ),
    View(
        name="file_changes",
        about="one row per file that a call changes",
        columns=_CALLED
        | {
            "path": ("change.value ->> '$.path'", "the file, as the agent named it"),
            "kind": ("change.value ->> '$.kind'", "`write`, `edit`, `delete` or `move`"),
            "added": ("change.value ->> '$.added'", "lines that it adds"),
            "removed": ("change.value ->> '$.removed'", "lines that it removes"),
        },
        source=f"{_actions('write edit')} JOIN json_each(does.value -> '$.changes') AS change",
    ),
)
EXAMPLES = (
    ("the ten longest runs", "SELECT run_id, project, duration_s FROM runs ORDER BY duration_s DESC LIMIT 10"),
    (
        "tools by how often they fail",
        "SELECT name, count(*) AS calls, round(1.0 * count(error) / count(*), 3) AS failing,"
        " round(avg(duration_ms)) AS ms FROM tool_calls GROUP BY name ORDER BY failing DESC",
    ),
    (
        "what each project cost by month",
        "SELECT project, substr(day, 1, 7) AS month, round(sum(cost_usd), 2) AS usd FROM usage"
        " GROUP BY project, month ORDER BY month DESC, usd DESC",
    ),
    (
        "the newest errors",
        "SELECT run_id, seq, timestamp, tool_name, message FROM errors ORDER BY timestamp DESC LIMIT 20",
    ),
    (
        "what was asked last",
        "SELECT run_id, timestamp, text FROM messages WHERE role = 'user' AND source = 'main'"
        " ORDER BY timestamp DESC LIMIT 10",
    ),
)
"""Useful queries, each with what it answers."""
