"""The result of a tool call: its output as the model got it, and whether Gemini CLI says that it failed."""

from __future__ import annotations

import re
from typing import Any

from stenograph.formats.shared.gemini_parts import error_of, output_of, parts_of, response_of, result_payload, words_in
from stenograph.formats.shared.loose import a_dict, a_str
from stenograph.model.payload import ToolPayload

FAILED = ("error", "cancelled")
_ENDED = ("success", *FAILED)
_SAVED_TO = re.compile(r"Output too large\. [^\n]*?For full output see: ([^\n]+)")


def is_answered(call: dict[str, Any]) -> bool:
    """Whether a recorded call has ended."""
    return call.get("result") is not None or call.get("status") in _ENDED


def result_of(call_id: str, call: dict[str, Any]) -> ToolPayload:
    """The result of a recorded call; what was shown to the user replaces a missing output."""
    parts = parts_of(call.get("result"))
    own = [part for part in parts if a_dict(response_of(part)).get("id") in (None, call_id)]
    output, blocks = output_of(own or parts)
    if not parts:
        output = call.get("resultDisplay")
    error = None
    if call.get("status") in FAILED:
        error = error_of(own or parts) or words_in(output) or f"The tool ended as {call['status']}."
    return result_payload(a_str(call.get("name")), call_id, output, error, blocks)


def side_file_of(output: Any) -> str | None:
    """The file in which the CLI stored an oversized output, as `tool-outputs/<session folder>/<name>`."""
    found = _SAVED_TO.match(output) if isinstance(output, str) and output.startswith("Output too large") else None
    if found is None:
        return None
    path = [piece for piece in re.split(r"[/\\]", found.group(1).strip()) if piece]
    return "/".join(["tool-outputs", *path[-2:]]) if len(path) > 1 else None
