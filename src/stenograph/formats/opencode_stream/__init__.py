"""opencode_stream: what `opencode run --format json` prints."""

from stenograph.formats.opencode_stream.spec import SPEC

__all__ = ["SPEC"]
