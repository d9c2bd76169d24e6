"""What a conversation leaves out is counted."""

from __future__ import annotations

import pytest

from stenograph.fold.conversation import account_for_run
from stenograph.fold.exchange import exchange
from stenograph.fold.losses import LossReport
from stenograph.model import Event, UsagePayload


@pytest.mark.parametrize(
    ("scope", "kind"),
    [("call", "usage: of no message"), ("turn", "usage: scope turn"), ("total", "usage: scope total")],
)
def test_tokens_of_no_message_are_counted(scope: str, kind: str) -> None:
    """Those of a call by their own words, others by what they are the sum of; a format that holds them carries them."""
    payload = UsagePayload(scope=scope, input_tokens=1, output_tokens=1)
    event = Event(
        run_id="r", seq=3, path="", iteration=0, type="token.usage", timestamp="2026-01-01T00:00:00Z", payload=payload
    )
    report, other = LossReport("x"), LossReport("x")
    account_for_run(exchange([event]), report)
    assert [(each["what"], each["count"]) for each in report.to_dict()["dropped"]] == [(kind, 1)]
    account_for_run(exchange([event]), other, totals=True)
    assert other.to_dict()["dropped"] == []
