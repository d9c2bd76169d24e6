"""Codex through `codex app-server`: an adapter that runs it, and an emitter for programs that run it themselves."""

from stenograph.adapters.codex_app_server.adapter import CodexAppServerAdapter
from stenograph.adapters.codex_app_server.config import (
    ApprovalRequest,
    Approvals,
    CodexAppServerClientConfig,
    Decision,
)
from stenograph.adapters.codex_app_server.emitter import CodexTranscriptEmitter

__all__ = [
    "ApprovalRequest",
    "Approvals",
    "CodexAppServerAdapter",
    "CodexAppServerClientConfig",
    "CodexTranscriptEmitter",
    "Decision",
]
