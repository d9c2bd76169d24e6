"""cursor: the transcripts that Cursor's agent keeps, with those of its subagents."""

from stenograph.formats.cursor.spec import SPEC

__all__ = ["SPEC"]
