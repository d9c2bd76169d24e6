"""Which files are logs of Inspect, and what a sample's head tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats import tools
from stenograph.formats.base import FormatSpec, Identity
from stenograph.formats.inspect_log.format import InspectLogFormat, is_log
from stenograph.formats.shared.loose import a_dict, a_str, dicts, first_str


def detect(records: Sequence[Any], path: str) -> bool:
    """Whether the file is a log."""
    return is_log(records[0])


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


SPEC = FormatSpec(
    name="inspect_log",
    what="logs of Inspect AI (.json, .eval), one run for each sample",
    versions="log version 2 (inspect_ai 0.3.133 to 0.3.285)",
    documents=True,
    detect=detect,
    identify=identify,
    open=InspectLogFormat,
    tools=tools.GENERIC,
)
