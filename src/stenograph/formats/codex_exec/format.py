"""codex_exec: what `codex exec --json` prints.

Theory of operation. An item is a tool's call when it starts and its result when it completes; a tool item that only
completes is both. Items have no times, no turn and no prompt. Until 0.42 the program printed its settings, the prompt
and then events in another shape (`{"id", "msg"}`); both are read here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.codex_exec.detection import kind_of
from stenograph.formats.codex_rollout.content import result_of, thinking_of, tool_name
from stenograph.formats.codex_rollout.identity import run_of
from stenograph.formats.codex_rollout.outcome import failure, milliseconds
from stenograph.formats.codex_rollout.usage import usage_of
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.content import texts_of
from stenograph.formats.shared.loose import small, string
from stenograph.model.block import Block, TextBlock, ToolUseBlock
from stenograph.model.payload import ErrorPayload, MessagePayload, SystemPayload, ToolPayload


class CodexExecFormat(LineFormat):
    """One run of `codex exec --json`."""

    name = "codex_exec"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._thread_id: str | None = None
        self._model: str | None = None
        self._called: set[str] = set()
        self._nameless: dict[str, list[str]] = {}
        """Calls of items that have no id (before 0.42), by kind, oldest first."""
        self._total: Any = None

    def _map(self, record: Any) -> None:
        value = record if isinstance(record, dict) else {}
        if value.get("type") == "thread.started":
            self._thread_id = string(value.get("thread_id"))
        self._place(session_id=self._thread_id)
        kind = value.get("type")
        handle = _LINES.get(kind) if isinstance(kind, str) else None
        if handle is not None:
            handle(self, value)
        elif kind is None and isinstance(value.get("msg"), dict):
            self._message(value)
        elif kind is None and isinstance(value.get("prompt"), str):
            self._say("user", (TextBlock(fidelity="agent_emitted", text=value["prompt"]),))
        elif kind is None and "workdir" in value and "model" in value:
            self._model = string(value["model"])
            self._system("config", data=value)
        else:
            self._unknown(record, kind)

    # Lines.

    def _lifecycle(self, value: dict[str, Any]) -> None:
        self._system(value["type"], data=small([("thread_id", value.get("thread_id"))]))

    def _turn_completed(self, value: dict[str, Any]) -> None:
        """Emit its usage, which is the thread's so far, also when the thread was resumed or forked."""
        self._lifecycle(value)
        usage = usage_of("total", value.get("usage"), self._model)
        if usage is not None:
            self._emit("token.usage", usage)

    def _turn_failed(self, value: dict[str, Any]) -> None:
        error = value.get("error")
        self._fail(error.get("message") if isinstance(error, dict) else error)

    def _error(self, value: dict[str, Any]) -> None:
        """A retry or a warning; what ends a turn is repeated by `turn.failed`."""
        self._system("error", string(value.get("message")))

    def _item(self, value: dict[str, Any]) -> None:
        item = value.get("item")
        item = item if isinstance(item, dict) else {}
        kind = kind_of(item)
        if kind in _TOOLS:
            _PHASES[value["type"]](self, kind, item)
        elif kind in {"agent_message", "assistant_message"}:
            said = string(item.get("text")) or ""
            self._say("assistant", (TextBlock(fidelity="agent_emitted", text=said),))
        elif kind == "reasoning":
            self._say("assistant", thinking_of(item.get("text")))
        elif kind == "todo_list":
            self._system("todo_list", _todo_text(item.get("items")), small([("items", item.get("items"))]))
        elif kind == "error":
            self._error(item)
        else:
            self._unknown(value, f"{value['type']}/{kind}")

    def _started(self, kind: str, item: dict[str, Any]) -> None:
        call_id = string(item.get("id"))
        if call_id is None:
            call_id = f"{kind}_{self.report.lines}"
            self._nameless.setdefault(kind, []).append(call_id)
        self._call(_name(kind, item), call_id, _input(kind, item))

    def _updated(self, kind: str, item: dict[str, Any]) -> None:
        """Progress, repeated whole when the item completes."""
        self._accumulate()

    def _completed(self, kind: str, item: dict[str, Any]) -> None:
        call_id = string(item.get("id"))
        if call_id is None and self._nameless.get(kind):
            call_id = self._nameless[kind].pop(0)
        if call_id is None or call_id not in self._called:
            call_id = call_id or f"{kind}_{self.report.lines}"
            self._call(_name(kind, item), call_id, _input(kind, item))
        self._called.discard(call_id)
        output, blocks = _output(kind, item)
        said = texts_of(output) or [block.text for block in blocks or () if isinstance(block, TextBlock)]
        error = failure(
            item.get("status"),
            item.get("error"),
            exit_code=item.get("exit_code"),
            said=said if kind == "mcp_tool_call" else (),
        )
        children = item.get("receiver_thread_ids") if item.get("tool") == "spawn_agent" else None
        child = run_of(children[0]) if isinstance(children, list) and children else None
        self._result(_name(kind, item), call_id, output, blocks, error, child_run_id=child)

    # The shape of 0.42.

    def _message(self, value: dict[str, Any]) -> None:
        message = value["msg"]
        kind = string(message.get("type")) or ""
        call_id = string(message.get("call_id")) or f"{kind}_{self.report.lines}"
        text = string(message.get("message")) or string(message.get("text"))
        if kind in _BEGINNINGS:
            name, arguments = _begun(kind, message)
            self._call(name, call_id, arguments)
        elif kind in _ENDINGS:
            self._ended(kind, call_id, message)
        elif kind == "token_count":
            self._token_count(message.get("info"))
        elif kind == "error":
            self._fail(text)
        elif kind == "exec_command_output_delta":
            self._accumulate()  # the end of the command repeats its output whole
        elif kind == "agent_message" and str(value.get("id")).startswith("auto-compact"):
            self._system("compaction", text)
        elif kind == "agent_message":
            self._say("assistant", (TextBlock(fidelity="agent_emitted", text=text or ""),))
        elif kind in {"agent_reasoning", "agent_reasoning_raw_content"}:
            self._say("assistant", thinking_of(text))
        elif kind in _QUIET_MESSAGES:
            self._system(kind, text)
        else:
            self._unknown(value, f"msg/{kind}")

    def _ended(self, kind: str, call_id: str, message: dict[str, Any]) -> None:
        output, blocks, error = _ending(kind, message)
        name = _BEGINNINGS[kind.removesuffix("_end") + "_begin"]
        if kind == "mcp_tool_call_end":
            name = _mcp_name(message.get("invocation"))
        if call_id not in self._called:
            self._call(name, call_id, _begun(kind.removesuffix("_end") + "_begin", message)[1])
        self._called.discard(call_id)
        duration = milliseconds(message.get("duration"))
        self._result(name, call_id, output, blocks, error, duration_ms=duration)

    def _token_count(self, info: Any) -> None:
        """Emit the total when it changed: equal numbers come twice, and nothing names their model call."""
        total = info.get("total_token_usage") if isinstance(info, dict) else None
        usage = usage_of("total", total, self._model)
        if usage is None or total == self._total:
            self._system("token_count")
            return
        self._total = total
        self._emit("token.usage", usage)

    # What both use.

    def _call(self, name: str, call_id: str, arguments: Any) -> None:
        self._called.add(call_id)
        kind = "server" if name == "web_search" else None
        block = ToolUseBlock(fidelity="agent_emitted", tool_name=name, tool_id=call_id, tool_input=arguments, kind=kind)
        self._say("assistant", (block,))
        self._emit("tool.call", call_of(block))

    def _result(
        self,
        name: str,
        call_id: str,
        output: Any,
        blocks: tuple[Block, ...] | None,
        error: str | None,
        *,
        duration_ms: float | None = None,
        child_run_id: str | None = None,
    ) -> None:
        payload = ToolPayload(
            name=name,
            call_id=call_id,
            input=None,
            output=output,
            error=error,
            fidelity="agent_emitted",
            duration_ms=duration_ms,
            blocks=blocks,
        )
        self._emit("tool.result", payload, child_run_id=child_run_id)

    def _say(self, role: str, blocks: tuple[Block, ...]) -> None:
        """Emit a message without an id: `item_N` starts again in every process, so a resumed thread has each twice."""
        model = self._model if role == "assistant" else None
        self._emit(f"message.{role}", MessagePayload(role=role, blocks=blocks, model=model))

    def _system(self, subtype: str, text: str | None = None, data: Any = None) -> None:
        self._emit("system.event", SystemPayload(subtype=subtype, text=text, data=data))

    def _fail(self, message: Any) -> None:
        self._emit("error", ErrorPayload(message=string(message) or "Codex reported an error without a message"))


