"""Which files are rollouts, and which thread each holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity, run_id_of
from stenograph.formats.codex_rollout.record import PAYLOADS, Meta, convert
from stenograph.formats.shared.loose import a_dict, first_in_records, string

_FILE_NAME = re.compile(
    r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(?P<thread>[0-9a-f]{8}-[0-9a-f-]{27})(?:_[0-9a-f-]+)?[^/\\]*$"
)


def _meta_of(head: Sequence[Any]) -> Any:
    for value in head:
        record = convert(value)
        if isinstance(record.payload, Meta):
            return record.payload
    return None


def detect(head: Sequence[Any], path: str) -> int:
    """Sure of a rollout's first line; in its oldest shape, and after an unknown line, only with the file's name."""
    is_named = _FILE_NAME.search(path) is not None
    return SURE if _is_line(head[0]) or (is_named and any(_is_line(each) or _is_old(each) for each in head)) else 0


def _is_line(record: Any) -> bool:
    fields = a_dict(record)
    return (
        isinstance(fields.get("type"), str) and fields["type"] in PAYLOADS and isinstance(fields.get("payload"), dict)
    )


def _is_old(record: Any) -> bool:
    return isinstance(record, dict) and "type" not in record and "instructions" in record


def identify(head: Sequence[Any], path: str) -> Identity:
    """The thread, by its first record or the name of its file."""
    meta = _meta_of(head)
    name = _FILE_NAME.search(path)
    native_id = (string(meta.id) if meta else None) or (name["thread"] if name else "")
    if meta is None:
        return Identity(native_id=native_id, session_id=native_id or None, model=_model_in(head))
    return Identity(
        native_id=native_id,
        session_id=native_id or None,
        parent_native_id=parent_of(meta.parent_thread_id, meta.source),
        cwd=string(meta.cwd),
        branch=string(a_dict(meta.git).get("branch")),
        agent_version=string(meta.cli_version),
        model=_model_in(head),
    )


def _model_in(head: Sequence[Any]) -> str | None:
    """The model of the first turn."""
    turns = (a_dict(value).get("payload") for value in head if a_dict(value).get("type") == "turn_context")
    return first_in_records(turns, "model")


def parent_of(parent_thread_id: Any, source: Any) -> str | None:
    """The thread that spawned this one."""
    if isinstance(parent_thread_id, str) and parent_thread_id:
        return parent_thread_id
    for key in ("subagent", "thread_spawn", "parent_thread_id"):
        source = source.get(key) if isinstance(source, dict) else None
    return string(source)


def run_of(thread_id: Any) -> str | None:
    """The run id of a thread; None for a value that cannot be an id."""
    try:
        return run_id_of("codex_rollout", thread_id) if string(thread_id) else None
    except UnicodeEncodeError:  # a lone surrogate
        return None
