"""A conversation as events: the branch that was shown as messages, every other branch as notes.

Theory of operation. A conversation is a tree of nodes; `current_node` is the end of the branch that was shown. A
message of the model to a recipient other than `all` is a call of that tool, with the message's id as its call id; the
tool's next message answers it. Each export has the whole conversation, so a node that was emitted is not emitted again.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.base import Context
from stenograph.formats.chatgpt.content import blocks_of, input_of, text_of
from stenograph.formats.chatgpt.detection import is_conversation
from stenograph.formats.shared.branches import tree_order
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict, a_list, a_str, a_time, first_str
from stenograph.model.block import Block, UnknownBlock

_INSTRUCTIONS = ("user_editable_context", "model_editable_context")


class ChatGptFormat(ImportFormat):
    """One conversation per record."""

    name = "chatgpt"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._open: dict[str, str] = {}
        """The latest call of each tool."""

    def _record(self, record: dict[str, Any]) -> None:
        if not is_conversation(record):
            return
        before = len(self._out)
        self._place(a_time(record.get("create_time")))
        head = {name: value for name, value in record.items() if name != "mapping"}
        if self._is_new("head", repr(sorted(head.items(), key=str))):
            self._note("conversation", first_str(record, "title"), head)
        nodes = record["mapping"]
        parents = {name: node.get("parent") for name, node in nodes.items()}
        for placed in tree_order({name: a_str(parent) or None for name, parent in parents.items()}, _leaf(record)):
            message = nodes[placed.id].get("message")
            if isinstance(message, dict) and self._is_new("node", placed.id):
                self._message(message, is_shown=placed.is_shown)
        self._emit_system()
        if len(self._out) == before:
            self._note("repeated")

    def _message(self, message: dict[str, Any], *, is_shown: bool) -> None:
        self._place(a_time(message.get("create_time")))
        content, author = message.get("content"), a_dict(message.get("author"))
        role = author.get("role")
        if not is_shown:
            self._change("messages: on branches that are not shown")
            self._note("other_branch", text_of(content), message)
        elif role == "system" or (role == "user" and a_dict(content).get("content_type") in _INSTRUCTIONS):
            self._instructions(content)
        elif role == "user":
            self._user(self._blocks(message), message_id=first_str(message, "id"))
        elif role == "assistant":
            self._assistant(message)
        elif role == "tool":
            self._tool(message, a_str(author.get("name")))
        else:
            self._unknown(message, role)

    def _instructions(self, content: Any) -> None:
        """A system message; what users wrote about themselves is also one."""
        kind = a_dict(content).get("content_type")
        if kind in _INSTRUCTIONS:
            facts = {name: value for name, value in a_dict(content).items() if name != "content_type"}
            self._note("custom_instructions", "\n".join(a_str(each) for each in facts.values() if each), facts)
        elif text := text_of(content):
            self._system_prompt(text)
        else:
            self._drop("messages: empty")

    def _assistant(self, message: dict[str, Any]) -> None:
        recipient = a_str(message.get("recipient")) or "all"
        kind = a_dict(message.get("content")).get("content_type")
        metadata = a_dict(message.get("metadata"))
        message_id = first_str(message, "id")
        if kind == "reasoning_recap":
            self._note("reasoning_recap", text_of(message.get("content")))
            return
        if recipient == "all":
            blocks = self._blocks(message)
        else:
            blocks = [self._use(message_id, recipient, input_of(message.get("content")))]
            self._open[recipient] = blocks[0].tool_id  # type: ignore[union-attr]  # it was just built
        stop = first_str(a_dict(metadata.get("finish_details")), "type")
        if not blocks:
            self._drop("messages: empty")
            return
        self._answer(blocks, model=first_str(metadata, "model_slug"), message_id=message_id, stop_reason=stop)

    def _tool(self, message: dict[str, Any], name: str) -> None:
        """A tool's message: the answer to its latest call, else to the call of a part of it (`web` and `web.run`)."""
        family = name.partition(".")[0]
        call_id = self._open.get(name) or next(
            (each for tool, each in reversed(self._open.items()) if tool.partition(".")[0] == family), None
        )
        content = a_dict(message.get("content"))
        failed = content.get("content_type") == "system_error"
        blocks = self._blocks(message)
        parts = [{"type": "text", "text": text_of(content)}]
        parts += [dict(block.extra or {}) for block in blocks if isinstance(block, UnknownBlock)]
        self._result(call_id, parts if len(parts) > 1 else text_of(content), name=name, failed=failed)

    def _blocks(self, message: dict[str, Any]) -> list[Block]:
        blocks = blocks_of(message.get("content"))
        pointers = sum(isinstance(block, UnknownBlock) for block in blocks)
        named = len(a_list(a_dict(message.get("metadata")).get("attachments")))
        self._drop("attachments: in other files", max(pointers, named))
        return blocks


def _leaf(record: dict[str, Any]) -> Any:
    """The end of the branch that was shown; the last node of the file when the named one is missing."""
    return record.get("current_node") if isinstance(record.get("current_node"), str) else None
