"""The dialect of Anthropic's Messages API."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_dict, a_list, a_str, first_str
from stenograph.formats.shared.model_api.chat import SYSTEM_ROLES, said
from stenograph.formats.shared.model_api.dialect import Dialect
from stenograph.formats.shared.model_api.history import Mark, mark
from stenograph.formats.shared.model_api.messages_stream import EVENTS, MessageStream
from stenograph.formats.shared.model_api.parts import block_of, plain_text
from stenograph.formats.shared.model_api.turn import Turn
from stenograph.formats.shared.model_api.usage import anthropic_usage
from stenograph.model.payload import SYNTHETIC

TOOL_USES = ("tool_use", "server_tool_use", "mcp_tool_use")


class Messages(Dialect):
    """Anthropic's Messages API."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._stream = MessageStream(self.response)

    def request(self, body: dict[str, Any]) -> None:
        """Emit the new messages of a request."""
        messages = [item for item in a_list(body.get("messages")) if isinstance(item, dict)]
        self._converse(messages, plain_text(body.get("system")) or None)
        self._define(body.get("tools"))

    def response(self, body: dict[str, Any]) -> None:
        """Emit an answer."""
        answer_id, model = first_str(body, "id"), first_str(body, "model")
        marks = [self._mark(body)]
        if self._was_emitted(answer_id, marks):
            self._note("repeated", data={"id": answer_id})
        else:
            stop = first_str(body, "stop_reason")
            turn = self._turn_of(body.get("content"), inside=True)
            turn.emit_message(self._emit, "assistant", model=model, message_id=answer_id, stop_reason=stop)
            self._remember(answer_id, marks)
        if model != SYNTHETIC:
            self._count(anthropic_usage(body.get("usage"), model, answer_id))

    def bare(self, record: dict[str, Any]) -> bool:
        """Take a request, an answer, a stream event, an error or a single message."""
        kind = record.get("type")
        if isinstance(record.get("messages"), list):
            self.request(record)
        elif kind in EVENTS:
            self._stream.take(record)
        elif kind == "error" or ("error" in record and "role" not in record):
            self.flush()
            self.error(record)
        elif kind == "message" and record.get("role") == "assistant":
            self.response(record)
        elif isinstance(record.get("role"), str):
            self._say([record], None)
        else:
            return False
        return True

    def flush(self) -> None:
        """Emit the message whose stream broke off."""
        self._stream.flush()

    def _mark(self, item: dict[str, Any]) -> Mark:
        """The mark of text, calls and results, without the model's thinking, which clients may drop."""
        content = item.get("content")
        facts: list[Any] = []
        answered: list[str] = []
        has_ids = False
        for part in [{"text": content}] if isinstance(content, str) else a_list(content):
            kind = part.get("type") if isinstance(part, dict) else None
            if kind in ("thinking", "redacted_thinking"):
                continue
            if kind in TOOL_USES or (isinstance(kind, str) and kind.endswith("tool_result")):
                has_ids = True
                facts.append((kind, part.get("id") or part.get("tool_use_id"), said(part.get("content"))))
                answered += [a_str(part.get("tool_use_id"))] if kind == "tool_result" else []
            else:
                facts.append(said([part]))
        facts = [fact for fact in facts if fact]
        answers = " ".join(answered) if len(answered) == len(facts) else ""
        return mark(item.get("role"), facts, has_ids=has_ids, answers=answers)

    def _say(self, items: list[dict[str, Any]], system: str | None) -> None:
        for item in items:
            role, content = item.get("role"), item.get("content")
            if role == "user":
                self._say_user(content, system)
                system = None
            elif role == "assistant":
                more = {"model": first_str(item, "model"), "message_id": first_str(item, "id")}
                self._turn_of(content, inside=True).emit_message(self._emit, "assistant", **more)
            elif role in SYSTEM_ROLES:
                self._note(f"{role}_message", plain_text(content))
            else:
                self._unknown(item, role)

    def _say_user(self, content: Any, system: str | None) -> None:
        only_results = bool(content) and all(
            isinstance(part, dict) and part.get("type") == "tool_result" for part in a_list(content) or [None]
        )
        turn = self._turn_of(content, inside=not only_results)
        if not only_results:
            self._emit_user(turn, system)
            return
        if system is not None:
            self._note("system_prompt", system)
        turn.emit_tools(self._emit)

    def _turn_of(self, content: Any, *, inside: bool) -> Turn:
        turn = Turn()
        if isinstance(content, str):
            turn.say(content)
        for part in a_list(content):
            kind = part.get("type") if isinstance(part, dict) else None
            if kind in TOOL_USES:
                kind = "server" if kind != "tool_use" else None
                turn.call(a_str(part.get("id")), a_str(part.get("name")), part.get("input"), kind=kind)
            elif isinstance(kind, str) and kind.endswith("tool_result"):
                self._add_result(turn, part, inside)
            else:
                block = block_of(part)
                if block is not None:
                    turn.blocks.append(block)
        return turn

    def _add_result(self, turn: Turn, part: dict[str, Any], inside: bool) -> None:
        content = part.get("content")
        fault = a_dict(content)
        failed = part.get("is_error") is True or a_str(fault.get("type")).endswith("_error")
        why = a_str(fault.get("error_code")) if failed else ""
        turn.result(a_str(part.get("tool_use_id")), content, failed=failed, block=inside, why=why)
