"""Which files are trajectories of SWE-agent, and what they say about their run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import LIKELY, SURE, Identity
from stenograph.formats.shared.loose import a_dict, dicts, first_str


def is_trajectory(record: Any) -> bool:
    """Whether a record is a trajectory: steps with actions and observations, or a history of SWE-agent's messages."""
    run = a_dict(record)
    steps, history = dicts(run.get("trajectory")), dicts(run.get("history"))
    if steps and all({"action", "observation"} <= step.keys() for step in steps):
        return True
    return bool(history) and all("role" in each and ("agent" in each or "message_type" in each) for each in history)


def detect(records: Sequence[Any], path: str) -> int:
    """Sure by the shape and the name; likely by the shape alone."""
    if not is_trajectory(records[0]):
        return 0
    return SURE if path.endswith(".traj") else LIKELY + 10


def identify(records: Sequence[Any], path: str) -> Identity:
    """The version; a trajectory has no id of its run, so its beginning identifies it."""
    info = a_dict(a_dict(records[0]).get("info")) if records else {}
    return Identity(agent_version=first_str(info, "swe_agent_version"))
