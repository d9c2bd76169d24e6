"""The settings of the Codex adapter, and the decisions that approvals may give."""

from __future__ import annotations

from typing import Any

import pytest

from stenograph.adapters.codex_app_server import ApprovalRequest, CodexAppServerClientConfig
from stenograph.adapters.codex_app_server.approval import result_of
from stenograph.errors import AgentError


def test_the_defaults_are_the_promised_ones() -> None:
    """Logs are on, the session is opt-in, and nobody gets leave by default."""
    config = CodexAppServerClientConfig()
    assert (config.codex_bin, config.transcript_emission, config.transcript_emit_raw) == ("codex", True, True)
    assert (config.capture_transcript, config.approvals) == (False, "decline")
    with pytest.raises(AttributeError):
        config.model = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"approvals": "yes"}, "approvals is 'yes'; it must be 'accept', 'decline' or a function"),
        ({"turn_timeout": 0}, "turn_timeout is 0"),
        ({"startup_timeout": -1}, "startup_timeout is -1"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_at_once(wrong: dict[str, Any], words: str) -> None:
    """In a sentence that names it."""
    with pytest.raises(AgentError, match=words):
        CodexAppServerClientConfig(**wrong)


@pytest.mark.parametrize("decision", ["maybe", "", None, 1.5, [], "approved"])
def test_what_is_no_decision_is_refused(decision: Any) -> None:
    """So that it declines, instead of confusing the server."""
    request = ApprovalRequest(method="item/commandExecution/requestApproval", params={})
    with pytest.raises(ValueError, match="is not a decision"):
        result_of(request, decision)


@pytest.mark.parametrize(
    ("decision", "word"), [(True, "accept"), (False, "decline"), ("cancel", "cancel"), ("acceptForSession",) * 2]
)
def test_decisions_are_words_of_the_protocol(decision: Any, word: str) -> None:
    """Yes and no may stand for them."""
    request = ApprovalRequest(method="item/fileChange/requestApproval", params={})
    assert result_of(request, decision) == {"decision": word}


def test_leave_for_the_session_is_a_scope() -> None:
    """Where permissions are asked for, they are granted as asked."""
    request = ApprovalRequest(method="item/permissions/requestApproval", params={"permissions": {"network": {}}})
    assert result_of(request, "acceptForSession") == {"permissions": {"network": {}}, "scope": "session"}
    assert result_of(ApprovalRequest(method="mcpServer/elicitation/request", params={}), "cancel")["action"] == "cancel"
