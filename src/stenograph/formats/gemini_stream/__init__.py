"""gemini_stream: what `gemini --output-format stream-json` prints."""

from stenograph.formats.gemini_stream.spec import SPEC

__all__ = ["SPEC"]
