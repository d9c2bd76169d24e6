"""Identities: what a run id may be, and ids derived from facts instead of chance."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from uuid import UUID

from stenograph.errors import InvalidRunId

if TYPE_CHECKING:
    from _hashlib import HASH

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)
_RANDOM = re.compile(
    r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|(?=[A-Za-z]*[0-9])[0-9A-Za-z]{16,}", re.ASCII
)
_MANY_CHARACTERS = 8
_ENTRY_NAMESPACE = UUID("6d1f3a52-5f43-5a0e-9d5c-0f8b8a6d9c11").bytes
_FREE_BITS = ~(0xF000 << 64 | 0xC000 << 48)
_VERSION_5 = 0x5000 << 64 | 0x8000 << 48


def check_run_id(value: object) -> str:
    """The run id in its canonical form; anything but a UUID is refused, so no path can hide in one."""
    text = str(value).lower() if isinstance(value, str | UUID) else ""
    if not _UUID.fullmatch(text):
        raise InvalidRunId(value)
    return text


def is_unique(id: str) -> bool:
    """Whether an id is unique by itself, judged by its shape: a UUID, or a long stretch of letters and digits.

    Local model servers number their answers (`chatcmpl-17`), and redacted or scripted files repeat words: such an id
    distinguishes the calls of one session and no more. Random ids of 16 characters use many different ones, which
    padded numbers and repeated words do not.
    """
    return any(len(set(found)) >= _MANY_CHARACTERS for found in _RANDOM.findall(id))


def entry_id(run_id: str, source: str, place: str) -> UUID:
    """The id of an entry, the same wherever the entry is read."""
    digest = _series(run_id, source).copy()
    digest.update(place.encode("utf-8", "backslashreplace"))
    return UUID(int=int.from_bytes(digest.digest()[:16], "big") & _FREE_BITS | _VERSION_5)


@lru_cache(maxsize=256)
def _series(run_id: str, source: str) -> HASH:
    from hashlib import sha1  # loads OpenSSL, and not every command needs an id

    # Garbage ids may hold lone surrogates, which have no UTF-8.
    name = f"{run_id}\n{source}\n".encode("utf-8", "backslashreplace")
    return sha1(_ENTRY_NAMESPACE + name, usedforsecurity=False)
