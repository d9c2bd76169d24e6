"""A session of Kilo as events."""

from __future__ import annotations

from stenograph.formats.opencode.format import OpenCodeFormat


class KiloFormat(OpenCodeFormat):
    """The rows of one session, or of a whole database."""

    name = "kilo"
