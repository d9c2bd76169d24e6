"""Trajectories of OpenHands before 1.0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stenograph.model import MessagePayload
from stenograph.sources.conversion import convert


@pytest.mark.parametrize("more", [{"args": {"content": "It is done."}}, {"message": "It is done."}])
def test_what_an_agent_says_without_an_answer_of_the_model(tmp_path: Path, more: dict[str, Any]) -> None:
    """A message of the agent is an answer, by its content or by the record's own words."""
    at = {"timestamp": "2025-01-21T10:00:00", "cause": None}
    asked = {"id": 0, "source": "user", "action": "message", "args": {"content": "Do it."}, **at}
    said = {"id": 1, "source": "agent", "action": "message", "args": {}, **at, **more}
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps([asked, said]))
    messages = [event.payload for event in convert(path) if isinstance(event.payload, MessagePayload)]
    assert [(each.role, each.blocks[0].text) for each in messages] == [("user", "Do it."), ("assistant", "It is done.")]  # type: ignore[union-attr]