_LINES: dict[str, Callable[[CodexExecFormat, dict[str, Any]], None]] = {
    "thread.started": CodexExecFormat._lifecycle,
    "turn.started": CodexExecFormat._lifecycle,
    "turn.completed": CodexExecFormat._turn_completed,
    "turn.failed": CodexExecFormat._turn_failed,
    "error": CodexExecFormat._error,
    "item.started": CodexExecFormat._item,
    "item.updated": CodexExecFormat._item,
    "item.completed": CodexExecFormat._item,
}
_PHASES: dict[str, Callable[[CodexExecFormat, str, dict[str, Any]], None]] = {
    "item.started": CodexExecFormat._started,
    "item.updated": CodexExecFormat._updated,
    "item.completed": CodexExecFormat._completed,
}
_TOOLS = {"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"}
_BEGINNINGS = {
    "exec_command_begin": "exec_command",
    "patch_apply_begin": "apply_patch",
    "mcp_tool_call_begin": "mcp",
    "web_search_begin": "web_search",
}
"""Events of 0.42 that begin a call, with the tool's name."""
_ENDINGS = {begin.removesuffix("_begin") + "_end" for begin in _BEGINNINGS}
_QUIET_MESSAGES = {
    "agent_reasoning_section_break",
    "background_event",
    "mcp_list_tools_response",
    "plan_update",
    "session_configured",
    "shutdown_complete",
    "stream_error",
    "task_complete",
    "task_started",
    "turn_aborted",
    "turn_diff",
    "user_message",
}


