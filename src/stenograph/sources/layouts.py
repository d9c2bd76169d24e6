"""The layout of every agent we know, by the name of its format on disk."""

from __future__ import annotations

from stenograph.sources.claude import ClaudeLayout
from stenograph.sources.codex import CodexLayout
from stenograph.sources.copilot import CopilotLayout
from stenograph.sources.gemini import GeminiLayout
from stenograph.sources.layout import Layout
from stenograph.sources.opencode import OpenCodeLayout
from stenograph.sources.otlp import OtlpLayout

LAYOUTS: dict[str, Layout] = {
    "claude_code": ClaudeLayout(),
    "codex_rollout": CodexLayout(),
    "copilot_cli": CopilotLayout(),
    "gemini_cli": GeminiLayout(),
    "opencode": OpenCodeLayout(),
    "otlp": OtlpLayout(),
}
_ALONE = Layout()


def layout_of(format_name: str) -> Layout:
    """The layout of files in a format; that of files which stand alone where nothing else is known."""
    return LAYOUTS.get(format_name, _ALONE)
