"""A session of OpenClaw as events."""

from __future__ import annotations

from stenograph.formats.shared.pi_entries.format import PiEntryFormat


class OpenClawFormat(PiEntryFormat):
    """The rows of one session."""

    name = "openclaw"
