"""copilot_stream: what `copilot -p … --output-format json` prints."""

from stenograph.formats.copilot_stream.format import SPEC

__all__ = ["SPEC"]
