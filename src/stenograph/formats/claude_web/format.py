"""A conversation of claude.ai as events: the branch that was shown as messages, every other branch as notes.

Theory of operation. Messages name their parents in newer exports; in older ones each follows the one before. An answer
holds its calls and their results among its blocks; each result is emitted after the message, as for any agent. Each
export has the whole conversation, so a message that was emitted is not emitted again.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.base import Context
from stenograph.formats.claude_web.detection import is_conversation
from stenograph.formats.shared.attachment import text_attachment
from stenograph.formats.shared.branches import tree_order
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str
from stenograph.formats.shared.model_api.parts import plain_text, text_block, thinking_block
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import Block

_ROOT = "00000000-0000-4000-8000-000000000000"
"""The parent id in the first message of a conversation."""
_LEAF = "current_leaf_message_uuid"


class ClaudeWebFormat(ImportFormat):
    """One conversation per record."""

    name = "claude_web"

    def __init__(self, context: Context) -> None:
        super().__init__(context)

    def _record(self, record: dict[str, Any]) -> None:
        if not is_conversation(record):
            return
        before = len(self._out)
        self._place(record.get("created_at"))
        head = {name: value for name, value in record.items() if name != "chat_messages"}
        if self._is_new("head", repr(sorted(head.items(), key=str))):
            self._note("conversation", first_str(record, "name", "title", "summary"), head)
        messages = {_id_of(each, place): each for place, each in enumerate(dicts(record["chat_messages"]))}
        for placed in tree_order(_parents(messages), record.get(_LEAF) or None):
            if self._is_new("message", placed.id):
                self._message(messages[placed.id], is_shown=placed.is_shown)
        if len(self._out) == before:
            self._note("repeated")

    def _message(self, message: dict[str, Any], *, is_shown: bool) -> None:
        self._place(message.get("created_at"))
        sender = message.get("sender")
        if not is_shown:
            self._change("messages: on branches that are not shown")
            self._note("other_branch", _text_of(message), message)
            return
        self._drop("attachments: in other files", len(_files(message)))
        if sender == "human":
            self._user([*self._blocks(message), *_attachments(message)], message_id=first_str(message, "uuid"))
        elif sender == "assistant":
            self._assistant(message)
        else:
            self._unknown(message, sender)

    def _assistant(self, message: dict[str, Any]) -> None:
        blocks: list[Block] = []
        results: list[dict[str, Any]] = []
        for part in a_list(message.get("content")):
            kind = a_dict(part).get("type")
            if kind == "tool_use":
                call = self._use(part.get("id"), a_str(part.get("name")), part.get("input"))
                blocks.append(call)
            elif kind == "tool_result":
                results.append(part)
            else:
                blocks += self._part(part)
        if not blocks and not results and message.get("text"):
            blocks = [text_block(a_str(message["text"]))]
        self._answer(blocks, message_id=first_str(message, "uuid"), stop_reason=first_str(message, "stop_reason"))
        for result in results:
            content = _plain_results(result.get("content"))
            failed = result.get("is_error") is True
            self._result(result.get("tool_use_id"), content, name=a_str(result.get("name")), failed=failed)

    def _blocks(self, message: dict[str, Any]) -> list[Block]:
        blocks = [block for part in a_list(message.get("content")) for block in self._part(part)]
        text = a_str(message.get("text"))
        return blocks or ([text_block(text)] if text else [])

    def _part(self, part: Any) -> list[Block]:
        kind = a_dict(part).get("type")
        if kind == "text" and isinstance(part.get("text"), str):
            self._drop("citations", len(a_list(part.get("citations"))))
            return [text_block(part["text"])] if part["text"] else []
        if kind == "thinking" and isinstance(part.get("thinking"), str):
            return [thinking_block(part["thinking"], part)] if part["thinking"] else []
        return [verbatim(part)]


def _id_of(message: dict[str, Any], place: int) -> str:
    return a_str(message.get("uuid")) or f"#{place}"


def _parents(messages: dict[str, dict[str, Any]]) -> dict[str, str | None]:
    """The parent of each message; in exports without, the message before it."""
    if not any(first_str(each, "parent_message_uuid") for each in messages.values()):
        return dict(zip(messages, [None, *messages], strict=False))
    found = {name: first_str(each, "parent_message_uuid") for name, each in messages.items()}
    return {name: None if parent == _ROOT else parent for name, parent in found.items()}


def _text_of(message: dict[str, Any]) -> str:
    return plain_text(message.get("content")) or a_str(message.get("text"))


def _attachments(message: dict[str, Any]) -> list[Block]:
    """Files whose text the export holds."""
    return [
        text_attachment(_media_type(each), a_str(each.get("extracted_content")).encode("utf-8", "replace"))
        for each in dicts(message.get("attachments"))
        if each.get("extracted_content")
    ]


def _files(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Files that the export only names."""
    empty = [each for each in dicts(message.get("attachments")) if not each.get("extracted_content")]
    return [*empty, *dicts(message.get("files"))]


def _media_type(attachment: dict[str, Any]) -> str:
    kind = a_str(attachment.get("file_type"))
    return kind if "/" in kind else "text/plain"


def _plain_results(content: Any) -> Any:
    """A tool's output: texts; a list of anything else stays as it is."""
    return content if isinstance(content, list | str) else None if content is None else [content]
