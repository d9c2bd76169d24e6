"""The tables of the lake: their columns, as Arrow and Delta Lake know them.

Columns are only ever added, and every one may be null: what a newer program writes, an older reader passes over, and
what an older one wrote lacks, is null. No column is called `at`, which is not a name in the SQL of DuckDB.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from stenograph.model.payload import TOKEN_COUNTS

if TYPE_CHECKING:
    import pyarrow

TEXT, INTEGER, NUMBER, FLAG, TIME = "text", "integer", "number", "flag", "time"

EVENTS: dict[str, tuple[str, str]] = {
    "archive": (TEXT, "the archive that keeps the run"),
    "generation": (TEXT, "of the index that numbered it; a new one takes the place of the old one"),
    "run_id": (TEXT, "the run"),
    "parent_run_id": (TEXT, "the run that spawned it"),
    "child_run_id": (TEXT, "the run that it began"),
    "source": (TEXT, "who speaks: `main` or `subagent:<id>`"),
    "seq": (INTEGER, "its number in the run"),
    "time": (TIME, "when, in UTC; null where nothing tells"),
    "timestamp": (TEXT, "the same as the agent wrote it"),
    "agent": (TEXT, "who ran"),
    "format": (TEXT, "how its transcript is written"),
    "cwd": (TEXT, "the folder it worked in"),
    "project": (TEXT, "the last part of that"),
    "type": (TEXT, "its type, such as `message.user`"),
    "role": (TEXT, "`user`, `assistant`, `tool` or `system`"),
    "tool_name": (TEXT, "the tool; of a result, where the result itself names it"),
    "call_id": (TEXT, "joins a call and its result"),
    "message_id": (TEXT, "joins the events of one message"),
    "subtype": (TEXT, "of a `system.event`; `chunk` for a piece of a streamed message"),
    "is_error": (FLAG, "whether it is an error or a failed tool"),
    "error": (TEXT, "what went wrong"),
    "model": (TEXT, "the model, where the event names one"),
    "scope": (TEXT, "of usage: `call`, `turn` or `total`"),
    **dict.fromkeys(TOKEN_COUNTS, (INTEGER, "of usage: tokens")),
    "speed": (TEXT, "of usage: such as `fast`"),
    "service_tier": (TEXT, "of usage: such as `batch`"),
    "cost_usd": (NUMBER, "of usage: a cost that the source itself names"),
    "usage_key": (INTEGER, "of usage: which model call it reports, as a number, if it is the first report of it"),
    "report_key": (INTEGER, "of usage: equal numbers are reports of one model call"),
    "fidelity": (TEXT, "of calls and results: who reports them"),
    "duration_ms": (NUMBER, "of results: as reported"),
    "known_by": (TEXT, "of calls: what tells the same call in another run: `id` or `time`"),
    "text": (TEXT, "what a person reads of it"),
    "payload": (TEXT, "all that it says, as JSON"),
    "envelope": (TEXT, "the rest of its canonical line, as JSON"),
    "block": (INTEGER, "the block of the archive's index that it is in"),
    "revision": (INTEGER, "how often its run had been numbered anew; the highest counts"),
    "day": (TEXT, "the day in UTC; the table is partitioned by it"),
}
"""By name: the type, and what it is."""

RUNS: dict[str, tuple[str, str]] = {
    "archive": (TEXT, "the archive that keeps it"),
    "generation": (TEXT, "of the index"),
    "last_block": (INTEGER, "how far its archive's events were sent when this was said; the last word counts"),
    "goal": (INTEGER, "how far the index was then"),
    "said_at": (TEXT, "when that was"),
    "run_id": (TEXT, "its id"),
    "parent_run_id": (TEXT, "the run that spawned it"),
    "forked_from": (TEXT, "the run whose history it continues"),
    "agent": (TEXT, "who ran"),
    "format": (TEXT, "how its transcript is written"),
    "cwd": (TEXT, "the folder it worked in"),
    "project": (TEXT, "the last part of `cwd`"),
    "agent_version": (TEXT, "the agent's version"),
    "name": (TEXT, "its name, for runs of our own"),
    "first_prompt": (TEXT, "the beginning of the first message to it"),
    "model": (TEXT, "the model it used last"),
    "started_at": (TEXT, "when its first event was"),
    "ended_at": (TEXT, "when its last event was"),
    "started_ms": (INTEGER, "the same in milliseconds since 1970"),
    "ended_ms": (INTEGER, "the same in milliseconds since 1970"),
    "events": (INTEGER, "its events"),
    "turns": (INTEGER, "messages to the agent"),
    "tools": (INTEGER, "tool calls"),
    "errors": (INTEGER, "errors and failed tools"),
    "has_calls": (INTEGER, "whether its usage is reported by model call"),
    "has_turns": (INTEGER, "whether its usage is reported by turn"),
    "evidence": (TEXT, "what its status is derived from"),
    "status": (TEXT, "its status, as far as its events alone tell it"),
    "status_reason": (TEXT, "why it has that status"),
    "branch": (TEXT, "the git branch of that folder when it began"),
    "revision": (INTEGER, "how often its events were numbered anew"),
    "messages": (INTEGER, "messages of users and agents"),
    "failed_calls": (INTEGER, "calls whose result is an error"),
    "open_calls": (INTEGER, "calls without a result"),
    "copied_calls": (INTEGER, "calls that were copied from another run, and count there"),
    "subagents": (INTEGER, "how many subagents spoke in it"),
    "timed_calls": (INTEGER, "calls whose duration is known"),
    "tool_us": (INTEGER, "how long these took, in microseconds"),
    "usage_sums": (TEXT, "its model calls added up by quarters of an hour and model, as JSON"),
    "long_sums": (TEXT, "those with a long input, also by the length of it, as JSON"),
    "calls_sums": (TEXT, "its tool calls added up by quarters of an hour and tool, as JSON"),
    "host": (TEXT, "the machine of the archive"),
    "user": (TEXT, "whose archive it is"),
    "team": (TEXT, "the team that the archive is of"),
}
"""By name: the type, and what it is."""


@cache
def schema_of(table: str) -> pyarrow.Schema:
    """The columns of `events` or `runs` for Arrow."""
    import pyarrow as pa

    kinds = {
        TEXT: pa.string(),
        INTEGER: pa.int64(),
        NUMBER: pa.float64(),
        FLAG: pa.bool_(),
        TIME: pa.timestamp("us", tz="UTC"),
    }
    columns = {"events": EVENTS, "runs": RUNS}[table]
    return pa.schema([(name, kinds[kind]) for name, (kind, _) in columns.items()])
