"""codex_app_server: the JSON lines that `codex app-server` and its client exchange over stdio."""

from stenograph.formats.codex_app_server.spec import SPEC

__all__ = ["SPEC"]
