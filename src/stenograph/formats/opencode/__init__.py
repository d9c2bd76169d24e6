"""opencode: the sessions in OpenCode's database, row by row."""

from stenograph.formats.opencode.spec import SPEC

__all__ = ["SPEC"]
