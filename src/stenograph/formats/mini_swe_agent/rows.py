"""The rows of a trajectory: the kind of each, for the three ways to call a model.

A model is called by Chat Completions with tools (the default), by Responses, or without tools: then the action is in
the text, and its output is a user's row. Beside each row, `extra` has what the API does not take.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_dict, a_list, a_str, a_time, dicts

FORMAT = "mini-swe-agent-"
"""How `trajectory_format` begins."""


def is_trajectory(record: Any) -> bool:
    """Whether a record is a trajectory, by the format that it names."""
    run = a_dict(record)
    return a_str(run.get("trajectory_format")).startswith(FORMAT) and isinstance(run.get("messages"), list)


def extra_of(row: dict[str, Any]) -> dict[str, Any]:
    """What the program stores of a row besides what the model is sent."""
    return a_dict(row.get("extra"))


def response_of(row: dict[str, Any]) -> dict[str, Any]:
    """The whole answer of the model's API that a row came from; empty when there is none.

    With Responses the row is the answer, except for one that the program refused.
    """
    return row if row.get("object") == "response" else a_dict(extra_of(row).get("response"))


def is_observation(row: dict[str, Any]) -> bool:
    """Whether a row is the output of an action."""
    return "raw_output" in extra_of(row) or row.get("role") == "tool" or row.get("type") == "function_call_output"


def commands_of(row: dict[str, Any]) -> list[str]:
    """The actions of a row that are not calls of a tool."""
    actions = dicts(extra_of(row).get("actions"))
    return [a_str(each.get("command")) for each in actions if not each.get("tool_call_id")]


def time_of(row: dict[str, Any]) -> str | None:
    """When a row was added; of an answer that the program refused, when the model gave it."""
    response = response_of(row)
    return a_time(extra_of(row).get("timestamp")) or a_time(response.get("created") or response.get("created_at"))


def message_in(response: dict[str, Any]) -> dict[str, Any]:
    """The message of an answer of Chat Completions."""
    choices = dicts(response.get("choices"))
    return a_dict(choices[0].get("message")) if choices else {}


def stop_reason(response: dict[str, Any]) -> str | None:
    """Why the model stopped."""
    choices = dicts(response.get("choices"))
    found = choices[0].get("finish_reason") if choices else response.get("status")
    return found if isinstance(found, str) and found else None


def output_items(response: dict[str, Any]) -> list[Any]:
    """The items of an answer of Responses."""
    return a_list(response.get("output"))
