"""Transcripts of a Scout database as events, by the reader of Inspect's logs."""

from __future__ import annotations

from typing import Any

from stenograph.formats.inspect_log.format import InspectLogFormat
from stenograph.formats.scout.row import is_row, log_of


class ScoutFormat(InspectLogFormat):
    """One transcript per record."""

    name = "scout"

    def _record(self, record: dict[str, Any]) -> None:
        if is_row(record):
            super()._record(log_of(record))
