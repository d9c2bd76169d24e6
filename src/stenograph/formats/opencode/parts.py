"""Parts of messages as events: what the database and the stream of `opencode run` have in common.

Theory of operation. A part is written several times: a text is empty until it is finished, a tool is pending, running
and then completed. A follower of the database sees every version, a later reader only the last. So the emitted content
of each part is remembered, and a version emits only what is new; one with nothing new is `repeated`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.opencode.content import (
    EMITTED,
    error_of,
    facts_of,
    file_block,
    result_of,
    stamp,
    thinking_of,
    usage_of,
)
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.digest import digest_of
from stenograph.formats.shared.loose import a_dict, a_str
from stenograph.model.block import Block, TextBlock, ToolUseBlock
from stenograph.model.payload import MessagePayload, SystemPayload

_ENDED = ("completed", "error")


class Part(Struct, frozen=True, kw_only=True, gc=False):
    """One version of a part, with what is known of its message."""

    id: str
    message_id: str
    data: dict[str, Any]
    role: str = ""
    """Empty when the message is not known."""
    model: str | None = None
    is_summary: bool = False
    """Whether the message is the summary of a compaction."""
    time: Any = None
    """When it was written, for parts that have no time of their own."""


def first_stamp(*times: Any) -> str | None:
    """The first valid one of these times, as a timestamp."""
    for time in times:
        found = stamp(time)
        if found is not None:
            return found
    return None


class PartFormat(LineFormat):
    """Maps parts; the formats say where they come from and who speaks."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._emitted: dict[str, tuple[int, int]] = {}
        """Length and digest of the text emitted so far, by part."""
        self._seen: set[str] = set()
        """Parts that are complete."""
        self._calls: set[str] = set()
        """Tool parts whose call was emitted."""
        self._counted: dict[str, str] = {}
        """The step with a message's first usage, by message."""

    def _at(self, *times: Any) -> None:
        """Set the time of the next events: the first valid one of these (epoch milliseconds)."""
        raise NotImplementedError

    def _part(self, part: Part) -> None:
        """The events of one version of a part."""
        kind = a_str(part.data.get("type"))
        if kind == "tool":
            self._tool(part)  # has its times in its state
            return
        self._at(a_dict(part.data.get("time")).get("start"), part.time)
        if kind in _KINDS:
            _KINDS[kind](self, part)
        elif kind in _QUIET:
            self._quiet(part, kind)
        else:
            self._unknown(part.data, kind or None)

    def _first(self, key: str) -> bool:
        """Whether this key is new; a part without an id always is."""
        if key and key in self._seen:
            self._system("repeated")
            return False
        self._seen.add(key)
        return True

    # Words.

    def _text(self, part: Part) -> None:
        text = self._new_text(part)
        if text is None:
            return
        if part.role == "assistant" and part.is_summary:
            self._system("compaction", text, {"part": "summary"})
        elif part.role == "user" and part.data.get("synthetic") is True:
            self._system("synthetic", text)
        elif part.role == "user" and part.data.get("ignored") is True:
            self._system("ignored", text)
        elif part.role in ("user", "assistant"):
            self._say(part, TextBlock(fidelity=EMITTED, text=text))
        else:
            self._system("text", text)

    def _reasoning(self, part: Part) -> None:
        is_hidden = not a_str(part.data.get("text")) and thinking_of(part.data, "").encrypted_content is not None
        if is_hidden and not self._first(f"{part.id} hidden"):
            return
        text = "" if is_hidden else self._new_text(part)
        if text is not None:
            self._say(part, thinking_of(part.data, text), role="assistant")

    def _new_text(self, part: Part) -> str | None:
        """The part's text that was not emitted before; None when there is none, which is then emitted as `repeated`."""
        text = a_str(part.data.get("text"))
        if not text:
            if self._first(part.id):
                self._system("started", data=facts_of({"part": part.data.get("type")}))
            return None
        length, digest = self._emitted.get(part.id, (0, 0)) if part.id else (0, 0)
        self._emitted[part.id] = len(text), digest_of("text", text)
        if not length:
            return text
        if digest_of("text", text[:length]) != digest:
            self._system("rewritten", text, facts_of({"part": part.data.get("type"), "message_id": part.message_id}))
        elif len(text) == length:
            self._system("repeated")
        else:
            return text[length:]
        return None

    def _file(self, part: Part) -> None:
        if self._first(part.id):
            self._say(part, file_block(part.data))

    # Tools.

    def _tool(self, part: Part) -> None:
        """Emit a call as soon as its input is complete, its result as soon as it has ended."""
        state = a_dict(part.data.get("state"))
        status, name = state.get("status"), a_str(part.data.get("tool"))
        call_id = a_str(part.data.get("callID")) or part.id
        is_called = part.id in self._calls and part.id != ""
        if status == "pending" and not is_called:
            self._at(part.time)
            if self._first(f"{part.id} pending"):
                self._system("pending", data=facts_of({"tool": name, "call_id": call_id}))
            return
        time = a_dict(state.get("time"))
        if not is_called:
            self._calls.add(part.id)
            self._at(time.get("start"), part.time)
            self._call(part, name, call_id, state.get("input"))
        if status in _ENDED and (not part.id or part.id not in self._seen):
            self._seen.add(part.id)
            self._at(time.get("end"), time.get("start"), part.time)
            self._emit("tool.result", result_of(name, call_id, state, self._output(state)))
        elif is_called:
            self._at(part.time)
            self._system("repeated" if status in _ENDED else "progress", data=facts_of({"call_id": call_id}))

    def _call(self, part: Part, name: str, call_id: str, tool_input: Any) -> None:
        kind = "server" if a_dict(part.data.get("metadata")).get("providerExecuted") is True else None
        block = ToolUseBlock(fidelity=EMITTED, tool_name=name, tool_id=call_id, tool_input=tool_input, kind=kind)
        self._say(part, block, role="assistant")
        self._emit("tool.call", call_of(block))

    def _output(self, state: dict[str, Any]) -> Any:
        """The output; all of it when OpenCode stored it in a file that exists."""
        metadata = a_dict(state.get("metadata"))
        path = a_str(metadata.get("outputPath"))
        if metadata.get("truncated") is not True or not path:
            return state.get("output")
        name = "tool-output/" + path.replace("\\", "/").rpartition("/")[2]
        read = self.context.side_file
        whole = None if read is None else read(name)
        if whole is None and name not in self.report.wanted_files:
            self.report.wanted_files.append(name)
        return state.get("output") if whole is None else whole

    # The rest.

    def _step_finish(self, part: Part) -> None:
        """The end of a model call: its stop reason and its tokens."""
        if not self._first(part.id):
            return
        reason = a_str(part.data.get("reason")) or None
        self._say(part, role="assistant", stop_reason=reason)
        # One call per message since 1.0; before, a message had several steps, and each must count.
        first = self._counted.setdefault(part.message_id, part.id)
        name = part.message_id if first == part.id else part.id
        usage = usage_of(part.data.get("tokens"), part.model, name, part.data.get("cost"))
        if usage is not None:
            self._emit("token.usage", usage)

    def _quiet(self, part: Part, kind: str) -> None:
        """A part that is not part of the conversation's text."""
        if not self._first(part.id):
            return
        data = part.data
        text = a_str(data.get("prompt")) or a_str(data.get("name")) or None
        files = data.get("files")
        if isinstance(files, list):
            text = "\n".join(each for each in files if isinstance(each, str)) or None
        facts = {name: value for name, value in data.items() if name in _QUIET[kind]}
        if kind == "compaction":
            facts = {"part": "boundary", **facts}
        elif kind == "retry":
            text = error_of(data.get("error")).message
        self._system(kind, text, facts_of(facts))

    def _say(self, part: Part, *blocks: Block, role: str | None = None, stop_reason: str | None = None) -> None:
        role = role or part.role or "assistant"
        payload = MessagePayload(
            role=role,
            blocks=blocks,
            model=part.model if role == "assistant" else None,
            message_id=part.message_id or None,
            stop_reason=stop_reason,
        )
        self._emit("message.user" if role == "user" else "message.assistant", payload)

    def _system(self, subtype: str, text: str | None = None, data: Any = None) -> None:
        self._emit("system.event", SystemPayload(subtype=subtype, text=text, data=data))


_KINDS: dict[str, Callable[[PartFormat, Part], None]] = {
    "text": PartFormat._text,
    "reasoning": PartFormat._reasoning,
    "file": PartFormat._file,
    "step-finish": PartFormat._step_finish,
}
_QUIET = {
    "step-start": (),
    "snapshot": (),
    "patch": ("hash",),
    "agent": ("name",),
    "retry": ("attempt",),
    "subtask": ("description", "agent", "command"),
    "compaction": ("auto", "overflow"),
}
"""Parts that are system events, with the fields to keep as data."""
