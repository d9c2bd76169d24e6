"""The hooks and the matcher of the installed Claude SDK; without one, the hooks of every SDK and a matcher of ours."""

from __future__ import annotations

import importlib
import typing
from typing import Any

from msgspec import Struct

HOOKS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStop", "Stop", "PreCompact")
"""The hooks that every SDK has."""


class _Matcher(Struct, kw_only=True):
    """Stands for the SDK's HookMatcher if no SDK is installed."""

    matcher: str | None = None
    hooks: list[Any]
    timeout: float | None = None


def sdk_hooks() -> tuple[list[str], type[Any]]:
    """The hooks that every SDK has, further ones of the installed SDK, and its matcher."""
    try:
        types: Any = importlib.import_module("claude_agent_sdk.types")
    except ImportError:
        return list(HOOKS), _Matcher
    events = typing.get_args(getattr(types, "HookEvent", None))
    known = [name for each in events for name in (typing.get_args(each) or (each,))]
    return list(dict.fromkeys([*HOOKS, *known])), types.HookMatcher
