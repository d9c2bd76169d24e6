"""Which files are traces of MLflow, and what their heads say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.layout import Contents, StoredSession
from stenograph.formats.shared.collection import run_in
from stenograph.formats.shared.loose import a_dict, a_str, dicts, first_str


def is_trace(record: Any) -> bool:
    """Whether a record is a trace: its info and its spans."""
    trace = a_dict(record)
    info, spans = a_dict(trace.get("info")), a_dict(trace.get("data")).get("spans")
    return isinstance(spans, list) and ("trace_id" in info or "request_id" in info)


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of a trace."""
    return SURE if is_trace(records[0]) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The run is the first trace."""
    return trace_identity(a_dict(records[0])) if records else Identity()


def trace_identity(trace: dict[str, Any]) -> Identity:
    """A trace by its own id."""
    info = a_dict(trace.get("info"))
    attributes = (a_dict(span.get("attributes")) for span in dicts(a_dict(trace.get("data")).get("spans")))
    models = (a_str(each.get("mlflow.llm.model")).strip('"') for each in attributes)
    return Identity(
        native_id=first_str(info, "trace_id", "request_id") or "", model=next((each for each in models if each), None)
    )


def traces_in(contents: Contents) -> list[StoredSession]:
    """Every trace of a file: a list of them, one on each line, or one."""
    value = contents.read(contents.names[0])
    return [run_in(trace_identity(each), each) for each in dicts(value if isinstance(value, list) else [value])]
