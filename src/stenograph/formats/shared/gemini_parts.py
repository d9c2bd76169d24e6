"""Parts as Gemini's API has them, which Gemini CLI and its forks write: texts, thoughts, media, calls and responses."""

from __future__ import annotations

import json
from typing import Any

from stenograph.formats.shared.attachment import attachment
from stenograph.formats.shared.loose import a_dict, a_list, a_str, first_str
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import Block, Fidelity, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock
from stenograph.model.payload import ToolPayload

EMITTED: Fidelity = "agent_emitted"


def parts_of(content: Any) -> list[Any]:
    """The parts of a message's content, in each way it is written."""
    if isinstance(content, list):
        return content
    return [] if content is None or content == "" else [content]


def text_of(part: Any) -> str | None:
    """The text of a part that holds nothing but text."""
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and not part.get("thought") and isinstance(text := part.get("text"), str):
        return text
    return None


def texts_of(content: Any) -> str:
    """All words of a message's content."""
    return "\n".join(text for part in parts_of(content) if (text := text_of(part)))


def response_of(part: Any) -> dict[str, Any] | None:
    """The answer to a call that a part holds."""
    response = part.get("functionResponse") if isinstance(part, dict) else None
    return response if isinstance(response, dict) else None


def block_of(part: Any, call_id: str = "") -> Block:
    """One part; unknown kinds are kept unchanged. `call_id` names a call that has no id of its own."""
    text = text_of(part)
    if text is not None:
        return TextBlock(fidelity=EMITTED, text=text)
    if not isinstance(part, dict):
        return verbatim(part)
    if isinstance(thinking := part.get("text"), str):
        return ThinkingBlock(fidelity=EMITTED, thinking=thinking, signature=first_str(part, "thoughtSignature"))
    if isinstance(call := part.get("functionCall"), dict):
        return call_block(call, call_id)
    if (response := response_of(part)) is not None:
        return ToolResultBlock(
            fidelity=EMITTED, tool_id=a_str(response.get("id")), tool_content=response.get("response")
        )
    media = a_dict(part.get("inlineData"))
    if isinstance(data := media.get("data"), str):
        return attachment(media.get("mimeType"), data) or verbatim(part)
    return verbatim(part)


def call_block(call: dict[str, Any], call_id: str) -> ToolUseBlock:
    """A call of a tool, under its own id or the one given."""
    return ToolUseBlock(
        fidelity=EMITTED,
        tool_name=a_str(call.get("name")),
        tool_id=first_str(call, "id") or call_id,
        tool_input=call.get("args"),
    )


def add_block(blocks: list[Block], block: Block) -> None:
    """Add the block of the next part: adjacent texts are joined, and empty ones are left out."""
    last = blocks[-1] if blocks else None
    if isinstance(block, TextBlock) and isinstance(last, TextBlock):
        blocks[-1] = TextBlock(fidelity=EMITTED, text=last.text + block.text)
    elif not isinstance(block, TextBlock) or block.text:
        blocks.append(block)


# Results.


def response_result(response: dict[str, Any]) -> ToolPayload:
    """The result in a function response: it has failed when there is an error and no output."""
    part = {"functionResponse": response}
    output, blocks = output_of([part])
    answer = a_dict(response.get("response"))
    error = None
    if "error" in answer and "output" not in answer:
        error = error_of([part]) or "The tool failed."
    return result_payload(a_str(response.get("name")), a_str(response.get("id")), output, error, blocks)


def result_payload(
    name: str, call_id: str, output: Any, error: str | None, blocks: tuple[Block, ...] | None
) -> ToolPayload:
    """The payload of a result."""
    return ToolPayload(
        name=name, call_id=call_id, input=None, output=output, error=error, fidelity=EMITTED, blocks=blocks
    )


def output_of(parts: list[Any]) -> tuple[Any, tuple[Block, ...] | None]:
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
    texts = [TextBlock(fidelity=EMITTED, text=words_in(output)) for output in outputs]
    return None, (*texts, *media)


def _said(response: Any) -> Any:
    """What a response says: its output or its error, or the whole response when it has more fields."""
    if isinstance(response, dict) and len(response) == 1:
        for key in ("output", "error"):
            if key in response:
                return response[key]
    return response


def error_of(parts: list[Any]) -> str | None:
    """The first error in the responses."""
    answers = [a_dict(a_dict(response_of(part)).get("response")) for part in parts]
    return next((words_in(answer["error"]) for answer in answers if answer.get("error")), None)


def words_in(value: Any) -> str:
    """A value as text."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
