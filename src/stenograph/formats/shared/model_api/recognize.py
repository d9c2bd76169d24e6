"""Which model API a record belongs to, and what names its run: for `detect` and `identify`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import LIKELY, POSSIBLE, Detect, Identity
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str
from stenograph.formats.shared.model_api.envelope import Api, Piece, chunks_in, unwrap
from stenograph.formats.shared.model_api.messages_stream import EVENTS
from stenograph.formats.shared.session_fields import SESSION_FIELDS

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_CHAT_OBJECTS = ("chat.completion", "chat.completion.chunk", "text_completion")
_ANTHROPIC_PARTS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "document", "server_tool_use")
_RESPONSES_PARTS = ("input_text", "output_text", "input_image", "input_file")
_ANTHROPIC_FIELDS = ("system", "anthropic_version", "stop_sequences", "thinking", "top_k")
_STREAM_FIELDS = ("response", "sequence_number", "output_index", "item_id")
_FOREIGN = ("parts", "blocks", "sessionID", "sessionKey", "uuid", "parentId")
"""Fields of other programs' records that otherwise look like a message."""
_NOT_A_CALL = SESSION_FIELDS | {"updated_at"}
"""Fields of agents' session files that hold messages in an API's shape."""


def detection_of(api: Api) -> Detect:
    """The score for a file whose first call is to this API.

    Requests and answers are the API's own. A message per line, a role and what was said, is what many programs write.
    """

    def detect(records: Sequence[Any], path: str) -> int:
        if _NOT_A_CALL & a_dict(records[0]).keys():
            return 0
        if not all(_is_role(record["role"]) for record in dicts(list(records)) if "role" in record):
            return 0
        if _api_of(records[0]) != api:
            return 0
        return POSSIBLE if _is_bare_message(records[0]) else LIKELY

    return detect


def _is_bare_message(record: Any) -> bool:
    return isinstance(record, dict) and "role" in record and "type" not in record


def identity_of(records: Sequence[Any], path: str) -> Identity:
    """The run by the conversation that the service stores, else by the first answer; nothing else identifies it."""
    pieces = [piece for record in records for piece in unwrap(record)]
    session = next((piece.session for piece in pieces if piece.session), None)
    bodies = [body for piece in pieces for body in _bodies(piece)]
    kept = (body.get("conversation") or a_dict(body.get("response")).get("conversation") for body in bodies)
    named = next((first_str(a_dict(item), "id") or a_str(item) for item in kept if item), "")
    answers = (_answer_id(body) for body in bodies)
    return Identity(native_id=named or next((name for name in answers if name), ""), session_id=session)


def _is_role(role: Any) -> bool:
    return isinstance(role, str) and role in _ROLES


def _bodies(piece: Piece) -> list[dict[str, Any]]:
    return chunks_in(piece.body) if isinstance(piece.body, list) else dicts([piece.body])


def _answer_id(body: dict[str, Any]) -> str | None:
    if "choices" in body or body.get("object") == "response" or body.get("type") == "message":
        return first_str(body, "id")
    kind = a_str(body.get("type"))
    if kind.startswith("response."):
        return first_str(a_dict(body.get("response")), "id")
    return first_str(a_dict(body.get("message")), "id") if kind == "message_start" else None


def _api_of(record: Any) -> Api | None:
    pieces = unwrap(record)
    named = next((piece.api for piece in pieces if piece.api), None)
    if named or not pieces or pieces[0].kind == "other":
        return named
    found = (_shape(body) for piece in pieces for body in _bodies(piece)[:1])
    return next((api for api in found if api), None)


def _shape(body: dict[str, Any]) -> Api | None:
    if body.get("object") in _CHAT_OBJECTS:
        return "chat"
    if body.get("object") == "response" and "output" in body:
        return "responses"
    if "type" in body:
        return _typed_shape(body, a_str(body["type"]))
    if any(name in body for name in _FOREIGN):
        return None
    messages = dicts(body.get("messages")) or dicts(a_dict(body.get("input")).get("messages"))
    if messages and all(_is_role(item.get("role")) for item in messages):
        return "messages" if _is_anthropic(body, messages) else "chat"
    if isinstance(body.get("input"), str | list) and ("model" in body or "previous_response_id" in body):
        return "responses"
    if dicts(body.get("choices")) and ("model" in body or "id" in body):
        return "chat"
    return _role_shape(body) if "role" in body else None


def _typed_shape(body: dict[str, Any], kind: str) -> Api | None:
    if kind.startswith("response.") and any(name in body for name in _STREAM_FIELDS):
        return "responses"
    if kind in EVENTS and _is_stream_event(body, kind):
        return "messages"
    if kind == "message" and body.get("role") == "assistant" and isinstance(body.get("content"), list):
        return "messages" if {"id", "model", "usage"} <= body.keys() else None
    return None


def _is_stream_event(body: dict[str, Any], kind: str) -> bool:
    if kind == "message_start":
        return isinstance(body.get("message"), dict)
    if kind.startswith("content_block"):
        return "index" in body
    return kind == "message_delta" or len(body) == 1


def _is_anthropic(body: dict[str, Any], messages: list[dict[str, Any]]) -> bool:
    """Whether a request is Anthropic's: it has a field that Chat Completions does not have."""
    if any(item["role"] in ("system", "developer", "tool", "function") or "tool_calls" in item for item in messages):
        return False
    if any(_part_types(item) & set(_ANTHROPIC_PARTS) for item in messages):
        return True
    if any("input_schema" in tool for tool in dicts(body.get("tools"))):
        return True
    if any(name in body for name in _ANTHROPIC_FIELDS):
        return True
    return "max_tokens" in body and "claude" in a_str(body.get("model")) and "stream_options" not in body


def _role_shape(body: dict[str, Any]) -> Api | None:
    """One message per line."""
    types = _part_types(body)
    if types & set(_ANTHROPIC_PARTS):
        return "messages"
    if types & set(_RESPONSES_PARTS):
        return "responses"
    said = body.get("content", body.get("message"))
    if isinstance(said, str) or isinstance(body.get("content"), list) or dicts(body.get("tool_calls")):
        return "chat"
    return None


def _part_types(item: dict[str, Any]) -> set[str]:
    return {a_str(part.get("type")) for part in dicts(a_list(item.get("content")))}
