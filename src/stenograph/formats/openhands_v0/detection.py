"""Which files are trajectories of OpenHands V0, and what they say about their run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import a_dict, dicts, first_str


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of records that are numbered, have a source, and are an action or an observation."""
    first = records[0]
    if isinstance(first, list) and first:
        first = first[0]
    record = a_dict(first)
    is_numbered = isinstance(record.get("id"), int) and record.get("source") in ("user", "agent", "environment")
    is_either = isinstance(record.get("action"), str) or isinstance(record.get("observation"), str)
    return SURE if is_numbered and is_either and "timestamp" in record else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The model; nothing in a trajectory names its run."""
    first = records[0] if records and isinstance(records[0], list) else records
    responses = (a_dict(a_dict(each.get("tool_call_metadata")).get("model_response")) for each in dicts(list(first)))
    return Identity(model=next((model for each in responses if (model := first_str(each, "model"))), None))
