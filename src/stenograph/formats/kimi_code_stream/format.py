"""What Kimi Code prints, as events."""

from __future__ import annotations

from stenograph.formats.shared.printed_chat import PrintedChat


class KimiCodeStreamFormat(PrintedChat):
    """The printed messages of one run."""

    name = "kimi_code_stream"
