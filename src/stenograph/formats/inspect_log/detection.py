"""Which files are logs of Inspect, and what a sample's head says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str

HEADS = ("header.json", "_journal/start.json")
"""The members of a ZIP that have the head of the log; the second one while it is being written."""


def is_log(record: Any) -> bool:
    """Whether a record is a log, or one sample of it with the log's head."""
    log = a_dict(record)
    evaluation = a_dict(log.get("eval"))
    return {"task", "model", "dataset"} <= evaluation.keys() and ("status" in log or "samples" in log)


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of a log; of a ZIP when it has the head of one."""
    first = a_dict(records[0])
    if first.get("container") != "zip":
        return SURE if is_log(first) else 0
    has_head = any(name in a_list(first.get("names")) for name in HEADS)
    return SURE if has_head and any("eval" in a_dict(record) for record in records[1:]) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The run is the first sample."""
    return sample_identity(a_dict(records[0])) if records else Identity()


def sample_identity(log: dict[str, Any]) -> Identity:
    """A sample by its own id, else by its place in the log."""
    sample = (dicts(log.get("samples")) or [{}])[0]
    evaluation = a_dict(log.get("eval"))
    place = [evaluation.get("eval_id") or evaluation.get("run_id"), sample.get("id"), sample.get("epoch")]
    made = "/".join(str(part) for part in place if part not in (None, ""))
    return Identity(
        native_id=a_str(sample.get("uuid")) or made,
        model=first_str(evaluation, "model"),
        agent_version=first_str(a_dict(evaluation.get("packages")), "inspect_ai"),
    )
