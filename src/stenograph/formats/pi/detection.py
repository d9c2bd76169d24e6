"""Which files are sessions of pi or one of its forks, and of which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import LIKELY, SURE, Identity
from stenograph.formats.pi.layout import FORKS
from stenograph.formats.shared.loose import a_dict, a_str
from stenograph.formats.shared.pi_entries.detection import header_of, identity_of

_NEWEST = 3
"""The version of the entries that pi writes."""


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of a header and entries; less sure of a newer version, which another program may have written."""
    header = header_of(records)
    if not header:
        return 0
    version = header.get("version", 1)
    return SURE if version.__class__ is int and version <= _NEWEST else LIKELY


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session, and which fork wrote it, by its place or by fields that only that fork writes."""
    names = re.split(r"[/\\]", path)
    fork = next((FORKS[name] for name in names if name in FORKS), None)
    return identity_of(records, path, fork or ("openclaw" if any(map(_is_openclaws, records)) else None))


def _is_openclaws(record: Any) -> bool:
    record = a_dict(record)
    return "__openclaw" in a_dict(record.get("message")) or a_str(record.get("customType")).startswith("openclaw")
