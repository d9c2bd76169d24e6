"""Messages that are neither words nor tool calls, as small system events."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_str, small
from stenograph.model.payload import ErrorPayload, SystemPayload

_FAMILIES = {
    "account", "accountSession", "app", "applyPatchApproval", "attestation", "autoApprovalReview", "collaborationMode",
    "command", "config", "configRequirements", "configWarning", "currentTime", "deprecationNotice", "environment",
    "execCommandApproval", "experimentalFeature", "externalAgentConfig", "feedback", "fs", "fuzzyFileSearch",
    "getAuthStatus", "getConversationSummary", "gitDiffToRemote", "guardianWarning", "hook", "hooks", "initialize",
    "initialized", "marketplace", "mcpServer", "mcpServerStatus", "memory", "mock", "model", "modelProvider",
    "permissionProfile", "plugin", "process", "project", "rawResponse", "rawResponseItem", "remoteControl", "review",
    "rollout", "server", "serverRequest", "skills", "thread", "threadSection", "userVerification", "warning", "windows",
    "windowsSandbox",
}  # fmt: skip
"""The first parts of the methods in the protocol of 0.166, except `item` and `turn`."""

_TEXTS = ("message", "summary", "threadName", "name", "command", "reason", "objective", "userAgent")
_FACTS = ("itemId", "requestId", "turnId", "status", "cwd", "cliVersion", "model", "modelProvider", "delivery")


def is_known(method: str) -> bool:
    """Whether the method belongs to a family that the protocol has."""
    return method.partition("/")[0] in _FAMILIES


def notice(subtype: str, params: dict[str, Any]) -> SystemPayload:
    """A request or notification by its method, with the words and facts that a reader may want."""
    said = next((params[key] for key in _TEXTS if key in params and a_str(params[key])), None)
    thread = params.get("thread")
    data = _facts(params | thread if isinstance(thread, dict) else params, _FACTS)
    if isinstance(questions := params.get("questions"), list):
        said = "\n".join(a_str(part.get("question")) for part in questions if isinstance(part, dict)) or None
    if isinstance(target := params.get("target"), dict):  # of a review
        said = a_str(target.get("instructions")) or a_str(target.get("type")) or said
    if isinstance(raw := params.get("item"), dict):  # of rawResponseItem
        data = _facts(raw, ("type", "role", "id", "call_id", "encrypted_content"))
    return SystemPayload(subtype=subtype, text=said, data=data)


def answer(subtype: str, result: Any) -> SystemPayload:
    """A response by the method it answers."""
    if not isinstance(result, dict):
        return SystemPayload(subtype=subtype, data=_plain(result))
    decision, answers = result.get("decision"), result.get("answers")
    if decision is not None or answers is not None:
        return SystemPayload(
            subtype=subtype,
            text=decision if isinstance(decision, str) else None,
            data=small((("decision", None if isinstance(decision, str) else decision), ("answers", answers))),
        )
    return notice(subtype, result)


def _facts(source: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any] | None:
    return {key: fact for key in keys if key in source and (fact := _plain(source[key])) is not None} or None


def _plain(value: Any) -> Any:
    """A fact that is short enough to repeat beside the raw line."""
    if isinstance(value, dict):
        value = value.get("type")
    return value if isinstance(value, str | int) else None


def error_of(error: Any, retryable: bool | None = None, **more: Any) -> ErrorPayload:
    """An error as turns, notifications and responses carry it."""
    if not isinstance(error, dict):
        return ErrorPayload(message=a_str(error) or "failed", retryable=retryable, data=small(more.items()))
    info, code = error.get("codexErrorInfo"), error.get("code")
    name = next(iter(info), None) if isinstance(info, dict) else info
    if name is None and isinstance(code, int | str):
        name = str(code)
    details = (
        ("codexErrorInfo", info if isinstance(info, dict) else None),
        ("additionalDetails", error.get("additionalDetails")),
        *more.items(),
    )
    return ErrorPayload(
        message=a_str(error.get("message")) or "failed",
        code=name if isinstance(name, str) else None,
        retryable=retryable,
        data=small(details),
    )
