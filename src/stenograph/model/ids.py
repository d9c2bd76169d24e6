"""Identities: what a run id may be, and ids derived from facts instead of chance."""

from __future__ import annotations

import re
from uuid import UUID, uuid5

from stenograph.errors import InvalidRunId

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)
_ENTRY_NAMESPACE = UUID("6d1f3a52-5f43-5a0e-9d5c-0f8b8a6d9c11")


def check_run_id(value: object) -> str:
    """The run id in its canonical form; anything but a UUID is refused, so no path can hide in one."""
    text = str(value).lower() if isinstance(value, str | UUID) else ""
    if not _UUID.fullmatch(text):
        raise InvalidRunId(value)
    return text


def entry_id(scope: str, source: str, number: int) -> UUID:
    """The id of an entry, the same wherever the entry is read."""
    # Garbage ids may hold lone surrogates, which have no UTF-8.
    name = f"{scope}\n{source}\n{number}".encode("utf-8", "backslashreplace").decode()
    return uuid5(_ENTRY_NAMESPACE, name)
