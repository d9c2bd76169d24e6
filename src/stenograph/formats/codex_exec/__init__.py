"""codex_exec: what `codex exec --json` prints."""

from stenograph.formats.codex_exec.format import SPEC

__all__ = ["SPEC"]
