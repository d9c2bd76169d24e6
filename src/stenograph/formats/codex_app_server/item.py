"""Thread items as the payloads of messages and tool events. Items are any JSON, so no field is assumed."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from stenograph.formats.codex_rollout.content import result_of, thinking_of
from stenograph.formats.codex_rollout.outcome import failure
from stenograph.formats.shared.content import blocks_of
from stenograph.formats.shared.loose import FAR, a_str
from stenograph.model.block import Block, Fidelity, TextBlock
from stenograph.model.payload import MessagePayload, ToolPayload

TOOLS = {
    "commandExecution",
    "fileChange",
    "mcpToolCall",
    "dynamicToolCall",
    "collabAgentToolCall",
    "webSearch",
    "imageView",
    "imageGeneration",
}
"""Items that are a tool's call when they start and its result when they complete; their id is the call id."""

_BOOKKEEPING = {"type", "id", "tool", "namespace", "status", "startedAtMs", "completedAtMs", "durationMs"}
_OUTCOMES = {"result", "error", "results", "agentsStates", "contentItems", "success", "savedPath"}
_SERVED = ("webSearch", "imageGeneration")
"""Tools that run on the API's side."""
_SPEAKING = {"mcpToolCall", "dynamicToolCall"}
"""Tools whose output says why they failed."""


def item_of(params: dict[str, Any]) -> dict[str, Any]:
    """The item of a notification; in the flat shape the params themselves are the item."""
    item = params.get("item", params)
    return item if isinstance(item, dict) else {}


def call_of(item: dict[str, Any]) -> ToolPayload:
    """A tool item as its call."""
    return ToolPayload(
        name=name_of(item),
        call_id=a_str(item.get("id")),
        input=_input(item),
        output=None,
        fidelity="agent_emitted",
        namespace=a_str(item.get("namespace")) or None,
        kind="server" if item.get("type") in _SERVED else None,
    )


def result_payload(item: dict[str, Any], streamed: str | None = None) -> ToolPayload:
    """A completed tool item as its result; `streamed` is the output from deltas, when the item lacks it."""
    output, blocks = _output(item)
    if output is None and blocks is None:
        output = streamed
    duration = item.get("durationMs")
    is_time = isinstance(duration, int | float) and not isinstance(duration, bool) and 0 <= duration < FAR
    return ToolPayload(
        name=name_of(item),
        call_id=a_str(item.get("id")),
        input=None,
        output=output,
        error=_error(item, output, blocks),
        fidelity="agent_emitted",
        duration_ms=duration if is_time else None,
        blocks=blocks,
    )


def bridged_call(params: dict[str, Any], fidelity: Fidelity) -> ToolPayload:
    """A dynamic tool that the server asks its client to run (`item/tool/call`)."""
    return ToolPayload(
        name=a_str(params.get("tool")),
        call_id=a_str(params.get("callId")),
        input=params.get("arguments"),
        output=None,
        fidelity=fidelity,
        namespace=a_str(params.get("namespace")) or None,
    )


def bridged_result(params: dict[str, Any], result: Any, failure: str | None, fidelity: Fidelity) -> ToolPayload:
    """The client's answer to `item/tool/call`, or its error."""
    answer = result if isinstance(result, dict) else {"contentItems": result}
    output, blocks = result_of(answer.get("contentItems"))
    if failure is None and answer.get("success") is False:
        failure = _said(output, blocks) or "failed"
    return ToolPayload(
        name=a_str(params.get("tool")),
        call_id=a_str(params.get("callId")),
        input=None,
        output=output,
        error=failure,
        fidelity=fidelity,
        blocks=blocks,
    )


def name_of(item: dict[str, Any]) -> str:
    """A tool by the name that rollouts have for it, if they have one, else the item's type."""
    kind, tool = a_str(item.get("type")), a_str(item.get("tool"))
    if kind == "mcpToolCall":
        return f"mcp__{a_str(item.get('server'))}__{tool}"
    return tool or kind


def _input(item: dict[str, Any]) -> Any:
    match item.get("type"):
        case "mcpToolCall" | "dynamicToolCall":
            return item.get("arguments")
        case "commandExecution":
            return _fields(item, ("command", "cwd"))
        case "fileChange":
            return _fields(item, ("changes",))
        case _:
            keys = (key for key in item if key not in _BOOKKEEPING and key not in _OUTCOMES)
            return _fields(item, tuple(keys))


def _output(item: dict[str, Any]) -> tuple[Any, tuple[Block, ...] | None]:
    match item.get("type"):
        case "commandExecution":
            return item.get("aggregatedOutput"), None
        case "mcpToolCall":
            return _mcp_output(item.get("result"))
        case "dynamicToolCall":
            return result_of(item.get("contentItems"))
        case "webSearch":
            return _fields(item, ("query", "action", "results")), None
        case "collabAgentToolCall":
            return _fields(item, ("receiverThreadIds", "agentsStates")), None
        case "imageGeneration":
            return result_of([{"type": "image", "data": item.get("result"), "mimeType": "image/png"}])
        case _:
            return None, None


def _mcp_output(result: Any) -> tuple[Any, tuple[Block, ...] | None]:
    if not isinstance(result, dict):
        return result, None
    content = result.get("content")
    if not content:
        return result.get("structuredContent"), None
    return result_of(content)


def _error(item: dict[str, Any], output: Any, blocks: tuple[Block, ...] | None) -> str | None:
    said = _said(output, blocks) if a_str(item.get("type")) in _SPEAKING else ""
    words = [said] if said else []
    return failure(item.get("status"), item.get("error"), item.get("success"), None, item.get("exitCode"), words)


def _said(output: Any, blocks: tuple[Block, ...] | None) -> str:
    if isinstance(output, str):
        return output
    return "\n".join(block.text for block in blocks or () if isinstance(block, TextBlock))


def _fields(item: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: item[key] for key in keys if item.get(key) is not None}


def user_message(content: Any, message_id: Any) -> MessagePayload:
    """A message of a person or the calling program, as sent by the client or repeated by the server."""
    if isinstance(content, list):
        content = [_as_image(part) for part in content]
    return MessagePayload(role="user", blocks=blocks_of(content), message_id=a_str(message_id) or None)


def instructed(prompt: MessagePayload, instructions: str) -> MessagePayload:
    """A prompt with the instructions that the client sent for its thread; the model gets both."""
    blocks = (*prompt.blocks, TextBlock(fidelity="agent_emitted", text=instructions))
    return replace(prompt, blocks=blocks, system_prompt=instructions)


def _as_image(part: Any) -> Any:
    if isinstance(part, dict) and part.get("type") == "image" and isinstance(part.get("url"), str):
        return {**part, "image_url": part["url"]}
    return part


def agent_message(said: str, message_id: str, model: str | None) -> MessagePayload:
    """The model's own words."""
    blocks = (TextBlock(fidelity="agent_emitted", text=said),)
    return MessagePayload(role="assistant", blocks=blocks, model=model, message_id=message_id or None)


def reasoning(summary: Any, content: Any, message_id: str, model: str | None) -> MessagePayload:
    """The model's visible reasoning: the parts of its summary, then its raw thoughts if they are sent."""
    blocks = thinking_of(summary, content, id=message_id)
    return MessagePayload(role="assistant", blocks=blocks, model=model, message_id=message_id or None)
