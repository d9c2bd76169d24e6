"""gemini_stream: what `gemini --output-format stream-json` prints."""

from stenograph.formats.gemini_stream.format import SPEC

__all__ = ["SPEC"]
