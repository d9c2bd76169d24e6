"""opencode_stream: what `opencode run --format json` prints."""

from stenograph.formats.opencode_stream.format import SPEC

__all__ = ["SPEC"]
