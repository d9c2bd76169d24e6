"""opencode: the sessions in OpenCode's database, row by row."""

from stenograph.formats.opencode.detection import SPEC
from stenograph.formats.opencode.format import OpenCodeFormat

__all__ = ["SPEC", "OpenCodeFormat"]
