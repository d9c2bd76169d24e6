"""Texts as numbers, the same in every process, so that a parser's memory of them can be stored on disk."""

from __future__ import annotations

from hashlib import blake2b


def digest_of(kind: str, text: str | bytes) -> int:
    """A text of some kind as 64 bits."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return int.from_bytes(blake2b(data, digest_size=8, person=kind.encode()).digest())
