"""The threads of one connection: their runs, parents and models."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stenograph.formats.base import Context, run_id_of
from stenograph.formats.codex_app_server.detection import parent_of


class Thread(Struct):
    """One thread, as far as it is known."""

    id: str
    run_id: str
    parent_run_id: str | None = None
    model: str | None = None
    service_tier: str | None = None
    instructions: str | None = None
    """Instructions that the client sent for the thread, until they are emitted with a prompt."""
    response_id: str | None = None
    """The id of the model's last answer, from raw events; None once its usage was emitted."""


class Threads:
    """Every thread of the connection.

    The first is the run that the context names; each later one is a run of its own. An item of the parent announces a
    child, maybe after the child's first notification: until then its parent is not known.
    """

    def __init__(self, context: Context, format_name: str) -> None:
        self._context = context
        self._format = format_name
        self._threads: dict[str, Thread] = {}
        self._turns: dict[str, str] = {}
        self.current: Thread | None = None
        """The thread of the last message that named one; the messages of 0.63 mostly do not."""

    def get(self, id: str) -> Thread:
        """The thread with this id, known from now on."""
        thread = self._threads.get(id)
        if thread is None:
            if self._threads:
                thread = Thread(id, run_id_of(self._format, id))
            else:
                thread = Thread(id, self._context.run_id, self._context.parent_run_id)
            self._threads[id] = thread
        return thread

    def learn(self, description: dict[str, Any], model: Any, service_tier: Any) -> None:
        """Take the fields of a thread object; `model` and `serviceTier` stand beside it in responses."""
        thread_id = description.get("id")
        if not isinstance(thread_id, str) or not thread_id:
            return
        thread = self.get(thread_id)
        for name in (description.get("model"), model):
            if isinstance(name, str) and name:
                thread.model = name
        if isinstance(service_tier, str) and service_tier:
            thread.service_tier = service_tier
        self.adopt(thread_id, parent_of(description))

    def adopt(self, child: Any, parent: Any) -> Thread | None:
        """Set the parent of a thread; the first call counts."""
        if not isinstance(child, str) or not child or not isinstance(parent, str) or not parent or child == parent:
            return None
        thread = self.get(child)
        if thread.parent_run_id is None:
            known = self._threads.get(parent)
            thread.parent_run_id = run_id_of(self._format, parent) if known is None else known.run_id
        return thread

    def turn_began(self, thread: Thread, turn: dict[str, Any]) -> None:
        """A child's turns name the root turn that they belong to, which shows the parent when no item did."""
        turn_id, root = turn.get("id"), turn.get("rootTurnId")
        if isinstance(turn_id, str) and isinstance(root, str):
            self._turns[turn_id] = thread.id
            self.adopt(thread.id, self._turns.get(root))
