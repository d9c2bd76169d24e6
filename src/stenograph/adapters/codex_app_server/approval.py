"""The answers to Codex's approval requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stenograph.adapters.codex_app_server.config import ApprovalRequest, Approvals

REQUESTS = {
    "item/commandExecution/requestApproval",
    "item/fileChange/requestApproval",
    "item/permissions/requestApproval",
    "item/tool/requestUserInput",
    "mcpServer/elicitation/request",
}
"""The requests of the server that a person would answer."""

_YES = {"accept", "acceptForSession"}
_WORDS = {True: "accept", False: "decline"} | {word: word for word in ("decline", "cancel", *_YES)}


def decide(approvals: Approvals, request: ApprovalRequest) -> Any:
    """The decision by the settings; an awaitable if their function is async. Raises what that function raises."""
    return approvals(request) if callable(approvals) else approvals


def result_of(request: ApprovalRequest, decision: Any) -> dict[str, Any]:
    """A decision as the result of the request; raises `ValueError` for anything that is not a decision."""
    if isinstance(decision, Mapping):
        return dict(decision)
    if not isinstance(decision, str | bool) or decision not in _WORDS:
        raise ValueError(f"{decision!r} is not a decision; use one of accept, acceptForSession, decline, cancel")
    word = _WORDS[decision]
    match request.method:
        case "item/permissions/requestApproval":
            granted = request.params.get("permissions") if word in _YES else {}
            return {"permissions": granted, "scope": "session" if word == "acceptForSession" else "turn"}
        case "mcpServer/elicitation/request":
            action = "accept" if word in _YES else word
            return {"action": action, "content": {} if word in _YES else None, "_meta": None}
        case "item/tool/requestUserInput":
            return {"answers": {}}
        case _:
            return {"decision": word}
