"""codex_exec: what `codex exec --json` prints."""

from stenograph.formats.codex_exec.spec import SPEC

__all__ = ["SPEC"]
