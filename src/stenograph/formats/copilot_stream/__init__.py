"""copilot_stream: what `copilot -p … --output-format json` prints."""

from stenograph.formats.copilot_stream.spec import SPEC

__all__ = ["SPEC"]
