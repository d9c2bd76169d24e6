"""Which files are trajectories of mini-swe-agent, and what they say about their run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.mini_swe_agent.rows import is_trajectory, response_of
from stenograph.formats.shared.digest import digest_of
from stenograph.formats.shared.loose import a_dict, dicts, first_str
from stenograph.formats.shared.model_api.parts import plain_text

_PROMPTS = 2
"""The system prompt and the task: a run is saved with both."""


def detect(records: Sequence[Any], path: str) -> int:
    """Sure by the name of the format that a trajectory has in it."""
    return SURE if len(records) == 1 and is_trajectory(records[0]) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The run by its prompts and its first model call, because the program overwrites the file with the next run.

    The program saves a run for the first time after its first step, so that call does not come later.
    """
    run = a_dict(records[0]) if records and is_trajectory(records[0]) else {}
    if not run:
        return Identity()
    info, rows = a_dict(run.get("info")), dicts(run.get("messages"))
    config = a_dict(info.get("config"))
    return Identity(
        native_id=_native_id(rows),
        cwd=first_str(a_dict(config.get("environment")), "cwd"),
        agent_version=first_str(info, "mini_version"),
        model=first_str(a_dict(config.get("model")), "model_name"),
    )


def _native_id(rows: list[dict[str, Any]]) -> str:
    prompts = [plain_text(row.get("content")) for row in rows[:_PROMPTS]]
    answers = (first_str(response_of(row), "id") for row in rows[_PROMPTS:])
    first = next((name for name in answers if name), "")
    return f"{digest_of('mini', repr([*prompts, first])):016x}"
