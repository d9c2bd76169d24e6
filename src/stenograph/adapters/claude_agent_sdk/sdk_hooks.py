"""The hooks of the Claude SDK that is installed, and its matcher; both also where there is none."""

from __future__ import annotations

import importlib
import typing
from typing import Any

from msgspec import Struct

HOOKS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStop", "Stop", "PreCompact")
"""The hooks that every SDK has; newer ones are asked for by name."""


class _Matcher(Struct, kw_only=True):
    """The SDK's HookMatcher, where there is no SDK."""

    matcher: str | None = None
    hooks: list[Any]
    timeout: float | None = None


def sdk_hooks() -> tuple[list[str], type[Any]]:
    """The hooks that the installed SDK knows, beside those that every one has, and its matcher."""
    try:
        types: Any = importlib.import_module("claude_agent_sdk.types")
    except ImportError:
        return list(HOOKS), _Matcher
    events = typing.get_args(getattr(types, "HookEvent", None))
    known = [name for each in events for name in (typing.get_args(each) or (each,))]
    return list(dict.fromkeys([*HOOKS, *known])), types.HookMatcher
