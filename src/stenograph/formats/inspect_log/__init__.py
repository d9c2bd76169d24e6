"""inspect_log: logs of Inspect AI (`.json`, `.eval`), one run for each sample."""

from stenograph.formats.inspect_log.spec import SPEC

__all__ = ["SPEC"]
