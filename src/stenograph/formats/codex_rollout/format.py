"""Records of a rollout to events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Raw

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.codex_rollout import record as records
from stenograph.formats.codex_rollout.content import result_of, thinking_of, tool_name
from stenograph.formats.codex_rollout.duplicates import (
    DUPLICATES,
    NOTICES,
    QUIET_EVENTS,
    WaitingText,
    event_facts,
    item_facts,
    squeezed,
)
from stenograph.formats.codex_rollout.identity import parent_of, run_of
from stenograph.formats.codex_rollout.outcome import Outcomes, error_of_event, error_of_item
from stenograph.formats.codex_rollout.prompt import harness_subtype
from stenograph.formats.codex_rollout.record import EventMessage, Item, Meta, Record, TurnItem, loads
from stenograph.formats.codex_rollout.usage import answer_id, usage_of
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.attachment import attachment
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.content import blocks_of, texts_of
from stenograph.formats.shared.loose import small, string, tokens
from stenograph.formats.shared.tool_definitions import ToolDefinitions
from stenograph.model.block import Block, ToolUseBlock
from stenograph.model.payload import ErrorPayload, MessagePayload, SystemPayload, ToolPayload


class CodexRolloutFormat(LineFormat):
    """One rollout file: one thread, or one segment of it."""

    name = "codex_rollout"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._thread_id: str | None = None
        self._turn_id: str | None = None
        self._model: str | None = None
        self._outcomes = Outcomes()
        self._search_id: str | None = None
        """The id of a web search that ended; until 0.142 the call itself has no id."""
        self._has_records = False
        """Whether `token_usage_record`s report the usage, so that `token_count` only repeats it."""
        self._total: Any = None
        self._tools = ToolDefinitions()
        self._waiting: list[WaitingText] = []
        """Answers and thoughts in events: their response items follow, unless the stream broke off."""
        self._prompted = False
        """Whether a response item held a person's words since the last event that repeats them."""
        self._repeated = ""
        """The person's words that only an event held so far."""
        self._last: Any = None
        """The numbers of the last `token_count`: for the thread, and for its last answer."""
        self._service_tier: str | None = None

    def _decode(self, line: bytes) -> Any:
        return records.decode(line)

    def _convert(self, value: Any) -> Any:
        return records.convert(value)

    def _map(self, record: Record) -> None:
        if record.payload is None:
            self._place(record.timestamp, session_id=self._thread_id)
            self._unknown(record.whole(), record.type)
            return
        if record.type == "session_meta":
            self._know(record.payload)
            self._place(record.timestamp or record.payload.timestamp, session_id=self._thread_id)
        else:
            self._place(record.timestamp, session_id=self._thread_id)
        _LINES.get(record.type, CodexRolloutFormat._note)(self, record)

    # Lines.

    def _know(self, meta: Meta) -> None:
        """The first session_meta names the thread of this file; a second one was copied with a history."""
        if self._thread_id is not None:
            return
        self._thread_id = string(meta.id)
        self._has_records = meta.history_mode == "paginated"
        parent = parent_of(meta.parent_thread_id, meta.source)
        if self._parent_run_id is None:
            self._parent_run_id = run_of(parent)

    def _session_meta(self, record: Record) -> None:
        meta: Meta = record.payload
        names = meta.__struct_fields__
        data = small((name, getattr(meta, name)) for name in names if name not in ("timestamp", "dynamic_tools"))
        is_own = string(meta.id) == self._thread_id
        self._system("session_meta" if is_own else "copied_session_meta", data=data)
        self._define(loads(meta.dynamic_tools))

    def _turn_context(self, record: Record) -> None:
        turn = record.payload
        self._model = string(turn.model) or self._model
        self._turn_id = string(turn.turn_id) or self._turn_id
        self._system("turn_context", data=small((name, getattr(turn, name)) for name in turn.__struct_fields__))

    def _compacted(self, record: Record) -> None:
        compacted = record.payload
        data = small(
            [
                ("window_number", compacted.window_number),
                ("compaction_response_id", compacted.compaction_response_id),
            ]
        )
        self._system("compaction", string(compacted.message), data)

    def _usage_record(self, record: Record) -> None:
        self._has_records = True
        payload = record.payload
        key = answer_id(string(payload.response_id), string(payload.turn_id) or self._turn_id)
        usage = usage_of("call", payload.usage, self._model, key, self._service_tier)
        if usage is None:
            self._system("token_usage_record")
        else:
            self._emit("token.usage", usage)

    def _note(self, record: Record) -> None:
        note = record.payload
        facts = ("full", "trigger_turn", "call_id", "questions", "author", "recipient")
        text = "\n".join(texts_of(note.content)) or None
        self._system(record.type, text, small((name, getattr(note, name)) for name in facts))

    # Response items.

    def _response_item(self, record: Record) -> None:
        item: Item = record.payload
        kind = item.type or ("message" if isinstance(item.role, str) else "")
        handle = _ITEMS.get(kind)
        if handle is not None:
            handle(self, item)
        elif kind == "message":
            self._message(item, record.metadata)
        elif kind in _QUIET_ITEMS:
            self._system(kind, data=small([("id", item.id)]))
            if kind == "additional_tools":
                self._define(loads(item.tools))
        else:
            self._unknown(record.whole(), f"response_item/{kind}")

    def _message(self, item: Item, metadata: Raw) -> None:
        if item.role == "assistant":
            self._drop_waiting("agent_message", texts_of(item.content))
            if _is_compaction_output(metadata):
                self._system("compaction_summary", "\n".join(texts_of(item.content)))
            else:
                self._say("assistant", item, blocks_of(item.content))
            return
        texts = texts_of(item.content)
        if item.role == "user":
            subtype = harness_subtype(texts, loads(item.passthrough))
            if subtype is None:
                self._prompt(item, texts)
                return
        else:
            subtype = f"{string(item.role) or 'unknown'}_message"
        self._system(subtype, "\n".join(texts))

    def _prompt(self, item: Item, texts: list[str]) -> None:
        """Emit a person's words, unless an event held the same just before."""
        self._give_up_waiting()
        if self._repeated and squeezed("\n".join(texts)) == self._repeated:
            self._system("repeated", data=small([("id", item.id)]))
        else:
            self._say("user", item, blocks_of(item.content))
            self._prompted = True
        self._repeated = ""

    def _agent_message(self, item: Item) -> None:
        """A message between agents: from the parent it is the task, from others a system event."""
        author, recipient = string(item.author) or "", string(item.recipient) or ""
        if author and recipient.startswith(author + "/"):
            self._say("user", item, blocks_of(item.content))
        else:
            data = small([("author", item.author), ("recipient", item.recipient)])
            self._system("inter_agent_message", "\n".join(texts_of(item.content)), data)

    def _reasoning(self, item: Item) -> None:
        self._drop_waiting("agent_reasoning", [*texts_of(item.summary), *texts_of(item.content)])
        blocks = thinking_of(item.summary, item.content, id=item.id, encrypted=item.encrypted_content)
        self._say("assistant", item, blocks)

    def _function_call(self, item: Item) -> None:
        self._call(item, tool_name(item.name, item.namespace), arguments_of(item.arguments))

    def _custom_tool_call(self, item: Item) -> None:
        self._call(item, tool_name(item.name, item.namespace), item.input, kind="custom")

    def _local_shell_call(self, item: Item) -> None:
        self._call(item, "local_shell", item.action)

    def _tool_search_call(self, item: Item) -> None:
        self._call(item, "tool_search", arguments_of(item.arguments))

    def _web_search_call(self, item: Item) -> None:
        found, self._search_id = self._search_id, None
        if string(item.id) is None and found is not None:
            item.call_id = found
        self._call(item, "web_search", item.action, kind="server")

    def _image_generation_call(self, item: Item) -> None:
        """Emit a call that holds its result."""
        arguments = small([("revised_prompt", item.revised_prompt)])
        self._call(item, "image_generation", arguments, kind="server")
        if isinstance(item.result, str) and item.result:
            image = attachment("image/png", item.result)
            output, blocks = (item.result, None) if image is None else (None, (image,))
            self._result(self._call_id(item), output, blocks)

    def _call(self, item: Item, name: str, arguments: Any, kind: str | None = None) -> None:
        call_id = self._call_id(item)
        self._outcomes.called(call_id)
        block = ToolUseBlock(
            fidelity="agent_emitted",
            tool_name=name,
            tool_id=call_id,
            tool_input=arguments,
            namespace=string(item.namespace),
            kind=kind,
        )
        self._say("assistant", item, (block,))
        self._emit("tool.call", call_of(block))

    def _output(self, item: Item) -> None:
        output, blocks = result_of(item.output)
        said = item.success
        if said is None and isinstance(item.output, dict):
            said = item.output.get("success")
        self._result(self._call_id(item), output, blocks, "failed" if said is False else None)

    def _tool_search_output(self, item: Item) -> None:
        self._result(self._call_id(item), loads(item.tools), None)

    def _result(self, call_id: str, output: Any, blocks: tuple[Block, ...] | None, error: str | None = None) -> None:
        outcome = self._outcomes.answered(call_id)
        self._emit(
            "tool.result",
            ToolPayload(
                name="",
                call_id=call_id,
                input=None,
                output=output,
                error=outcome.error or error,
                fidelity="agent_emitted",
                duration_ms=outcome.duration_ms,
                blocks=blocks,
            ),
        )

    def _call_id(self, item: Item) -> str:
        """The id that links a call and its output; made of the line number if Codex has none."""
        return string(item.call_id) or string(item.id) or f"{item.type}_{self.report.lines}"

    # Event messages.

    def _event_msg(self, record: Record) -> None:
        event: EventMessage = record.payload
        handle = _EVENTS.get(event.type)
        if handle is not None:
            handle(self, event)
        elif event.type in DUPLICATES:
            self._duplicate(event)
        elif event.type in QUIET_EVENTS:
            self._emit_notice(event)
        else:
            self._unknown(record.whole(), f"event_msg/{event.type}")

    def _duplicate(self, event: EventMessage) -> None:
        """An event that repeats a response item: a person's words follow it, the model's come a few lines later."""
        words = string(event.message) or string(event.text) or ""
        if event.type != "user_message":
            self._system(event.type, words if words in NOTICES else None)
            if words and words not in NOTICES:
                self._waiting.append(WaitingText(event.type, words, self._origin, self._timestamp))
            return
        self._give_up_waiting()
        if self._prompted or not words:
            self._system(event.type)
        else:
            self._say("user", _NO_ITEM, blocks_of(words))
            self._repeated = squeezed(words)
        self._prompted = False

    def _drop_waiting(self, kind: str, texts: list[str]) -> None:
        """A response item holds these words: drop the waiting events that repeat them."""
        if self._waiting:
            text = squeezed("\n".join(texts))
            self._waiting = [each for each in self._waiting if each.type != kind or squeezed(each.text) not in text]

    def _give_up_waiting(self) -> None:
        """The turn has ended: emit the words that only events held, under their lines."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        here, raw, timestamp = self._origin, self._raw, self._timestamp
        self._raw = None
        for each in waiting:
            self._origin, self._timestamp = each.origin, each.timestamp
            blocks = blocks_of(each.text) if each.type == "agent_message" else thinking_of(each.text)
            self._say("assistant", _NO_ITEM, blocks)
        self._origin, self._raw, self._timestamp = here, raw, timestamp

    def _finish(self) -> None:
        self._give_up_waiting()

    def _emit_notice(self, event: EventMessage, child_run_id: str | None = None) -> None:
        """Emit an event that adds little or nothing."""
        text, facts = event_facts(event)
        self._system(event.type, text, small(facts), child_run_id=child_run_id)

    def _settings(self, event: EventMessage) -> None:
        if isinstance(event.thread_settings, dict):
            self._service_tier = string(event.thread_settings.get("service_tier"))
        self._emit_notice(event)

    def _turn_started(self, event: EventMessage) -> None:
        self._give_up_waiting()
        self._turn_id = string(event.turn_id) or self._turn_id
        self._emit_notice(event)

    def _turn_ended(self, event: EventMessage) -> None:
        self._give_up_waiting()
        self._emit_notice(event)
        if event.error is not None:
            self._fail(event.error)

    def _error(self, event: EventMessage) -> None:
        self._fail(event.error or {"message": event.message, "codex_error_info": event.codex_error_info})

    def _call_ended(self, event: EventMessage) -> None:
        self._outcomes.ended(event.call_id, error_of_event(event), event.duration)
        self._emit_notice(event)

    def _web_search_ended(self, event: EventMessage) -> None:
        self._search_id = string(event.call_id)
        self._emit_notice(event)

    def _agent_spawned(self, event: EventMessage) -> None:
        child = event.new_thread_id if event.type == "collab_agent_spawn_end" else event.agent_thread_id
        is_new = event.type == "collab_agent_spawn_end" or event.kind == "started"
        self._emit_notice(event, run_of(child) if is_new else None)

    def _item_completed(self, event: EventMessage) -> None:
        item = event.item or TurnItem()
        self._outcomes.ended(item.id, error_of_item(item), item.duration)
        text, facts = item_facts(item)
        if item.type == "WebSearch":
            self._search_id = string(item.id)
        if event.thread_id is not None and event.thread_id != self._thread_id:
            facts.append(("thread_id", event.thread_id))
        child = None
        if item.type == "SubAgentActivity" and item.kind == "started":
            child = run_of(item.agent_thread_id)
        elif item.type == "CollabAgentToolCall" and item.tool == "spawn_agent":
            children = item.receiver_thread_ids
            child = run_of(children[0]) if isinstance(children, list) and children else None
        self._system("item_completed", text, small(facts), child_run_id=child)

    def _token_count(self, event: EventMessage) -> None:
        """Emit usage, in files without usage records; equal numbers come two or three times, so only changes count."""
        info = None if self._has_records else loads(event.info)
        info = info if isinstance(info, dict) else {}
        total, last = info.get("total_token_usage"), info.get("last_token_usage")
        payload = usage_of("total", total, self._model)
        call = usage_of("call", last, self._model, self._usage_key(total), self._service_tier)
        if call is not None and call.input_tokens + call.output_tokens == 0:
            call = None
        # A few files have no totals; there the last call shows whether anything is new.
        is_repeated = total == self._total if payload is not None else last == self._last
        if is_repeated or (payload is None and call is None):
            self._system("token_count")
            return
        self._total, self._last = total, last
        for each in (call, payload):
            if each is not None:
                self._emit("token.usage", each)

    # What all of them use.

    def _usage_key(self, total: Any) -> str | None:
        """A key for a model call without an id: its turn (else its thread) and the total that it led to.

        A fork copies both, so the copy has the same key.
        """
        number = tokens(total.get("total_tokens")) if isinstance(total, dict) else None
        thread, turn = self._thread_id, self._turn_id or ""
        if number is None or (thread is None and not turn):
            return None
        # Turns without a UUID (none before 0.120) are not unique beyond their thread.
        return f"{turn}:{number}" if len(turn) == 36 else f"{thread}:{turn}:{number}"

    def _say(self, role: str, item: Item, blocks: tuple[Block, ...]) -> None:
        self._emit(
            f"message.{role}",
            MessagePayload(
                role=role,
                blocks=blocks,
                model=self._model if role == "assistant" else None,
                message_id=string(item.id),
            ),
        )

    def _system(
        self, subtype: str, text: str | None = None, data: Any = None, *, child_run_id: str | None = None
    ) -> None:
        self._emit(
            "system.event", SystemPayload(subtype=subtype, text=text or None, data=data), child_run_id=child_run_id
        )

    def _define(self, tools: Any) -> None:
        definitions = self._tools.changed(tools)
        if definitions is not None:
            self._emit("system.event", definitions)

    def _fail(self, error: Any) -> None:
        fields = error if isinstance(error, dict) else {"message": error}
        info = fields.get("codex_error_info") or fields.get("kind")
        code = next(iter(info), None) if isinstance(info, dict) else info
        self._emit(
            "error",
            ErrorPayload(
                message=string(fields.get("message")) or "Codex reported an error without a message",
                code=string(code),
                data=info if isinstance(info, dict) else None,
            ),
        )


_NO_ITEM = Item()


def _is_compaction_output(metadata: Raw) -> bool:
    value = loads(metadata)
    return isinstance(value, dict) and value.get("compaction_output") is True


_LINES: dict[str, Callable[[CodexRolloutFormat, Record], None]] = {
    "session_meta": CodexRolloutFormat._session_meta,
    "turn_context": CodexRolloutFormat._turn_context,
    "response_item": CodexRolloutFormat._response_item,
    "event_msg": CodexRolloutFormat._event_msg,
    "compacted": CodexRolloutFormat._compacted,
    "token_usage_record": CodexRolloutFormat._usage_record,
}
_ITEMS: dict[str, Callable[[CodexRolloutFormat, Item], None]] = {
    "reasoning": CodexRolloutFormat._reasoning,
    "function_call": CodexRolloutFormat._function_call,
    "function_call_output": CodexRolloutFormat._output,
    "custom_tool_call": CodexRolloutFormat._custom_tool_call,
    "custom_tool_call_output": CodexRolloutFormat._output,
    "local_shell_call": CodexRolloutFormat._local_shell_call,
    "tool_search_call": CodexRolloutFormat._tool_search_call,
    "tool_search_output": CodexRolloutFormat._tool_search_output,
    "web_search_call": CodexRolloutFormat._web_search_call,
    "image_generation_call": CodexRolloutFormat._image_generation_call,
    "agent_message": CodexRolloutFormat._agent_message,
}
_QUIET_ITEMS = {
    "additional_tools",
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
    "ghost_snapshot",
    "other",
}
_EVENTS: dict[str, Callable[[CodexRolloutFormat, EventMessage], None]] = {
    "item_completed": CodexRolloutFormat._item_completed,
    "token_count": CodexRolloutFormat._token_count,
    "thread_settings_applied": CodexRolloutFormat._settings,
    "task_started": CodexRolloutFormat._turn_started,
    "turn_started": CodexRolloutFormat._turn_started,
    "task_complete": CodexRolloutFormat._turn_ended,
    "turn_complete": CodexRolloutFormat._turn_ended,
    "turn_aborted": CodexRolloutFormat._turn_ended,
    "error": CodexRolloutFormat._error,
    "exec_command_end": CodexRolloutFormat._call_ended,
    "patch_apply_end": CodexRolloutFormat._call_ended,
    "mcp_tool_call_end": CodexRolloutFormat._call_ended,
    "dynamic_tool_call_response": CodexRolloutFormat._call_ended,
    "web_search_end": CodexRolloutFormat._web_search_ended,
    "sub_agent_activity": CodexRolloutFormat._agent_spawned,
    "collab_agent_spawn_end": CodexRolloutFormat._agent_spawned,
}
