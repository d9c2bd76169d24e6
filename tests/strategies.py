"""Hypothesis strategies that build whole values: every event type, block and field, known, unknown and hostile.

What these build can be written: `encode` takes it, and reading it back gives an equal value. `json_lines` and
`wild_*` build what can only be read.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import fields, replace

from stenograph.model import (
    EVENT_TYPES,
    AttachmentBlock,
    CommandBlock,
    ErrorPayload,
    Event,
    LifecyclePayload,
    MessagePayload,
    Origin,
    StreamBlock,
    SystemPayload,
    TextBlock,
    ThinkingBlock,
    ToolPayload,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
    UnknownPayload,
    UsagePayload,
    encode,
)
from stenograph.model.value import Extra


def examples(number: int) -> settings:
    """Settings for a property that needs another number of examples than usual; more of them under `make fuzz`."""
    return settings(PATIENT, max_examples=max(1, number * settings.default.max_examples // 100))


PATIENT = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
"""For any property test: a busy machine is no reason to fail."""
BRIEF = settings(PATIENT, max_examples=PATIENT.max_examples // 3)
"""For those that build whole runs, which takes its time."""

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
HOSTILE = [
    "\x00",
    "\x7f",
    "\x7f\x7f",
    "\u2028",
    "\u2029",
    "\x85",
    "\r\n",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202egnp.exe",
    "\u2066\u2069\u200f\u061c",
    "\ufeff",
    "\ufffd",
    "extra",
    "payload",
    '"}\n{"',
    "👩‍👩‍👧 漢字 ÿ",
]
SURROGATES = ["\ud800", "\udfff", "a\udc80b", "\ud83d", "\ude00\ud83d"]
"""Lone ones: no UTF-8 can hold them."""

_samples = st.sampled_from(["", "a", "Read", "review main.go\nthen fix it", *HOSTILE])
texts = _samples | _samples | st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
wild_texts = texts | st.sampled_from(SURROGATES) | st.builds(str.__add__, texts, st.sampled_from(SURROGATES))


def nested(depth: int, leaf: Any = 0) -> Any:
    """A list in an object in a list in an object …"""
    value = leaf
    for level in range(depth):
        value = [value] if level % 2 else {"deep": value}
    return value


def _trees(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2),
        max_leaves=4,
    )


SAMPLE_JSON = [
    None,
    True,
    0,
    -1,
    10**30,
    -0.0,
    1.5e300,
    5e-324,
    "",
    [],
    {},
    {"path": "main.go"},
    {"command": "\x1b[2J\u202e"},
    {"\x7f": "\x7f", "extra": {"extra": None}, "type": "text"},
    [None, [{}], {"a": [1.5, "\x00\u2028"]}],
    nested(40),
]
_sample_json = st.sampled_from(SAMPLE_JSON)
_scalars = st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
json_values = _sample_json | _trees(_scalars | texts, texts)
"""Any JSON that UTF-8 can hold."""
wild_json_values = _trees(_sample_json | _scalars | wild_texts, wild_texts)
"""The same, with lone surrogates among the strings and the keys."""

fidelities = st.sampled_from(["router", "agent_emitted"])
tokens = st.integers(0, 10**12)
call_ids = st.sampled_from(["c-1", "c-2", "c-3", "", "\x1b"])
timestamps = st.sampled_from(
    [
        "2026-06-08T08:14:42.123456Z",
        "2026-06-08T10:14:41+02:00",
        "2026-06-08",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "yesterday",
        "",
        "\x1b[2J",
    ]
) | st.datetimes().map(lambda time: f"{time.isoformat(timespec='microseconds')}Z")
"""Readable by Python or not."""


def _optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


class Whole:
    """Strategies for whole values, made of some texts and JSON, with or without unknown fields beside the known."""

    def __init__(self, texts: st.SearchStrategy[str], values: st.SearchStrategy[Any], *, extras: bool) -> None:
        self._texts = texts
        self._json = values
        self._has_extras = extras
        maybe = _optional(texts)
        errors = _optional(texts.filter(bool))
        self.known_blocks: dict[str, st.SearchStrategy[Any]] = {
            "text": self._of(TextBlock, fidelity=fidelities, text=texts),
            "thinking": self._of(ThinkingBlock, fidelity=fidelities, thinking=texts),
            "tool_use": self._of(
                ToolUseBlock, fidelity=fidelities, tool_name=texts, tool_id=call_ids, tool_input=values
            ),
            "tool_result": self._of(ToolResultBlock, fidelity=fidelities, tool_id=call_ids, tool_content=values),
            "command": self._of(CommandBlock, fidelity=fidelities, command=texts),
            "stream": self._of(StreamBlock, fidelity=fidelities, text=texts),
            "attachment": self._of(
                AttachmentBlock, fidelity=fidelities, media_type=texts, size=tokens, sha256=texts, data=maybe
            ),
        }
        self.unknown_blocks = st.builds(
            lambda tag, rest: UnknownBlock(extra=Extra({"type": tag, **rest} if tag else rest) or None),
            (texts | st.integers()).filter(lambda tag: tag not in self.known_blocks and tag != "unknown"),
            st.dictionaries(texts.filter(lambda key: key != "type"), values, max_size=2),
        )
        """Blocks of a type from the future, of a type that is no string, or of none at all."""
        blocks = st.one_of(*self.known_blocks.values(), self.unknown_blocks)
        self.block_tuples = st.lists(blocks, max_size=3).map(tuple)
        tools = self._of(
            ToolPayload,
            name=texts,
            call_id=call_ids,
            input=values,
            output=values,
            error=errors,
            fidelity=fidelities,
            duration_ms=_optional(st.floats(0, 1e9)),
            blocks=_optional(self.block_tuples),
        )
        lifecycle = self._of(LifecyclePayload, name=texts, kind=texts, error=errors, result=values)
        self.payloads: dict[str, st.SearchStrategy[Any]] = {
            **dict.fromkeys(EVENT_TYPES[:6], lifecycle),
            "message.user": self._messages("user"),
            "message.assistant": self._messages("assistant"),
            "tool.call": tools,
            "tool.result": tools,
            "system.event": self._of(SystemPayload, subtype=texts, text=maybe, data=values),
            "token.usage": self._of(
                UsagePayload,
                scope=st.sampled_from(["call", "turn", "total"]),
                input_tokens=tokens,
                output_tokens=tokens,
                cache_read_input_tokens=_optional(tokens),
                cache_creation_input_tokens=_optional(tokens),
                reasoning_output_tokens=_optional(tokens),
                model=maybe,
                message_id=maybe,
            ),
            "error": self._of(ErrorPayload, message=texts, code=maybe, retryable=_optional(st.booleans()), data=values),
            "unknown": self._of(UnknownPayload, value=st.just(UNSET) | values, text=maybe),
        }
        """One per event type, for the payload it carries."""
        any_origins = self._of(
            Origin,
            adapter=st.sampled_from([None, "claude_agent_sdk", "claude_code", "codex_app_server", "gemini_cli"]),
            source=st.sampled_from([None, "main", "subagent:a1", "sub\x1bagent"]),
            session_id=st.sampled_from([None, "s-1", "s-2"]),
            prompt_name=maybe,
            file=st.sampled_from([None, "a.jsonl", "sub/b.jsonl"]),
            line=st.sampled_from([None, 1, 1, 2, 3]),
            parent_source=st.sampled_from([None, "main"]),
            parent_call_id=_optional(call_ids),
            time=st.sampled_from([None, "inherited", "given"]),
        )
        self.origins = any_origins if extras else st.sampled_from(ORIGINS)

    def _of(self, kind: type[Any], /, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.builds(kind, extra=self.extras(kind), **given)

    def extras(self, kind: type[Any]) -> st.SearchStrategy[Extra | None]:
        """Fields that a newer writer put beside the known ones."""
        if not self._has_extras:
            return st.none()
        known = {field.name for field in fields(kind)} - {"extra"} | {"type"}
        keys = self._texts.filter(lambda key: key not in known)
        some = st.dictionaries(keys, self._json, min_size=1, max_size=2).map(Extra)
        return st.integers(0, 4).flatmap(lambda chance: some if chance == 4 else st.none())

    def _messages(self, role: str) -> st.SearchStrategy[Any]:
        maybe = _optional(self._texts)
        return self._of(
            MessagePayload,
            role=st.just(role),
            blocks=self.block_tuples,
            system_prompt=maybe,
            model=maybe,
            message_id=maybe,
            stop_reason=maybe,
        )

    def _event(self, draw: st.DrawFn, types: tuple[str, ...], future: bool) -> Event:
        name = draw(st.sampled_from([*types, *FUTURE_TYPES] if future else types))
        if name not in self.payloads:
            payload = draw(self._json)
        elif draw(st.integers(0, 9)) == 9:  # as broken writers write them
            payload = draw(st.sampled_from([None, [], [{"a": 1}], "text", 5, False]))
        else:
            payload = draw(self.payloads[name])
        return Event(
            extra=draw(self.extras(Event)),
            type=name,
            timestamp=draw(timestamps),
            origin=draw(_optional(self.origins)),
            payload=payload,
            **draw(st.sampled_from(PLACES)),
            **draw(st.sampled_from(RAWS)),
        )

    def events(self, types: tuple[str, ...] = EVENT_TYPES, *, future: bool = True) -> st.SearchStrategy[Event]:
        """Whole events; now and then a known type has a payload of another shape."""
        return st.composite(lambda draw: self._event(draw, types, future))()


FUTURE_TYPES = ["memory.saved", "", "\x1b[31m", "step.paused"]
ORIGINS = [
    Origin(adapter=adapter, source=source, session_id=session_id, line=line, prompt_name=prompt_name)
    for (adapter, session_id, prompt_name), source, line in itertools.product(
        [
            (None, None, None),
            ("claude_code", "s-1", "\x1b"),
            ("codex_app_server", "s-2", None),
            ("gemini_cli", None, ""),
        ],
        [None, "subagent:a1", "sub\x1bagent"],
        [None, 1, 2],
    )
]
PLACES: list[dict[str, Any]] = [
    {"seq": seq, "run_id": run_id, "path": path, "iteration": iteration, **lineage}
    for (seq, run_id), (path, iteration), lineage in itertools.product(
        [(1, RUN_ID), (0, ""), (10**20, "\x1b]0;x\x07")],
        [("", 0), ("review", 0), ("review.fix", 2), ("a.b.c", 1), ("\x1b", 0), ("...", 10**20)],
        [{}, {"parent_run_id": "p\u202e"}, {"child_run_id": RUN_ID}, {"child_run_id": "\x9b", "parent_run_id": "p"}],
    )
]
RAWS = [
    *[{}] * 4,
    {"raw": '{"type":"assistant","params":{"a":[1]}}'},
    {"raw": '{"type":"\\ud800"}'},
    {"raw": "Segmentation fault"},
    {"raw": ""},
    {"raw": "\ufeff[]"},
    {"raw_b64": "/w=="},
]
_whole = Whole(texts, json_values, extras=True)
_slim = Whole(_samples, _sample_json, extras=False)
PAYLOADS = _whole.payloads
PLAIN_PAYLOADS = _slim.payloads
"""The same without unknown fields: what a caller may record."""
events = _whole.events
"""Whole events of the given types (all fourteen) and of types from the future."""


def runs(max_size: int = 6) -> st.SearchStrategy[list[Event]]:
    """The events of one run, in any order that may come."""
    return st.lists(_slim.events().map(lambda event: replace(event, run_id=RUN_ID)), max_size=max_size)


def _dumped(value: Any, ascii: bool) -> bytes:
    return json.dumps(value, ensure_ascii=ascii).encode("utf-8", "surrogatepass")


_fields = (
    st.sampled_from([*(field.name for field in fields(Event)), "\x7f"])
    | st.sampled_from(["role", "blocks", "fidelity", "text", "name", "input", "error", "scope"])
    | wild_texts
)
_field_values = (
    wild_json_values
    | st.sampled_from([*EVENT_TYPES, "router", float("nan"), float("inf"), 10**40, "", 1.0, 1e22])
    | st.lists(st.dictionaries(_fields | st.just("type"), wild_json_values, max_size=3), max_size=2)
    | st.dictionaries(_fields, wild_json_values, max_size=4)
)
near_events = st.builds(
    lambda event, changes, gone: {k: v for k, v in {**json.loads(encode(event)), **changes}.items() if k not in gone},
    _slim.events(),
    st.dictionaries(_fields, _field_values, max_size=3),
    st.sets(_fields, max_size=2),
)
"""JSON objects that are almost events: fields missing, of another type, unknown; lone surrogates; NaN."""

json_lines = st.builds(_dumped, near_events | _field_values, st.booleans())
"""Lines of JSON as careless writers write it: any value, NaN, escaped or raw lone surrogates."""


@st.composite
def mutated_lines(draw: st.DrawFn) -> bytes:
    """A line that was once good, with some bytes changed, cut out or doubled."""
    line = bytearray(draw(events().map(encode) | json_lines))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(line)))
        end = min(len(line), start + draw(st.integers(0, 8)))
        line[start:end] = draw(st.binary(max_size=4) | st.just(bytes(line[start:end] * 2)))
    return bytes(line)


any_lines = st.binary(max_size=200) | json_lines | mutated_lines() | events().map(encode)
"""Whatever bytes may stand on a line of a journal."""
