"""What kimi-cli prints, as events."""

from __future__ import annotations

import re

from stenograph.formats.shared.printed_chat import PrintedChat

_FAILURE = re.compile(r"\A<system>ERROR: (.*?)</system>", re.DOTALL)


class KimiCliStreamFormat(PrintedChat):
    """One run that was printed."""

    name = "kimi_cli_stream"

    def _failure(self, text: str) -> str | None:
        found = _FAILURE.match(text)
        return None if found is None else found[1]
