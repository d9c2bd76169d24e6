"""Messages of the protocol to events.

Theory of operation. Nothing in the protocol ends a message: its chunks are held until a call begins or ends, a prompt
or the end of the turn follows (or a chunk with another id), and then emitted under the line of the last one. A call
that is announced without its input is held until it begins, because some agents send the input only then; a request for
permission also begins it. Its updates replace one another, so they are held until it ends. Both sides number their
requests from the beginning, so a plain response is matched to the request that it can answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from stenograph.formats.acp.call import ENDED, Call
from stenograph.formats.acp.detection import session_id_of
from stenograph.formats.acp.harness_text import harness_text
from stenograph.formats.acp.message import message_of
from stenograph.formats.acp.session import PartialMessage, Session, Sessions, Where
from stenograph.formats.acp.usage import usage_of
from stenograph.formats.base import Context, LineFormat
from stenograph.formats.shared.content import blocks_of, texts_of
from stenograph.formats.shared.jsonrpc import RpcMessage
from stenograph.formats.shared.loose import small, string
from stenograph.model.payload import ErrorPayload, MessagePayload, SystemPayload

_METHODS = ("session/", "fs/", "terminal/", "elicitation/", "_")
_OTHER_METHODS = {"initialize", "authenticate", "logout"}
_NOTICES = {
    "available_commands_update", "config_option_update", "current_mode_update", "plan", "session_info_update",
    "usage_update",
}  # fmt: skip
"""Updates that are neither messages nor tool calls."""
_FACTS = (
    "title", "currentModeId", "modeId", "modelId", "used", "size", "cost", "cwd", "path", "command", "terminalId",
    "stopReason", "methodId", "configId", "value", "protocolVersion", "toolCallId", "status",
)  # fmt: skip
_ANSWERS_OF_AGENTS = {"stopReason", "sessionId", "protocolVersion", "agentCapabilities", "configOptions", "sessions"}


class AcpFormat(LineFormat):
    """The messages of one connection, of both directions or of the agent's alone."""

    name = "acp"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._sessions = Sessions(context, self.name)
        self._asked: dict[tuple[bool, int | str], tuple[str, str | None]] = {}
        """Requests that wait for their answer, by sender and id: method and session."""
        self._agent: str | None = None

    def _map(self, record: Any) -> None:
        message = message_of(record)
        if message is None:
            self._unknown(record)
        elif not message.method:
            self._response(message)
        elif message.method == "session/update":
            self._update(record, message)
        else:
            self._request(record, message)

    def _enter(self, message: RpcMessage, session_id: str | None) -> Session | None:
        """Place the events of this message in the run of its session."""
        session = None if session_id is None else self._sessions.enter(session_id)
        self._run_id = self.context.run_id if session is None else session.run_id
        self._place(message.time, session_id=session_id)
        return session

    # Requests and responses, of either side.

    def _request(self, record: Any, message: RpcMessage) -> None:
        session = self._enter(message, session_id_of(message))
        if message.id is not None:
            key = (message.from_client is True, message.id)
            self._asked[key] = message.method, None if session is None else session.id
        if message.method == "session/prompt" and session is not None:
            self._prompt(session, message.params)
        elif message.method == "session/request_permission" and session is not None:
            self._permission(session, message.params)
        elif message.method.startswith(_METHODS) or message.method in _OTHER_METHODS:
            self._notice(message.method, message.params)
        else:
            self._unknown(record, message.method)

    def _prompt(self, session: Session, params: dict[str, Any]) -> None:
        self._flush(session)
        blocks = blocks_of(params.get("prompt"))
        session.say("".join(texts_of(params.get("prompt"))))
        payload = MessagePayload(role="user", blocks=blocks, message_id=string(params.get("messageId")))
        self._emit("message.user", payload)

    def _permission(self, session: Session, params: dict[str, Any]) -> None:
        described = params.get("toolCall")
        described = described if isinstance(described, dict) else {}
        call = self._call(session, described)
        call.fill(described)
        if not call.is_emitted:
            self._emit_call(session, call)
        self._notice("session/request_permission", {**described, "title": call.title})

    def _response(self, message: RpcMessage) -> None:
        method, session_id = self._answered(message)
        result = message.result if isinstance(message.result, dict) else {}
        session_id = session_id_of(message) or session_id
        if session_id is None and method == "session/prompt" and self._sessions.current is not None:
            session_id = self._sessions.current.id
        session = self._enter(message, session_id)
        if message.error is not UNSET:
            self._failed(method, message.error)
            return
        if session is not None:
            session.learn(result)
            self._flush(session, string(result.get("stopReason")))
        if method == "initialize":
            self._introduced(result)
            return
        outcome = result.get("outcome")
        facts = outcome if isinstance(outcome, dict) else {}
        data = small((*((name, _plain(result.get(name))) for name in _FACTS), *facts.items()))
        subtype = f"{method}/response" if method else "response"
        self._emit("system.event", SystemPayload(subtype=subtype, text=string(outcome), data=data))
        usage = usage_of(result, self._agent, None if session is None else session.model)
        if usage is not None:
            self._emit("token.usage", usage)

    def _answered(self, message: RpcMessage) -> tuple[str, str | None]:
        """The method and session of the request that a response answers; by its shape if the request is missing."""
        assert message.id is not None
        by_client, by_agent = (True, message.id), (False, message.id)
        keys = message.result.keys() if isinstance(message.result, dict) else set()
        from_client = message.from_client
        if from_client is None:
            is_agents = by_client in self._asked and not _ANSWERS_OF_AGENTS.isdisjoint(keys)
            from_client = (
                by_agent in self._asked and not is_agents and ("outcome" in keys or by_client not in self._asked)
            )
        found = self._asked.pop(by_agent if from_client else by_client, None)
        if found is not None:
            return found
        shapes = {"stopReason": "session/prompt", "agentCapabilities": "initialize", "sessionId": "session/new"}
        return next((method for key, method in shapes.items() if key in keys), ""), None

    def _introduced(self, result: dict[str, Any]) -> None:
        """The agent says who it is."""
        info = result.get("agentInfo")
        info = info if isinstance(info, dict) else {}
        self._agent = string(info.get("name"))
        data = small((("agent", self._agent), ("version", string(info.get("version")))))
        self._emit("system.event", SystemPayload(subtype="initialize/response", data=data))

    def _failed(self, method: str, error: Any) -> None:
        error = error if isinstance(error, dict) else {"message": error}
        code = error.get("code")
        self._emit(
            "error",
            ErrorPayload(
                message=string(error.get("message")) or "failed",
                code=str(code) if isinstance(code, int | str) else None,
                data=small((("method", method or None), ("data", error.get("data")))),
            ),
        )

    def _notice(self, subtype: str, facts: dict[str, Any]) -> None:
        data = small((name, _plain(facts.get(name))) for name in _FACTS if name != "title")
        text = string(facts.get("title")) or _plan(facts.get("entries"))
        self._emit("system.event", SystemPayload(subtype=subtype, text=text, data=data))

    # Updates of a session.

    def _update(self, record: Any, message: RpcMessage) -> None:
        current = self._sessions.current
        session = self._enter(message, session_id_of(message) or ("" if current is None else current.id))
        update = message.params.get("update")
        update = update if isinstance(update, dict) else {}
        kind = string(update.get("sessionUpdate")) or ""
        act = _UPDATES.get(kind)
        if act is not None and session is not None:
            act(self, session, update)
        elif kind in _NOTICES:
            if session is not None:
                session.learn(update)
            self._notice(kind, update)
        else:
            self._unknown(record, f"session/update/{kind}")

    def _agent_text(self, session: Session, update: dict[str, Any]) -> None:
        harness = harness_text(self._agent, update.get("content"))
        if harness is None:
            self._chunk(session, "assistant", "text", update)
        else:
            self._flush(session)
            self._emit("error" if isinstance(harness, ErrorPayload) else "system.event", harness)

    def _agent_thought(self, session: Session, update: dict[str, Any]) -> None:
        self._chunk(session, "assistant", "thought", update)

    def _user_text(self, session: Session, update: dict[str, Any]) -> None:
        self._chunk(session, "user", "text", update)

    def _chunk(self, session: Session, role: str, kind: str, update: dict[str, Any]) -> None:
        partial, named = session.partial, string(update.get("messageId"))
        is_other = (
            partial is not None and partial.message_id is not None and kind == "text" and partial.message_id != named
        )
        if partial is None or partial.role != role or is_other:
            self._flush(session)
            partial = session.partial = PartialMessage(role, self._here())
        if kind == "text":  # OpenCode gives its thoughts ids of another kind
            partial.message_id = named
        partial.where = self._here()
        partial.add(kind, update.get("content"))
        self._accumulate()

    def _flush(self, session: Session, stop_reason: str | None = None) -> None:
        """Emit the message collected so far."""
        partial, session.partial = session.partial, None
        if partial is None:
            return
        if partial.role == "user" and partial.text() == session.prompt:
            return  # the agent repeats the prompt
        model = session.model if partial.role == "assistant" else None
        payload = MessagePayload(
            role=partial.role,
            blocks=partial.blocks(),
            model=model,
            message_id=partial.message_id,
            stop_reason=stop_reason if partial.role == "assistant" else None,
        )
        with self._under(partial.where):
            self._emit(f"message.{partial.role}", payload)

    # Calls.

    def _call(self, session: Session, update: dict[str, Any]) -> Call:
        """The call that an update is about; a new one ends the current message."""
        call_id = string(update.get("toolCallId")) or ""
        call = session.calls.get(call_id)
        if call is None:
            self._flush(session)
            call = session.calls[call_id] = Call(call_id)
        return call

    def _announced(self, session: Session, update: dict[str, Any]) -> None:
        """A new call; the id of an answered call may be used again."""
        known = session.calls.get(string(update.get("toolCallId")) or "")
        if known is not None and known.is_done:
            del session.calls[known.id]
        self._progress(session, update)

    def _progress(self, session: Session, update: dict[str, Any]) -> None:
        call = self._call(session, update)
        if call.is_done:
            self._late(call, update)
            return
        before = call.input
        call.take(update)
        if not call.is_emitted and call.is_begun:
            self._emit_call(session, call)
        elif call.is_emitted and call.input != before:
            data = {"toolCallId": call.id, "rawInput": call.input}
            self._emit("system.event", SystemPayload(subtype="tool_call_update", data=data))
        elif call.status not in ENDED:
            if not call.is_emitted:
                session.held[call.id] = self._here()
            self._accumulate()
        if call.status in ENDED:
            self._end(session, call)

    def _end(self, session: Session, call: Call) -> None:
        """A call has its result, so the next words are another message."""
        self._flush(session)
        call.is_done = True
        self._of_agent(call)
        self._emit("tool.result", call.result())

    def _late(self, call: Call, update: dict[str, Any]) -> None:
        """Emit what an update adds to a call that already has its result, if anything."""
        before = call.output, call.content
        call.take(update)
        added = [("rawOutput", call.output), ("content", call.content)]
        new = [pair for pair, old in zip(added, before, strict=True) if pair[1] != old]
        data = small([("toolCallId", call.id or None), *new])
        self._emit("system.event", SystemPayload(subtype="tool_call_update" if new else "repeated", data=data))

    def _emit_call(self, session: Session, call: Call) -> None:
        session.held.pop(call.id, None)
        call.is_emitted = True
        self._of_agent(call)
        self._emit("tool.call", call.call())

    def _of_agent(self, call: Call) -> None:
        """Place a call with the subagent that made it."""
        if call.agent_id is not None and self._origin is not None:
            self._origin = replace(self._origin, source=f"subagent:{call.agent_id}", parent_source="main")

    # Under which line.

    def _here(self) -> Where:
        return Where(self._origin, self._timestamp, self._run_id)

    @contextmanager
    def _under(self, where: Where) -> Iterator[None]:
        """Emit something under the line that it comes from, which then counts as having an event."""
        self.report.accumulated -= 1
        here, raw = self._here(), self._raw
        self._origin, self._timestamp, self._run_id, self._raw = where.origin, where.timestamp, where.run_id, None
        yield
        self._origin, self._timestamp, self._run_id, self._raw = here.origin, here.timestamp, here.run_id, raw

    def _finish(self) -> None:
        for session in self._sessions.all():
            self._flush(session)
            for call_id, where in list(session.held.items()):
                with self._under(where):
                    self._emit_call(session, session.calls[call_id])


_UPDATES: dict[str, Callable[[AcpFormat, Session, dict[str, Any]], None]] = {
    "agent_message_chunk": AcpFormat._agent_text,
    "agent_thought_chunk": AcpFormat._agent_thought,
    "user_message_chunk": AcpFormat._user_text,
    "tool_call": AcpFormat._announced,
    "tool_call_update": AcpFormat._progress,
}


def _plain(value: Any) -> Any:
    """A fact that is short enough to repeat beside the raw line."""
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if isinstance(each, str | int | float)} or None
    return value if isinstance(value, str | int | float) else None


def _plan(entries: Any) -> str | None:
    """A plan as a list that people tick off."""
    if not isinstance(entries, list):
        return None
    steps = [step for step in entries if isinstance(step, dict)]
    return "\n".join(f"[{'x' if step.get('status') == 'completed' else ' '}] {step.get('content')}" for step in steps)
