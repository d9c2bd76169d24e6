"""Which files hold LangChain's messages, and what identifies their run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.langchain.message import fields_of, messages_in, model_of
from stenograph.formats.shared.loose import a_dict, a_str


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of messages in one of LangChain's spellings, and of a state that holds some."""
    first = records[0]
    if isinstance(first, list) and first:
        first = first[0]
    return SURE if fields_of(first)[0] or messages_in(first) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The thread, where a state names one, and the first model."""
    first = records[0] if records else {}
    messages = first if isinstance(first, list) else messages_in(first) or list(records)
    models = (model_of(fields_of(each)[1]) for each in messages)
    thread = a_str(a_dict(a_dict(a_dict(first).get("config")).get("configurable")).get("thread_id"))
    return Identity(native_id=thread, session_id=thread or None, model=next(filter(None, models), None))
