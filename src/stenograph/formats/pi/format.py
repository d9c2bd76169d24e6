"""A session of pi as events."""

from __future__ import annotations

from stenograph.formats.shared.pi_entries.format import PiEntryFormat


class PiFormat(PiEntryFormat):
    """One session file."""

    name = "pi"
