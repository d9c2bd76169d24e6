"""The status of a run, in one of six words, from its events and from what is known about its process.

Theory of operation. What the events say is state that grows event by event, can be stored, and needs no clock. Whether
the run is alive is determined by the reader of the status, who passes it as a `Life`. Only the main agent's events
count; the end of a subagent is not the end of its run.

- `running`: something was begun and not ended, and the run is alive.
- `waiting`: a question to a person is open; or the turn ended and the agent's process is alive.
- `finished`: the last turn ended, or the run says that it ended.
- `failed`: an error came after the last message, or the run says that it failed.
- `interrupted`: the user stopped it.
- `unknown`: none of these.
"""

from __future__ import annotations

from msgspec import Struct, field

from stenograph.fold.actions import asks_a_person
from stenograph.fold.agent_tables import tables_of
from stenograph.model.block import TextBlock, ToolUseBlock
from stenograph.model.event import Event
from stenograph.model.payload import ErrorPayload, LifecyclePayload, MessagePayload, SystemPayload, ToolPayload

RUNNING, WAITING, FINISHED, FAILED, INTERRUPTED, UNKNOWN = (
    "running",
    "waiting",
    "finished",
    "failed",
    "interrupted",
    "unknown",
)
STATUSES = (RUNNING, WAITING, FINISHED, FAILED, INTERRUPTED, UNKNOWN)
_GOES_ON = {"tool_use", "tool_calls", "tool-calls", "pause_turn", "function_call"}
"""Stop reasons after which the agent continues by itself."""
_REASON_LENGTH = 200
_WORKING, _ANSWERED, _ENDED = "working", "answered", "ended"


class Life(Struct, frozen=True, kw_only=True):
    """What is known about a run's process. By default, it is not known to be alive."""

    is_recent: bool = False
    """Something was written within the last hour."""
    has_process: bool = False
    """A living process holds the journal's lock or has the file open."""

    @property
    def is_alive(self) -> bool:
        """Whether there is any evidence that the run is alive."""
        return self.is_recent or self.has_process


NOT_KNOWN = Life()


class Verdict(Struct, frozen=True):
    """A status, and why."""

    status: str
    reason: str


class RunStatus(Struct, omit_defaults=True):
    """What the events of a run say about its end so far. It can be stored and loaded field by field."""

    last: str = ""
    """The main agent's last state: `working`, `answered`, `ended`, `failed` or `interrupted`; empty before any."""
    why: str = ""
    """The error, or the message at the end of the run."""
    is_announced: bool = False
    """The agent reports the end of a turn, so an answer alone does not end one."""
    announcers: list[str] = field(default_factory=list)
    """The adapters that announced their turn: another recorder of the same run may not announce turns."""
    is_open: bool = False
    """A `run.started` without its `run.completed`."""
    is_agents: bool = False
    """The last state is the agent's own, outside any step of a workflow."""
    questions: dict[str, str] = field(default_factory=dict)
    """Open questions to a person: the question, by the id of the call, or by the subtype."""

    def add(self, event: Event) -> None:
        """Take the next event of the run into account."""
        payload = event.payload
        if event.type == "run.started":
            self.is_open, self.last, self.is_agents = True, _WORKING, False
        elif event.type == "run.completed":
            error = payload.error if isinstance(payload, LifecyclePayload) else None
            self.is_open, self.is_agents = False, False
            self._set(FAILED if error else _ENDED, error or "the run has ended")
            self.questions.clear()
        elif event.source == "main":
            self._add_message(event)

    def verdict(self, life: Life = NOT_KNOWN) -> Verdict:
        """The status, by the events and by what is known about the process."""
        if self.is_open:
            return self._while_open(life)
        if self.questions:
            return Verdict(WAITING, f"{next(iter(self.questions.values()))} is not answered")
        return self._by_last_state(life)

    def _while_open(self, life: Life) -> Verdict:
        if self.questions and (life.is_alive or self.is_agents):
            return Verdict(WAITING, f"{next(iter(self.questions.values()))} is not answered")
        if life.is_alive:
            return Verdict(RUNNING, "the run has not ended")
        if self.is_agents and self.last != _WORKING:
            return self._by_last_state(life)
        return Verdict(UNKNOWN, "the run has not ended, and nothing shows that it lives")

    def _by_last_state(self, life: Life) -> Verdict:
        has_ended = self.last == _ENDED or (self.last == _ANSWERED and not self.is_announced)
        if has_ended and life.has_process:
            return Verdict(WAITING, "the turn has ended, and the agent's process is there")
        if has_ended:
            return Verdict(FINISHED, self.why or "the last turn has ended")
        if self.last == FAILED:
            return Verdict(FAILED, self.why or "it failed")
        if self.last == INTERRUPTED:
            return Verdict(INTERRUPTED, "the user stopped it")
        if self.last and life.is_alive:
            return Verdict(RUNNING, "the turn has not ended")
        if self.last:
            return Verdict(UNKNOWN, "the turn has not ended, and nothing shows that it lives")
        return Verdict(UNKNOWN, "nothing was said")

    def _add_message(self, event: Event) -> None:
        payload = event.payload
        adapter = None if event.origin is None else event.origin.adapter
        match payload:
            case MessagePayload() if not payload.is_chunk:
                is_stop = payload.role == "user" and _is_interruption(payload, tables_of(adapter).turns.interruptions)
                self._set(INTERRUPTED if is_stop else _word(payload))
                if adapter is not None:
                    self.is_announced = adapter in self.announcers
            case ToolPayload() if event.type == "tool.call":
                self._set(_WORKING)
                if payload.call_id and asks_a_person(event):
                    self.questions[payload.call_id] = payload.name
            case ToolPayload():
                self._set(_WORKING)
                self.questions.pop(payload.call_id, None)
            case ErrorPayload() if event.type == "error":
                is_stop = payload.code is not None and payload.code in tables_of(adapter).turns.interrupting_errors
                self._set(INTERRUPTED if is_stop else FAILED, payload.message)
            case SystemPayload():
                self._mark(adapter, payload)
            case _:
                return
        self.is_agents = adapter is not None and not event.path

    def _mark(self, adapter: str | None, payload: SystemPayload) -> None:
        turns = tables_of(adapter).turns
        match turns.mark(payload.subtype, payload.data):
            case "begins":
                self._set(_WORKING)
                self.is_announced = payload.subtype in turns.announced
                others = [name for name in self.announcers if name != (adapter or "")]
                self.announcers = [*others, *([adapter or ""] if self.is_announced else [])]
            case "ends":
                if self.last not in (FAILED, INTERRUPTED):
                    self._set(_ENDED)
                self.questions.clear()
            case "interrupts":
                self._set(INTERRUPTED)
                self.questions.clear()
            case "asks":
                self.questions[payload.subtype] = payload.subtype
            case "answers":
                self.questions.clear()

    def _set(self, word: str, why: str = "") -> None:
        self.last, self.why = word, why[:_REASON_LENGTH]


def _word(payload: MessagePayload) -> str:
    if payload.role == "user":
        return _WORKING
    is_calling = any(isinstance(block, ToolUseBlock) for block in payload.blocks)
    if is_calling or payload.stop_reason in _GOES_ON:
        return _WORKING
    if payload.stop_reason:
        return _ENDED
    return _ANSWERED if any(isinstance(block, TextBlock) for block in payload.blocks) else _WORKING


def _is_interruption(payload: MessagePayload, beginnings: tuple[str, ...]) -> bool:
    text = next((block.text for block in payload.blocks if isinstance(block, TextBlock)), "")
    return bool(beginnings) and text.startswith(beginnings)
