"""claude_code: the session files of Claude Code and the Claude Agent SDK, versions 1.0, 2.0 and 2.1."""

from stenograph.formats.claude_code.spec import SPEC

__all__ = ["SPEC"]
