"""Which files are sessions of Kimi Code, and what they say about their run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.kimi_code.vocabulary import KNOWN_TYPES, LOOP_EVENT
from stenograph.formats.shared.loose import a_dict, a_str, first_str

_PLACE = re.compile(r"(?:\A|/)(session_([0-9A-Za-z-]+))/agents/([^/]+)/wire\.jsonl\Z")
_MAIN = "main"


def detect(records: Sequence[Any], path: str) -> int:
    """Sure by the first record, if most of the others are ones that only this program writes."""
    first, *others = records
    begins = _is_header(a_dict(first)) or (a_dict(first).get("type") == LOOP_EVENT and _is_record(first))
    return SURE if begins and sum(map(_is_record, others)) * 2 >= len(others) else 0


def _is_header(record: dict[str, Any]) -> bool:
    """Whether a record begins a file: versions before 2 have no time in it."""
    return record.get("type") == "metadata" and {"protocol_version", "created_at"} <= record.keys()


def _is_record(record: Any) -> bool:
    return a_str(a_dict(record).get("type")) in KNOWN_TYPES and "time" in record


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session and its agent by the file's place; the folder and the model from the records."""
    place = _PLACE.search(path.replace("\\", "/"))
    agent = place[3] if place else _agent(records)
    profile = next((a_dict(each) for each in records if a_dict(each).get("type") == "profile.bind"), {})
    request = next((a_dict(each) for each in records if a_dict(each).get("type") == "llm.request"), {})
    return Identity(
        native_id=place[2] if place else "",
        session_id=place[1] if place else None,
        source=_MAIN if agent == _MAIN else f"subagent:{agent}",
        cwd=first_str(a_dict(profile.get("environmentDisclosure")), "cwd"),
        model=first_str(request, "model"),
    )


def _agent(records: Sequence[Any]) -> str:
    """The agent that wrote the file, by its records."""
    return next((name for each in records if (name := first_str(a_dict(each), "agentId"))), _MAIN)
