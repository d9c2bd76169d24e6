"""Which files are trajectories, and what their heads say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str


def is_trajectory(record: Any) -> bool:
    """Whether a record says that it is a trajectory."""
    return isinstance(record, dict) and a_str(record.get("schema_version")).startswith("ATIF-v")


def detect(records: Sequence[Any], path: str) -> int:
    """Sure when the file says that it is ATIF."""
    return SURE if is_trajectory(records[0]) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The run by what our export wrote, else by the session or the trajectory."""
    trajectory = a_dict(records[0]) if records else {}
    agent = a_dict(trajectory.get("agent"))
    extra = a_dict(agent.get("extra"))
    ours = a_dict(a_dict(trajectory.get("extra")).get("stenograph"))
    session_id = first_str(trajectory, "session_id")
    models = (a_str(step.get("model_name")) for step in dicts(trajectory.get("steps")))
    return Identity(
        native_id=first_str(ours, "run_id") or session_id or a_str(trajectory.get("trajectory_id")),
        session_id=session_id,
        cwd=next((each for each in a_list(extra.get("cwds")) if isinstance(each, str)), None),
        branch=next((each for each in a_list(extra.get("git_branches")) if isinstance(each, str)), None),
        agent_version=first_str(agent, "version"),
        model=first_str(agent, "model_name") or next(filter(None, models), None),
    )
