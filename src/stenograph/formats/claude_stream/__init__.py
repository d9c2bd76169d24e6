"""claude_stream: what `claude -p --output-format stream-json` prints, partial messages included."""

from stenograph.formats.claude_stream.spec import SPEC

__all__ = ["SPEC"]
