"""The SQL functions of the lake's views: the decisions of the index, by the same code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from stenograph.fleet.lake.rows import line_of
from stenograph.fold.calls import CallPair, CallPairs
from stenograph.fold.prices import Prices
from stenograph.fold.status import Life, RunStatus, Verdict
from stenograph.liveness import Liveness
from stenograph.model.codec import decode
from stenograph.model.event import Event, Origin
from stenograph.model.payload import ToolPayload
from stenograph.query.archive_database import action_json, cost_of, may_be
from stenograph.query.runs import title_of
from stenograph.transcript.project import Projector

if TYPE_CHECKING:
    import duckdb

_TEXT, _INTEGER, _NUMBER, _FLAG = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"
_decode_status = msgspec.json.Decoder(RunStatus).decode


def add_functions(connection: duckdb.DuckDBPyConnection, prices: Prices) -> None:
    """Register them in a connection."""
    costs = [_TEXT, _TEXT, _TEXT, _NUMBER, _TEXT, f"{_INTEGER}[]"]
    verdict = lru_cache(4096)(partial(verdict_of, Liveness()))

    def dollars(
        model: str | None, speed: str | None, tier: str | None, reported: float | None, scope: str, tokens: list[int]
    ) -> float | None:
        return cost_of(prices, model, speed, tier, reported, scope, *tokens).dollars

    def is_partial(
        model: str | None, speed: str | None, tier: str | None, reported: float | None, scope: str, tokens: list[int]
    ) -> int:
        return int(cost_of(prices, model, speed, tier, reported, scope, *tokens).is_partial)

    functions: dict[str, tuple[list[str], str, Callable[..., Any]]] = {
        "steno_pairs": ([_TEXT], _TEXT, pairs_json),
        "steno_entries": ([_TEXT, _TEXT], _TEXT, entries_json),
        "steno_part": ([_TEXT, _TEXT], _TEXT, part_of),
        "steno_action": ([_TEXT, _TEXT, _TEXT, _TEXT], _TEXT, _action),
        "steno_may_be": ([_TEXT, _TEXT], _FLAG, may_be),
        "steno_title": ([_TEXT, _TEXT], _TEXT, title_of),
        "steno_status": ([_TEXT, _INTEGER], _TEXT, lambda evidence, ended: verdict(evidence, ended).status),
        "steno_status_reason": ([_TEXT, _INTEGER], _TEXT, lambda evidence, ended: verdict(evidence, ended).reason),
        "steno_cost": (costs, _NUMBER, dollars),
        "steno_cost_is_partial": (costs, "INTEGER", is_partial),
    }
    add: Any = connection.create_function  # its enumerations also accept texts
    for name, (takes, gives, function) in functions.items():
        add(name, function, takes, gives, null_handling="special")


def verdict_of(liveness: Liveness, evidence: str | None, ended_ms: int | None) -> Verdict:
    """The status of a run on another machine; whether it is running follows from the time of its last event."""
    is_recent = ended_ms is not None and liveness.is_recent(ended_ms / 1000)
    return _decode_status(evidence or "{}").verdict(Life(is_recent=is_recent))


class _Tool(Struct):
    """A call or a result, as SQL passes it."""

    seq: int
    is_call: bool
    source: str
    name: str
    fidelity: str
    error: str | None = None


_decode_fields = msgspec.json.Decoder(dict[str, Raw] | None).decode
_decode_tools = msgspec.json.Decoder(list[_Tool]).decode


def pairs_json(tools: str) -> str:
    """The pairs of the calls and results of one run that have the same id, as JSON."""
    pairs = CallPairs()
    found = [
        joined.pair for tool in _decode_tools(tools) if (joined := pairs.add(_event(tool), tool.seq)) and joined.begins
    ]
    return msgspec.json.encode(
        [
            {
                "source": each.source,
                "name": each.name,
                "call_seq": each.call,
                "result_seq": each.result,
                "error": each.error,
            }
            for each in found
        ]
    ).decode()


def _event(tool: _Tool) -> Event:
    payload = ToolPayload(
        name=tool.name,
        call_id="same",
        input=None,
        output=None,
        error=tool.error,
        fidelity=tool.fidelity,  # type: ignore[arg-type]
    )
    return Event(
        seq=tool.seq,
        run_id="",
        type="tool.call" if tool.is_call else "tool.result",
        path="",
        iteration=0,
        timestamp="",
        origin=Origin(source=tool.source),
        payload=payload,
    )


def entries_json(payload: str, envelope: str) -> str:
    """The entries of an event, as JSON."""
    names = ("entry_type", "role", "content", "tool_name", "tool_call_id")
    return _json(
        {
            **{name: _text(getattr(entry, name)) for name in names},
            "error": _text((entry.metadata or {}).get("error")),
        }
        for entry in Projector().feed(decode(line_of(payload, envelope)))
    )


def part_of(payload: str | None, name: str) -> str | None:
    """One field of a payload, as its original JSON."""
    fields = None if payload is None else _decode_fields(payload)
    return None if fields is None or name not in fields else bytes(fields[name]).decode()


def _action(payload: str, envelope: str, result: str | None, result_envelope: str | None) -> str:
    call = decode(line_of(payload, envelope))
    answer = None if result is None or result_envelope is None else decode(line_of(result, result_envelope))
    return action_json(CallPair(run_id=call.run_id, source=call.source, call_id="", name="", call=call, result=answer))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _json(rows: Iterable[dict[str, Any]]) -> str:
    return msgspec.json.encode(list(rows)).decode()
