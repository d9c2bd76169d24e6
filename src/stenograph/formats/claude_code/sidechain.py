"""The inline subagents of Claude Code 1.0: sidechain lines in the main file, separated by their chain of parents."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stenograph.formats.claude_code.record import SessionRecord
from stenograph.formats.shared.loose import string


class Sidechain(Struct, frozen=True):
    """One inline subagent, and the call that spawned it."""

    source: str
    parent_source: str | None = None
    parent_call_id: str | None = None


class Sidechains:
    """Every sidechain of a file, by the uuids of its lines.

    Only the prompt links a sidechain to its call, so calls are remembered by their prompt until a sidechain
    begins with the same text; of calls with equal prompts the oldest is taken.
    """

    def __init__(self) -> None:
        self._by_uuid: dict[str, Sidechain] = {}
        self._by_agent: dict[str, Sidechain] = {}
        self._calls: dict[str, list[tuple[str, str]]] = {}

    def announce(self, prompt: Any, call_id: str, source: str) -> None:
        """Remember a call that will begin a subagent with this prompt."""
        if isinstance(prompt, str):
            self._calls.setdefault(prompt, []).append((call_id, source))

    def of(self, record: SessionRecord, prompt: str, line: int) -> Sidechain:
        """The sidechain of a line; a line whose parent is in none of them begins one."""
        agent_id = string(record.agent_id)
        uuid = string(record.uuid)
        parent = string(record.parent_uuid) or string(record.logical_parent_uuid)
        chain = self._by_uuid.get(parent or "") if agent_id is None else self._by_agent.get(agent_id)
        if chain is None:
            chain = self._begun(agent_id or _short(uuid or parent or f"line-{line}"), prompt)
            if agent_id is not None:
                self._by_agent[agent_id] = chain
        if uuid is not None and agent_id is None:
            self._by_uuid[uuid] = chain
        return chain

    def _begun(self, agent_id: str, prompt: str) -> Sidechain:
        calls = self._calls.get(prompt)
        if not calls:
            return Sidechain(f"subagent:{agent_id}")
        call_id, source = calls.pop(0)
        return Sidechain(f"subagent:{agent_id}", source, call_id)


def _short(uuid: str) -> str:
    """The first eight digits, as 2.0 names its agents."""
    return uuid[:8] if len(uuid) == 36 else uuid
