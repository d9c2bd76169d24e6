"""Which databases and rows are Kilo's: OpenCode's, with tables that only Kilo has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE
from stenograph.formats.opencode.detection import fork_of, is_rows


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of OpenCode's tables with one of Kilo's own, or of rows that were read from such a database."""
    return SURE if is_rows(records) and fork_of(records) == "kilo" else 0
