"""Messages of the app server to events.

Theory of operation. Text that streams in deltas waits until its item completes, which repeats it whole; what never
completes (an interrupted turn, a dropped stream, the end of the recording) is emitted from the deltas, under the line
of the last one. A tool item is a call when it starts and a result when it completes. Three things are sent twice and
emitted once: what the client says (`turn/start`, then `userMessage`), a dynamic tool (its item, then the request to the
client and its response), and the error that ends a turn (`error`, then `turn/completed`). Threads interleave: each is a
run of its own, so every message is first placed in the run of its thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.codex_app_server import item as items
from stenograph.formats.codex_app_server.detection import thread_id_of, thread_object_of
from stenograph.formats.codex_app_server.item import TOOLS, item_of
from stenograph.formats.codex_app_server.message import message_of, seen_message, sent_at
from stenograph.formats.codex_app_server.notice import answer, error_of, is_known, notice
from stenograph.formats.codex_app_server.pending import Answer, LinePlace, Prompts, Requests, Stream
from stenograph.formats.codex_app_server.threads import Thread, Threads
from stenograph.formats.codex_app_server.usage import answer_key, is_nothing, usage_of
from stenograph.formats.codex_rollout.usage import answer_id
from stenograph.formats.shared.content import seen_by_us
from stenograph.formats.shared.jsonrpc import RpcMessage
from stenograph.formats.shared.loose import a_str, small, time_text
from stenograph.formats.shared.tool_definitions import ToolDefinitions
from stenograph.model.block import Fidelity
from stenograph.model.event import Event
from stenograph.model.payload import ErrorPayload, SystemPayload, UnknownPayload

_SPOKEN = {"agentMessage", "reasoning"}
_WHOLE_LATER = {"userMessage", "agentMessage", "reasoning", "contextCompaction"}
"""Items whose completion repeats everything in their start."""

_INSTRUCTING = {"thread/start", "thread/resume", "thread/fork"}
"""Requests that may carry instructions for their thread."""

_DELTAS = {
    "item/agentMessage/delta": ("agentMessage", "", ""),
    "item/reasoning/delta": ("reasoning", "summary", "summaryIndex"),
    "item/reasoning/summaryPartAdded": ("reasoning", "summary", "summaryIndex"),
    "item/reasoning/summaryTextDelta": ("reasoning", "summary", "summaryIndex"),
    "item/reasoning/textDelta": ("reasoning", "content", "contentIndex"),
    "item/commandExecution/outputDelta": ("item/commandExecution/outputDelta", "", ""),
    "item/fileChange/outputDelta": ("item/fileChange/outputDelta", "", ""),
    "item/plan/delta": ("item/plan/delta", "", ""),
}
"""Methods of deltas: the kind of their item, the group of its texts, and the parameter with the number of the text."""

_OLD_DUPLICATES = {
    "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break", "error",
    "exec_command_begin", "exec_command_end", "item_completed", "item_started", "mcp_tool_call_begin",
    "mcp_tool_call_end", "patch_apply_begin", "patch_apply_end", "stream_error", "task_complete", "task_started",
    "token_count", "turn_aborted", "turn_diff", "user_message", "web_search_begin", "web_search_end",
}  # fmt: skip
"""Until 0.98 every event is also sent in the old form, `codex/event/<type>`; these add nothing."""


class CodexAppServerFormat(LineFormat):
    """The messages of one connection, or of several that one recording holds."""

    name = "codex_app_server"

    def __init__(self, context: Context, *, owns_tools: bool = False) -> None:
        """`owns_tools`: the caller is the client that runs dynamic tools; it saw their calls and the prompts itself."""
        super().__init__(context)
        self._owns_tools = owns_tools
        self._fidelity: Fidelity = "router" if owns_tools else "agent_emitted"
        self._threads = Threads(context, self.name)
        self._thread: Thread | None = None
        self._requests = Requests()
        self._prompts = Prompts()
        self._streams: dict[tuple[str, str], Stream] = {}
        self._calls: dict[tuple[str, str], Answer] = {}
        """Tool calls, by thread and item: whether they were answered, and by which message."""
        self._announced: dict[tuple[str, str], tuple[LinePlace, dict[str, Any]]] = {}
        """Calls of dynamic tools that an item announced; the request to the client follows."""
        self._failing: dict[str, tuple[LinePlace, ErrorPayload]] = {}
        """Errors that end a turn, by turn: emitted from here only if no `turn/completed` repeats them."""
        self._answers: dict[str, str] = {}
        """The keys (`answer_key`) of answers whose usage was emitted, each with the `message_id` of that usage."""
        self._tools = ToolDefinitions()
        self._is_v2 = False
        self._latest: Any = None
        """When the last delta was sent: the time of the next message if that has none."""

    def _map(self, record: Any) -> None:
        if record.__class__ is dict and record.get("method").__class__ is str and record["method"] in _DELTAS:
            self._delta(record)  # most lines are deltas, so they take the fast path
            return
        message = message_of(record)
        if message is not None and message.method in _DELTAS:
            self._delta(record["msg"])
        else:
            self._act(record, message)

    def feed_message(
        self, value: Any, *, line: bytes, direction: str, seconds: float, process: int, replaced: int = 0
    ) -> list[Event]:
        """The events of a message that a client sent or received; the other arguments are what a recording would add.

        `value` is the decoded line; `replaced` is the number of its characters that are not valid UTF-8.
        """
        self.report.bytes += len(line)
        self.report.lines += 1
        self.report.replaced += replaced
        self._raw = line if self.context.keep_raw else None

        def act(value: Any) -> None:
            message = seen_message(value, direction, process, seconds)
            if message is not None and message.method in _DELTAS:
                self._delta(value)
            else:
                self._act(value, message)

        self._guarded(act, value)
        return self._taken()

    def _act(self, record: Any, message: RpcMessage | None) -> None:
        """Emit the events of a message; an unknown one is kept as `record`."""
        if message is None:
            self._unknown(record)
            return
        self._enter(message)
        if message.exit is not UNSET:
            self._give_up(message, everywhere=True)
            self._exited(message.exit)
        elif not message.method:
            self._response(message)
        elif message.id is not None or message.from_client or message.method in _REQUESTS:
            self._requests.ask(message)
            _REQUESTS.get(message.method, CodexAppServerFormat._request)(self, record, message)
        else:
            self._notification(record, message)

    def _exited(self, exit_info: Any) -> None:
        """The end of the server process; an error when the recording says so."""
        why = a_str(exit_info.get("error")) if isinstance(exit_info, dict) else ""
        if why:
            data = {key: value for key, value in exit_info.items() if key != "error"}
            self._emit("error", ErrorPayload(message=why, code="exit", data=data or None))
        else:
            self._emit("system.event", SystemPayload(subtype="exit", data=exit_info))

    # Where a message belongs.

    def _enter(self, message: RpcMessage) -> None:
        """Place the events of this message in the run of its thread."""
        description = thread_object_of(message)
        if description:
            result = message.result if isinstance(message.result, dict) else {}
            self._threads.learn(description, result.get("model"), result.get("serviceTier"))
        thread_id = thread_id_of(message)
        if thread_id is not None:
            self._threads.current = self._thread = self._threads.get(thread_id)
        elif message.method.startswith(("item/", "turn/")) or message.method == "error":
            self._thread = self._threads.current
        else:
            self._thread = None
        if self._latest is not None and message.milliseconds is None:
            self._timestamp, self._time = time_text(self._latest) or self._timestamp, "inherited"
        self._latest = None
        self._place_in(self._thread, message.time)

    def _place_in(self, thread: Thread | None, time: str | None) -> None:
        context = self.context
        self._run_id = context.run_id if thread is None else thread.run_id
        self._parent_run_id = context.parent_run_id if thread is None else thread.parent_run_id
        self._place(time, session_id=None if thread is None else thread.id)

    @property
    def _thread_id(self) -> str:
        return "" if self._thread is None else self._thread.id

    @property
    def _model(self) -> str | None:
        return None if self._thread is None else self._thread.model

    @property
    def _service_tier(self) -> str | None:
        return None if self._thread is None else self._thread.service_tier

    # Requests and responses, of either side.

    def _request(self, record: Any, message: RpcMessage) -> None:
        if is_known(message.method) or message.method.startswith(("item/", "turn/")):
            self._emit("system.event", notice(message.method, message.params))
        else:
            self._unknown(record, message.method)

    def _prompt(self, record: Any, message: RpcMessage) -> None:
        """`turn/start` and `turn/steer`: a prompt of the client."""
        params = message.params
        prompt = items.user_message(params.get("input"), params.get("clientUserMessageId"))
        self._prompts.say(self._thread_id, prompt)
        thread = self._thread
        if thread is not None and a_str(params.get("model")):
            thread.model = a_str(params.get("model"))
        if thread is not None and a_str(params.get("serviceTier")):
            thread.service_tier = a_str(params.get("serviceTier"))
        if thread is not None and thread.instructions:
            prompt, thread.instructions = items.instructed(prompt, thread.instructions), None
        self._emit("message.user", seen_by_us(prompt) if self._owns_tools else prompt)

    def _bridged_call(self, record: Any, message: RpcMessage) -> None:
        """`item/tool/call`: the server asks the client to run a tool; since 0.144 an item announces it just before."""
        call = items.bridged_call(message.params, self._fidelity)
        key = (self._thread_id, call.call_id)
        self._announced.pop(key, None)
        if self._calls.get(key) == "open":
            self._accumulate()
            return
        self._calls[key] = "open"
        self._emit("tool.call", call)

    def _response(self, message: RpcMessage) -> None:
        request = self._requests.answered_by(message)
        method = "" if request is None else request.method
        if request is not None and thread_id_of(message) is None and thread_id_of(request) is not None:
            self._thread = self._threads.get(thread_id_of(request) or "")
            self._place_in(self._thread, message.time)
        if request is not None and self._thread is not None and method in _INSTRUCTING:
            self._thread.instructions = a_str(request.params.get("developerInstructions")) or None
        failure = error_of(message.error, method=method or None) if message.error is not UNSET else None
        if request is not None and method == "item/tool/call":
            result = message.result if message.result is not UNSET else None
            key = (self._thread_id, a_str(request.params.get("callId")))
            self._calls[key] = "client"
            said = None if failure is None else failure.message
            self._emit("tool.result", items.bridged_result(request.params, result, said, self._fidelity))
        elif failure is not None:
            self._emit("error", failure)
        else:
            self._emit("system.event", answer(f"{method}/response" if method else "response", message.result))
            if request is not None and method in _INSTRUCTING:
                self._define(request.params.get("dynamicTools"))

    def _define(self, tools: Any) -> None:
        """Emit the tools that the client offers its thread."""
        definitions = self._tools.changed(tools)
        if definitions is not None:
            self._emit("system.event", definitions)

    # Notifications.

    def _notification(self, record: Any, message: RpcMessage) -> None:
        method = message.method
        act = _NOTIFICATIONS.get(method)
        self._is_v2 = self._is_v2 or act is not None or method.startswith("thread/")
        if act is not None:
            act(self, record, message)
        elif method.startswith("codex/event/"):
            self._old_event(message)
        elif is_known(method):
            self._emit("system.event", notice(method, message.params))
        else:
            self._unknown(record, method)

    def _started(self, record: Any, message: RpcMessage) -> None:
        item = item_of(message.params)
        kind, item_id = a_str(item.get("type")), a_str(item.get("id"))
        if kind == "dynamicToolCall" and self._owns_tools:
            place = LinePlace(self._thread, self.report.lines, message.milliseconds)
            self._announced[self._thread_id, item_id] = place, item
            self._accumulate()
        elif kind in TOOLS:
            self._calls[self._thread_id, item_id] = "open"
            self._emit("tool.call", items.call_of(item))
        elif kind in _WHOLE_LATER:
            if kind in _SPOKEN:
                self._stream(kind, item_id, message.milliseconds)
            self._accumulate()
        else:
            self._other_item(record, message, item, kind)

    def _completed(self, record: Any, message: RpcMessage) -> None:
        item = item_of(message.params)
        kind, item_id = a_str(item.get("type")), a_str(item.get("id"))
        stream = self._streams.pop((self._thread_id, item_id), None)
        if kind in TOOLS:
            self._tool_completed(item, item_id, stream)
        elif kind == "agentMessage":
            said = a_str(item.get("text")) or ("" if stream is None else stream.whole())
            self._emit("message.assistant", items.agent_message(said, item_id, self._model))
        elif kind == "reasoning":
            self._thought(item, item_id, stream)
        elif kind == "userMessage":
            self._user_item(item, item_id)
        elif kind == "contextCompaction":
            self._emit("system.event", SystemPayload(subtype="compaction", data=small([("id", item_id or None)])))
        else:
            self._other_item(record, message, item, kind)

    def _tool_completed(self, item: dict[str, Any], item_id: str, stream: Stream | None) -> None:
        key = (self._thread_id, item_id)
        before = self._calls.get(key)
        self._calls[key] = "item"
        self._announced.pop(key, None)
        if before == "client":
            self._accumulate()
            return
        if before is None:
            self._emit("tool.call", items.call_of(item))
        result = items.result_payload(item, None if stream is None else stream.whole())
        self._emit("tool.result", result, child_run_id=self._spawned(item))

    def _spawned(self, item: dict[str, Any]) -> str | None:
        """The run that this item began, if any; its parent is known from now on."""
        children: Any = ()
        if item.get("tool") == "spawnAgent":
            children = item.get("receiverThreadIds")
        elif item.get("kind") == "started":
            children = [item.get("agentThreadId")]
        run_id = None
        for child in children if isinstance(children, list) else ():
            thread = self._threads.adopt(child, self._thread_id)
            if thread is not None:
                thread.model = thread.model or a_str(item.get("model")) or None
                run_id = run_id or thread.run_id
        return run_id

    def _thought(self, item: dict[str, Any], item_id: str, stream: Stream | None) -> None:
        summary, content = item.get("summary"), item.get("content")
        if not summary and not content and stream is not None:
            summary, content = stream.texts("summary"), stream.texts("content")
        self._emit("message.assistant", items.reasoning(summary, content, item_id, self._model))

    def _reasoned(self, record: Any, message: RpcMessage) -> None:
        """`item/reasoning/completed`, the documented flat shape."""
        item = item_of(message.params)
        item_id = a_str(item.get("id")) or a_str(message.params.get("itemId"))
        stream = self._streams.pop((self._thread_id, item_id), None)
        if "summary" not in item and "text" in item:
            item = item | {"summary": item["text"]}
        self._thought(item, item_id, stream)

    def _user_item(self, item: dict[str, Any], item_id: str) -> None:
        """`userMessage`: the server repeats its client's message, or reports what another agent did."""
        repeated = items.user_message(item.get("content"), item_id)
        if self._prompts.is_echo(self._thread_id, item, repeated):
            self._accumulate()
        else:
            self._emit("message.user", repeated)

    def _other_item(self, record: Any, message: RpcMessage, item: dict[str, Any], kind: str) -> None:
        self.report.unknown_types[f"{message.method} {kind}".rstrip()] += 1
        self._emit("unknown", UnknownPayload(value=record), child_run_id=self._spawned(item))

    def _turn_started(self, record: Any, message: RpcMessage) -> None:
        turn = message.params.get("turn")
        if self._thread is not None and isinstance(turn, dict):
            self._threads.turn_began(self._thread, turn)
            self._parent_run_id = self._thread.parent_run_id
        self._unknown(record, message.method)

    def _turn_completed(self, record: Any, message: RpcMessage) -> None:
        self._give_up(message)
        turn = message.params.get("turn")
        turn = turn if isinstance(turn, dict) else message.params
        self._failing.pop(a_str(turn.get("id")), None)
        if turn.get("status") == "failed":
            self._emit("error", error_of(turn.get("error") or message.params.get("error")))
        else:
            self._unknown(record, message.method)

    def _failed(self, record: Any, message: RpcMessage) -> None:
        """`error`: a retry, or the announcement of a failed turn, whose end repeats it."""
        params = message.params
        will_retry, turn = params.get("willRetry"), a_str(params.get("turnId"))
        retryable = will_retry if isinstance(will_retry, bool) else None
        error = error_of(params.get("error"), retryable)
        self._give_up(message)
        if will_retry is False and turn:
            self._failing[turn] = LinePlace(self._thread, self.report.lines, message.milliseconds), error
            self._emit("system.event", SystemPayload(subtype="error", text=error.message))
        else:
            self._emit("error", error)

    def _usage(self, record: Any, message: RpcMessage) -> None:
        usage, turn = message.params.get("tokenUsage"), message.params.get("turnId")
        usage = usage if isinstance(usage, dict) else message.params
        if self._count(usage.get("last"), usage.get("total"), turn):
            return
        flat = usage_of(usage, "turn", self._model, a_str(turn) or None)
        if flat is None:
            self._unknown(record, message.method)
        else:
            self._emit("token.usage", flat)

    def _count(self, last: Any, total: Any, turn: Any) -> bool:
        """Emit the usage of the last answer, or the total so far where there is none; False where there is neither."""
        answer = answer_key(self._thread_id, turn, total)
        key = None if answer is None else self._answers.get(answer) or self._answer_id() or answer
        usage = usage_of(last, "call", self._model, key, self._service_tier)
        if usage is None or is_nothing(usage):
            usage = usage_of(total, "total", self._model)
        elif answer is not None and key is not None:
            self._answers[answer] = key
        if usage is not None:
            self._emit("token.usage", usage)
        return usage is not None

    def _answer_id(self) -> str | None:
        """The id of the answer that a new total belongs to, if raw events have named it."""
        if self._thread is None:
            return None
        answer, self._thread.response_id = self._thread.response_id, None
        return answer

    def _raw_response(self, record: Any, message: RpcMessage) -> None:
        """`rawResponse/completed`: the exact usage of one answer, with the answer's own id."""
        params = message.params
        response_id = answer_id(a_str(params.get("responseId")) or None, a_str(params.get("turnId")) or None)
        usage = usage_of(params.get("usage"), "call", self._model, response_id, self._service_tier)
        if usage is None:
            self._emit("system.event", notice(message.method, message.params))
            return
        if self._thread is not None:
            self._thread.response_id = response_id
        self._emit("token.usage", usage)

    def _rerouted(self, record: Any, message: RpcMessage) -> None:
        if self._thread is not None and a_str(message.params.get("toModel")):
            self._thread.model = a_str(message.params.get("toModel"))
        self._emit("system.event", notice(message.method, message.params))

    def _old_event(self, message: RpcMessage) -> None:
        """`codex/event/<type>`: the protocol before this one, sent beside it until 0.98."""
        event = message.params.get("msg")
        event = event if isinstance(event, dict) else {}
        kind = message.method.removeprefix("codex/event/")
        info = event.get("info")
        if kind == "token_count" and isinstance(info, dict):
            total, turn = info.get("total_token_usage"), message.params.get("id")
            is_new = answer_key(self._thread_id, turn, total) not in self._answers
            if is_new and self._count(info.get("last_token_usage"), total, turn):
                return
        if self._is_v2 and (kind in _OLD_DUPLICATES or kind.endswith("_delta")):
            self._accumulate()
        else:
            self._emit("system.event", notice(message.method, event))

    # Text that comes in pieces.

    def _delta(self, message: dict[str, Any]) -> None:
        kind, group, index = _DELTAS[message["method"]]
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        thread_id, item_id, piece = params.get("threadId"), params.get("itemId"), params.get("delta")
        if isinstance(thread_id, str) and thread_id:
            self._threads.current = self._threads.get(thread_id)
        self._thread = self._threads.current
        self._latest = sent_at(message.get("emittedAtMs"), params)
        stream = self._stream(kind, a_str(item_id), self._latest)
        stream.add(piece if isinstance(piece, str) else a_str(params.get("text")), group, params.get(index))
        self._accumulate()

    def _stream(self, kind: str, item_id: str, milliseconds: Any) -> Stream:
        key = (self._thread_id, item_id)
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = Stream(kind, item_id, LinePlace(self._thread, 0, None))
        stream.place.line = self.report.lines
        if milliseconds is not None:
            stream.place.milliseconds = milliseconds
        return stream

    def _give_up(self, message: RpcMessage, *, everywhere: bool = False) -> None:
        """A turn or the server ended, or an answer broke off: open streams will not be finished."""
        for key, stream in list(self._streams.items()):
            if (everywhere or key[0] == self._thread_id) and stream.kind in _SPOKEN:
                del self._streams[key]
                self._unfinished(stream)
        self._emit_unrequested([key for key in self._announced if everywhere or key[0] == self._thread_id])
        self._enter(message)

    def _emit_unrequested(self, keys: list[tuple[str, str]]) -> None:
        """Emit calls that an item announced and whose request to the client will not come."""
        for key in keys:
            place, item = self._announced.pop(key)
            self._calls[key] = "open"
            with self._under(place):
                self._emit("tool.call", items.call_of(item))

    @contextmanager
    def _under(self, place: LinePlace) -> Iterator[None]:
        """Emit something under the line that it comes from, not the one being read; `_enter` returns to that one."""
        kept = self._raw, self._timestamp, self._time
        self._raw = None
        self._place_in(place.thread, time_text(place.milliseconds))
        if self._origin is not None:
            self._origin = replace(self._origin, line=place.line or None)
        yield
        self._raw, self._timestamp, self._time = kept

    def _unfinished(self, stream: Stream) -> None:
        whole, thread = stream.whole(), stream.place.thread
        model = None if thread is None else thread.model
        if not whole:
            return
        with self._under(stream.place):
            if stream.kind == "agentMessage":
                self._emit("message.assistant", items.agent_message(whole, stream.item_id, model))
            elif stream.kind == "reasoning":
                summary, content = stream.texts("summary"), stream.texts("content")
                self._emit("message.assistant", items.reasoning(summary, content, stream.item_id, model))
            else:
                data = small([("itemId", stream.item_id or None)])
                self._emit("system.event", SystemPayload(subtype=stream.kind, text=whole, data=data))

    def _finish(self) -> None:
        for stream in self._streams.values():
            self._unfinished(stream)
        self._emit_unrequested(list(self._announced))
        for place, error in self._failing.values():
            with self._under(place):
                self._emit("error", error)
        self._streams, self._failing = {}, {}


_Act = Callable[[CodexAppServerFormat, Any, RpcMessage], None]

_REQUESTS: dict[str, _Act] = {
    "turn/start": CodexAppServerFormat._prompt,
    "turn/steer": CodexAppServerFormat._prompt,
    "item/tool/call": CodexAppServerFormat._bridged_call,
}

_NOTIFICATIONS: dict[str, _Act] = {
    "item/started": CodexAppServerFormat._started,
    "item/completed": CodexAppServerFormat._completed,
    "item/reasoning/completed": CodexAppServerFormat._reasoned,
    "turn/started": CodexAppServerFormat._turn_started,
    "turn/completed": CodexAppServerFormat._turn_completed,
    "error": CodexAppServerFormat._failed,
    "thread/tokenUsage/updated": CodexAppServerFormat._usage,
    "rawResponse/completed": CodexAppServerFormat._raw_response,
    "model/rerouted": CodexAppServerFormat._rerouted,
}
