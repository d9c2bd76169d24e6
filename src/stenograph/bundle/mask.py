"""Masking what goes into a bundle beside events: records, documents and text."""

from __future__ import annotations

from stenograph.redact import mask_text
from stenograph.redact.hint import may_hold_secret


def masked_text(data: bytes) -> bytes:
    """A text, or one JSON document, with its secrets masked."""
    text = data.decode("utf-8", "surrogateescape")
    if not may_hold_secret(text):
        return data
    return mask_text(text).encode("utf-8", "surrogateescape")
