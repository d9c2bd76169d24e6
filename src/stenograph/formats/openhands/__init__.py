"""openhands: the conversations that OpenHands keeps since version 1, a file for each event."""

from stenograph.formats.openhands.spec import SPEC

__all__ = ["SPEC"]
