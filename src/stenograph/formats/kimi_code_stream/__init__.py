"""kimi_code_stream: what Kimi Code prints (`kimi -p … --output-format stream-json`)."""

from stenograph.formats.kimi_code_stream.spec import SPEC

__all__ = ["SPEC"]
