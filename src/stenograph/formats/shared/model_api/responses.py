"""The dialect of OpenAI's Responses API."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_dict, a_str, dicts, first_str
from stenograph.formats.shared.model_api.chat import SYSTEM_ROLES, said
from stenograph.formats.shared.model_api.dialect import Dialect
from stenograph.formats.shared.model_api.history import Mark, mark
from stenograph.formats.shared.model_api.parts import block_of, blocks_of, plain_text
from stenograph.formats.shared.model_api.responses_call import add_call, add_output, is_call, is_output
from stenograph.formats.shared.model_api.responses_stream import ResponseStream
from stenograph.formats.shared.model_api.turn import Turn
from stenograph.formats.shared.model_api.usage import openai_usage
from stenograph.formats.shared.verbatim import verbatim

_NOTES = ("mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "compaction", "context_compaction")
_UNDER_WAY = ("queued", "in_progress")


class Responses(Dialect):
    """OpenAI's Responses API."""

    items_key = "input"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._stream = ResponseStream(self.response)

    def request(self, body: dict[str, Any]) -> None:
        """Emit the new items of a request; after `previous_response_id` it holds nothing else."""
        content = body.get("input")
        items = [{"role": "user", "content": content}] if isinstance(content, str) else dicts(content)
        items = [item for item in items if item.get("type") != "item_reference"]
        start = next((at for at, item in enumerate(items) if item.get("role") not in SYSTEM_ROLES), len(items))
        prompts = [a_str(body.get("instructions")), *(plain_text(item.get("content")) for item in items[:start])]
        system = "\n".join(prompt for prompt in prompts if prompt) or None
        conversation = body.get("conversation")
        kept = first_str(a_dict(conversation), "id") or a_str(conversation)
        after = first_str(body, "previous_response_id") or (f"conversation {kept}" if kept else None)
        self._converse(items[start:], system, after=after, grows=bool(kept))
        self._define(body.get("tools"))

    def response(self, body: dict[str, Any]) -> None:
        """Emit an answer, and why it failed if it did."""
        answer_id, model, status = first_str(body, "id"), first_str(body, "model"), first_str(body, "status")
        output = dicts(body.get("output"))
        marks = [self._mark(item) for item in output]
        if status in _UNDER_WAY or not (output or body.get("error")):
            self._note(f"response.{status or 'empty'}", data={"id": answer_id})
        elif output and self._was_emitted(answer_id, marks):
            self._note("repeated", data={"id": answer_id})
        else:
            if output:
                stop = first_str(a_dict(body.get("incomplete_details")), "reason") or status
                more = {"model": model, "message_id": answer_id, "stop_reason": stop}
                self._turn_of(output).emit_message(self._emit, "assistant", **more)
            self._remember(answer_id, marks)
        if body.get("error"):
            self.error(body)
        if not self._tools.are_emitted:  # an answer repeats them, which helps in logs without requests
            self._define(body.get("tools"))
        self._count(openai_usage(body.get("usage"), model, answer_id, first_str(body, "service_tier")))

    def bare(self, record: dict[str, Any]) -> bool:
        """Take a request, an answer, a stream event, an error or a single item."""
        kind = a_str(record.get("type"))
        if kind.startswith("response."):
            self._stream.take(record)
        elif record.get("object") == "response" or (isinstance(record.get("output"), list) and not kind):
            self.response(record)
        elif kind == "error" or (record.get("error") and not kind):
            self.flush()
            self.error(record)
        elif not kind and "input" in record:
            self.request(record)
        elif kind in ("keepalive", "ping"):
            pass
        elif "role" in record or kind == "reasoning" or is_call(kind) or is_output(kind) or kind in _NOTES:
            self._say([record], None)
        else:
            return False
        return True

    def flush(self) -> None:
        """Emit the answer whose stream broke off."""
        self._stream.flush()

    def _is_prompt(self, item: dict[str, Any]) -> bool:
        return item.get("role") == "user"

    def _mark(self, item: dict[str, Any]) -> Mark:
        kind = a_str(item.get("type")) or "message"
        if kind == "message":
            return mark(item.get("role"), said(item.get("content")))
        if kind == "reasoning":
            return mark(kind, item.get("id") or said(item.get("summary")))
        call = first_str(item, "call_id", "id")
        if is_output(kind):
            output = item.get("output")
            content = said(output) if isinstance(output, list) else output
            return mark(kind, call, content, has_ids=call is not None, answers=call or "")
        return mark(kind, call or item, has_ids=call is not None)

    def _say(self, items: list[dict[str, Any]], system: str | None) -> None:
        """Emit items; adjacent ones of the model are one message, as they were when it answered."""
        group: list[dict[str, Any]] = []
        for item in items:
            if _is_models(item):
                group.append(item)
                continue
            self._say_group(group)
            group = []
            system = self._say_item(item, system)
        self._say_group(group)

    def _say_group(self, group: list[dict[str, Any]]) -> None:
        if group:
            self._turn_of(group).emit_message(self._emit, "assistant")

    def _say_item(self, item: dict[str, Any], system: str | None) -> str | None:
        """Emit one item that is not the model's; return the system prompt unless it was emitted with it."""
        kind, role = a_str(item.get("type")), item.get("role")
        if role == "user":
            turn = Turn()
            turn.blocks += blocks_of(item.get("content"))
            self._emit_user(turn, system)
            return None
        if role in SYSTEM_ROLES:
            self._note(f"{role}_message", plain_text(item.get("content")))
        elif is_output(kind):
            turn = Turn()
            add_output(turn, item)
            turn.emit_tools(self._emit)
        elif kind in _NOTES:
            self._note(kind, None, item)
        else:
            self._unknown(item, kind or role)
        return system

    def _turn_of(self, items: list[dict[str, Any]]) -> Turn:
        turn = Turn()
        for item in items:
            kind = a_str(item.get("type")) or "message"
            if kind == "message":
                turn.blocks += blocks_of(item.get("content"))
            elif kind == "reasoning":
                block = block_of(item)
                turn.blocks += [] if block is None else [block]
            elif is_call(kind):
                add_call(turn, item)
            elif is_output(kind):  # a tool that the service ran itself
                add_output(turn, item)
            else:
                turn.blocks.append(verbatim(item))
        return turn


def _is_models(item: dict[str, Any]) -> bool:
    kind = a_str(item.get("type"))
    return item.get("role") == "assistant" or kind == "reasoning" or is_call(kind)
