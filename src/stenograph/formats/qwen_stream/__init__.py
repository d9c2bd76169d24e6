"""qwen_stream: what `qwen -p … --output-format stream-json` prints."""

from stenograph.formats.qwen_stream.spec import SPEC

__all__ = ["SPEC"]
