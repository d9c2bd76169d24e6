"""What came of a tool call: its output as the model got it, and whether Gemini CLI says that it failed."""

from __future__ import annotations

import json
import re
from typing import Any

from stenograph.formats.gemini_cli.content import EMITTED, block_of, parts_of, response_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str
from stenograph.model.block import Block, TextBlock
from stenograph.model.payload import ToolPayload

FAILED = ("error", "cancelled")
_ENDED = ("success", *FAILED)
_SAVED_TO = re.compile(r"Output too large\. [^\n]*?For full output see: ([^\n]+)")


def is_answered(call: dict[str, Any]) -> bool:
    """Whether a recorded call has come to its end."""
    return call.get("result") is not None or call.get("status") in _ENDED


def result_of(call_id: str, call: dict[str, Any]) -> ToolPayload:
    """The result of a recorded call; what people were shown stands in for an output that is missing."""
    parts = parts_of(call.get("result"))
    own = [part for part in parts if a_dict(response_of(part)).get("id") in (None, call_id)]
    output, blocks = _output(own or parts)
    if not parts:
        output = call.get("resultDisplay")
    error = None
    if call.get("status") in FAILED:
        error = _error_of(own or parts) or _words(output) or f"The tool ended as {call['status']}."
    return _payload(a_str(call.get("name")), call_id, output, error, blocks)


def response_result(response: dict[str, Any]) -> ToolPayload:
    """The result that only a function response tells: it has failed when there is an error and no output."""
    part = {"functionResponse": response}
    output, blocks = _output([part])
    answer = a_dict(response.get("response"))
    error = None
    if "error" in answer and "output" not in answer:
        error = _error_of([part]) or "The tool failed."
    return _payload(a_str(response.get("name")), a_str(response.get("id")), output, error, blocks)


def side_file_of(output: Any) -> str | None:
    """The file in which the CLI parked an oversized output, as `tool-outputs/<session folder>/<name>`."""
    found = _SAVED_TO.match(output) if isinstance(output, str) and output.startswith("Output too large") else None
    if found is None:
        return None
    path = [piece for piece in re.split(r"[/\\]", found.group(1).strip()) if piece]
    return "/".join(["tool-outputs", *path[-2:]]) if len(path) > 1 else None


def _payload(name: str, call_id: str, output: Any, error: str | None, blocks: tuple[Block, ...] | None) -> ToolPayload:
    return ToolPayload(
        name=name, call_id=call_id, input=None, output=output, error=error, fidelity=EMITTED, blocks=blocks
    )


def _output(parts: list[Any]) -> tuple[Any, tuple[Block, ...] | None]:
    """The output of one response; media and several parts are blocks."""
    outputs: list[Any] = []
    media: list[Block] = []
    for part in parts:
        response = response_of(part)
        if response is None:
            media.append(block_of(part))
        else:
            outputs.append(_said(response.get("response")))
            media += [block_of(each) for each in a_list(response.get("parts"))]
    if not media and len(outputs) < 2:
        return (outputs[0] if outputs else None), None
    if not outputs and len(media) == 1 and isinstance(only := media[0], TextBlock):
        return only.text, None
    words = [TextBlock(fidelity=EMITTED, text=_words(output)) for output in outputs]
    return None, (*words, *media)


def _said(response: Any) -> Any:
    """What a response says: its output or its error, and all of it when there is more."""
    if isinstance(response, dict) and len(response) == 1:
        for key in ("output", "error"):
            if key in response:
                return response[key]
    return response


def _error_of(parts: list[Any]) -> str | None:
    answers = [a_dict(a_dict(response_of(part)).get("response")) for part in parts]
    return next((_words(answer["error"]) for answer in answers if answer.get("error")), None)


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
