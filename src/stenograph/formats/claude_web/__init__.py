"""claude_web: the conversations that claude.ai exports, one run for each."""

from stenograph.formats.claude_web.spec import SPEC

__all__ = ["SPEC"]
