"""kimi_cli_stream: what kimi-cli prints (`kimi --print --output-format stream-json`)."""

from stenograph.formats.kimi_cli_stream.spec import SPEC

__all__ = ["SPEC"]
