"""The sessions of one connection: the run of each, and its open messages and calls."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from stenograph.formats.acp.call import Call
from stenograph.formats.base import Context, run_id_of
from stenograph.formats.shared.content import blocks_of
from stenograph.formats.shared.loose import string
from stenograph.model.block import Block, TextBlock, ThinkingBlock
from stenograph.model.event import Origin


class Where(Struct, frozen=True):
    """Line and time of something that is emitted later, while another line is read."""

    origin: Origin | None
    timestamp: str
    run_id: str


class PartialMessage(Struct):
    """A message that arrives in chunks."""

    role: str
    where: Where
    """The place of the last chunk."""
    message_id: str | None = None
    parts: list[tuple[str, list[str]] | Block] = field(default_factory=list)
    """In order: the pieces of a text or a thought, or a block."""

    def add(self, kind: str, content: Any) -> None:
        """Take the next chunk."""
        text = content.get("text") if isinstance(content, dict) and content.get("type") == "text" else None
        if not isinstance(text, str):
            self.parts += blocks_of([content])
            return
        last = self.parts[-1] if self.parts else None
        if isinstance(last, tuple) and last[0] == kind:
            last[1].append(text)
        else:
            self.parts.append((kind, [text]))

    def blocks(self) -> tuple[Block, ...]:
        """The blocks so far."""
        return tuple(_block(part) if isinstance(part, tuple) else part for part in self.parts)

    def text(self) -> str:
        """The text so far."""
        return "".join(piece for part in self.parts if isinstance(part, tuple) for piece in part[1])


def _block(part: tuple[str, list[str]]) -> Block:
    kind, pieces = part
    if kind == "thought":
        return ThinkingBlock(fidelity="agent_emitted", thinking="".join(pieces))
    return TextBlock(fidelity="agent_emitted", text="".join(pieces))


class Session(Struct):
    """One session, as far as it is known."""

    id: str
    run_id: str
    model: str | None = None
    partial: PartialMessage | None = None
    calls: dict[str, Call] = field(default_factory=dict)
    held: dict[str, Where] = field(default_factory=dict)
    """Calls that are announced but not begun, with the place of their last message."""
    prompt: str | None = None
    """The user's last prompt: some agents repeat it."""

    def say(self, prompt: str) -> None:
        """Take a prompt; the contents of earlier calls are dropped, so that a long session stays small."""
        self.prompt = prompt
        for call in self.calls.values():
            if call.is_done:
                call.input = call.output = call.content = None

    def learn(self, result: dict[str, Any]) -> None:
        """Take the model from the answer to a request for a session, or from a change of its options."""
        models = result.get("models")
        if isinstance(models, dict):
            self.model = string(models.get("currentModelId")) or self.model
        options = result.get("configOptions")
        for option in options if isinstance(options, list) else []:
            if isinstance(option, dict) and option.get("id") == "model":
                self.model = string(option.get("currentValue")) or self.model


class Sessions:
    """Every session of the connection. The first is the run that the context names; each later one is its own run."""

    def __init__(self, context: Context, format_name: str) -> None:
        self._context = context
        self._format = format_name
        self._sessions: dict[str, Session] = {}
        self.current: Session | None = None
        """The session of the last message that named one."""

    def enter(self, id: str) -> Session:
        """The session with this id, known from now on and the current one."""
        session = self._sessions.get(id)
        if session is None:
            run_id = run_id_of(self._format, id) if self._sessions else self._context.run_id
            session = self._sessions[id] = Session(id, run_id)
        self.current = session
        return session

    def all(self) -> list[Session]:
        """Every session, in the order of first appearance."""
        return list(self._sessions.values())
