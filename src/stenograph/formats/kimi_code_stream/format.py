"""What Kimi Code prints, as events."""

from __future__ import annotations

from stenograph.formats.shared.printed_chat import PrintedChat


class KimiCodeStreamFormat(PrintedChat):
    """One run that was printed."""

    name = "kimi_code_stream"
