"""What has begun on a connection and is not finished: streamed items, tool calls, requests, prompts."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from stenograph.formats.codex_app_server.threads import Thread
from stenograph.formats.shared.jsonrpc import RpcMessage
from stenograph.formats.shared.loose import a_str
from stenograph.model.payload import MessagePayload

Answer = Literal["open", "item", "client"]
"""A tool call: not answered, answered by its item, or answered by the client."""


class LinePlace(Struct):
    """Line and time of something that is emitted later, while another line is read."""

    thread: Thread | None
    line: int
    milliseconds: Any


class Stream(Struct):
    """An item whose text arrives in pieces."""

    kind: str
    """`agentMessage`, `reasoning`, or the method of its deltas."""
    item_id: str
    place: LinePlace
    """The place of the last piece."""
    parts: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    """By group (the summary, the content) and number, in the order of their first piece."""

    def add(self, piece: str, group: str = "", number: Any = 0) -> None:
        """Take the next piece."""
        key = (group, number if isinstance(number, int) else 0)
        pieces = self.parts.get(key)
        if pieces is None:
            self.parts[key] = [piece]
        else:
            pieces.append(piece)

    def texts(self, group: str) -> list[str]:
        """The parts of one group so far."""
        return ["".join(pieces) for (name, _), pieces in self.parts.items() if name == group]

    def whole(self) -> str:
        """The text so far."""
        return "".join("".join(pieces) for pieces in self.parts.values())


class Requests:
    """Requests that wait for their answer, by process, sender and id."""

    def __init__(self) -> None:
        self._asked: dict[tuple[Any, bool, Any], RpcMessage] = {}
        self._has_client_messages = False

    def ask(self, message: RpcMessage) -> None:
        """Note a request; any message of the client proves that its direction is in the recording."""
        if message.from_client:
            self._has_client_messages = True
        if message.id is not None:
            kept = {name: message.params[name] for name in _KEPT if name in message.params}
            key = (message.process, bool(message.from_client), message.id)
            self._asked[key] = RpcMessage(method=message.method, params=kept)

    def answered_by(self, response: RpcMessage) -> RpcMessage | None:
        """The request that a response answers; None when it is not in the recording."""
        client, server = (response.process, True, response.id), (response.process, False, response.id)
        if response.from_client is None:
            response.from_client = server in self._asked and self._is_answer_of_client(response, client)
        return self._asked.pop(server if response.from_client else client, None)

    def _is_answer_of_client(self, response: RpcMessage, client: tuple[Any, bool, Any]) -> bool:
        """Whether the client sent this response; both sides number their requests from 0, so an id is not enough."""
        if isinstance(response.result, dict):
            return not _ANSWERS_OF_CLIENTS.isdisjoint(response.result)
        return self._has_client_messages and client not in self._asked


_KEPT = ("threadId", "callId", "tool", "developerInstructions", "dynamicTools")
"""Fields of a request that its answer needs; the others may be large, and some answers never come."""
_ANSWERS_OF_CLIENTS = {"decision", "contentItems", "success", "answers", "action", "permissions"}


_MOST_PROMPTS = 32
"""The limit for a thread whose server does not repeat its prompts."""


class Prompts:
    """Prompts of the client that the server has not repeated yet as a `userMessage`."""

    def __init__(self) -> None:
        self._said: dict[str, list[MessagePayload]] = {}

    def say(self, thread_id: str, prompt: MessagePayload) -> None:
        """Add a prompt of the client."""
        said = self._said.setdefault(thread_id, [])
        said.append(prompt)
        del said[:-_MOST_PROMPTS]

    def is_echo(self, thread_id: str, item: dict[str, Any], repeated: MessagePayload) -> bool:
        """Whether an item repeats a prompt of the client: by the client's id or the same text, else the oldest."""
        said = self._said.get(thread_id) or self._said.get("")  # sent before any thread was named
        if not said:
            return False
        client_id = a_str(item.get("clientId"))
        for match in (
            [prompt for prompt in said if client_id and prompt.message_id == client_id],
            [prompt for prompt in said if prompt.blocks == repeated.blocks],
            said,
        ):
            if match:
                said.remove(match[0])
                return True
        return False