def _name(kind: str, item: dict[str, Any]) -> str:
    """A tool by the name that rollouts have for it, if they have one, else the item's type."""
    if kind == "mcp_tool_call":
        return _mcp_name(item)
    return (string(item.get("tool")) or kind) if kind == "collab_tool_call" else kind


def _mcp_name(call: Any) -> str:
    call = call if isinstance(call, dict) else {}
    return tool_name(call.get("tool"), f"mcp__{string(call.get('server')) or ''}")


def _input(kind: str, item: dict[str, Any]) -> Any:
    if kind == "mcp_tool_call":
        return item.get("arguments")
    return small((name, item.get(name)) for name in _INPUTS[kind])


_INPUTS = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "collab_tool_call": ("prompt", "receiver_thread_ids"),
    "web_search": ("query", "action"),
}


def _output(kind: str, item: dict[str, Any]) -> tuple[Any, tuple[Block, ...] | None]:
    match kind:
        case "command_execution":
            return item.get("aggregated_output"), None
        case "file_change":
            return item.get("status"), None
        case "mcp_tool_call":
            return _mcp_output(item.get("result"))
        case "collab_tool_call":
            return small((name, item.get(name)) for name in ("receiver_thread_ids", "agents_states")), None
        case _:
            return small((name, item.get(name)) for name in ("query", "action")), None


def _mcp_output(result: Any) -> tuple[Any, tuple[Block, ...] | None]:
    if not isinstance(result, dict):
        return result, None
    return result_of(result.get("content") or result.get("structured_content"))


def _begun(kind: str, message: dict[str, Any]) -> tuple[str, Any]:
    """The name and the input of a call in the shape of 0.42."""
    if kind == "mcp_tool_call_begin":
        invocation = message.get("invocation")
        return _mcp_name(invocation), invocation.get("arguments") if isinstance(invocation, dict) else None
    return _BEGINNINGS[kind], small((name, message.get(name)) for name in ("command", "cwd", "changes", "query"))


def _ending(kind: str, message: dict[str, Any]) -> tuple[Any, tuple[Block, ...] | None, str | None]:
    """Output, blocks and error of a call that ended in the shape of 0.42."""
    error = failure(message.get("status"), message.get("error"), message.get("success"), message.get("stderr"))
    if kind == "mcp_tool_call_end":
        result = message.get("result")
        result = result if isinstance(result, dict) else {}
        answer = result.get("Ok")
        output, blocks = _mcp_output(answer)
        if isinstance(answer, dict) and answer.get("isError") is True:
            error = failure("failed", said=texts_of(answer.get("content")))
        elif "Err" in result:
            error = failure("failed", result["Err"])
        return output, blocks, error
    for name in ("aggregated_output", "stdout", "query"):
        if isinstance(message.get(name), str):
            return message[name], None, error
    return None, None, error


def _todo_text(items: Any) -> str | None:
    """A plan as a list that people tick off."""
    if not isinstance(items, list):
        return None
    steps = [step for step in items if isinstance(step, dict)]
    return "\n".join(f"[{'x' if step.get('completed') is True else ' '}] {step.get('text')}" for step in steps)
