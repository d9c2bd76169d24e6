"""A task's conversation as events.

Theory of operation. `api_conversation_history.json` is the list of messages in Anthropic's shape. Older versions do not
call functions: the model writes tags, and the extension answers in the next message (`[read_file for 'x'] Result:`).
Both are emitted as calls and results, matched by the tool's name and the order. `ui_messages.json` beside it has the
time and cost of each request to the model; the first answer goes with the first request.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.base import Context
from stenograph.formats.cline_task.detection import SIDE_FILE
from stenograph.formats.cline_task.words import call_in, environment_in, prompt_in, result_in
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict, a_list, a_str, a_time, dicts, first_str
from stenograph.formats.shared.model_api.parts import block_of, text_block
from stenograph.formats.shared.usage import UsageFields
from stenograph.model import mend
from stenograph.model.block import Block

_USAGE = UsageFields(
    input=("tokensIn",),
    output=("tokensOut",),
    cache_read=("cacheReads",),
    cache_write=("cacheWrites",),
    cost=("cost",),
    input_has_cache=False,
)


class ClineTaskFormat(ImportFormat):
    """One task: a list of messages, or one message per line."""

    name = "cline_task"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._requests: list[dict[str, Any]] | None = None

    def _record(self, record: dict[str, Any]) -> None:
        role, content = record.get("role"), record.get("content")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else a_list(content)
        time = a_time(record.get("ts"))
        if role == "assistant":
            self._said(parts, time)
        elif role == "user":
            self._place(time)
            self._asked(parts)

    def _said(self, parts: list[Any], time: str | None) -> None:
        request = self._request()
        self._place(time or a_time(request.get("ts")))
        blocks: list[Block] = []
        for part in parts:
            if a_dict(part).get("type") == "tool_use":
                blocks.append(self._use(part.get("id"), a_str(part.get("name")), part.get("input")))
            elif isinstance(a_dict(part).get("text"), str) and part.get("type") == "text":
                blocks += self._words(part["text"])
            elif (block := block_of(part)) is not None:
                blocks.append(block)
        self._answer(blocks)
        counts = a_dict(arguments_of(request.get("text")))
        self._usage(_USAGE.read(counts, model=first_str(counts, "model")))

    def _words(self, text: str) -> list[Block]:
        """The text of an answer, and the call that it ends with."""
        call = call_in(text)
        if call is None:
            return [text_block(text)] if text else []
        found: list[Block] = [text_block(call.before)] if call.before else []
        found.append(self._use(None, call.name, call.input))
        return [*found, text_block(call.after)] if call.after else found

    def _asked(self, parts: list[Any]) -> None:
        """A message of the user's side: results first, then what the user said, then what the extension added."""
        said: list[Block] = []
        results: list[tuple[str | None, str, Any, bool]] = []
        around: list[str] = []
        is_answer = False
        for part in parts:
            kind, text = a_dict(part).get("type"), a_dict(part).get("text")
            if kind == "tool_result":
                results.append((first_str(part, "tool_use_id"), "", part.get("content"), part.get("is_error") is True))
                continue
            if kind != "text" or not isinstance(text, str):
                block = block_of(part)
                said += [] if block is None else [block]
                continue
            text, environment = environment_in(text)
            around += [environment] if environment else []
            answer = result_in(text)
            if answer is not None:
                results.append((None, answer[0], answer[1], False))
                is_answer = not answer[1]
            elif is_answer and text:
                results[-1] = (None, results[-1][1], text, False)
                is_answer = False
            elif text.strip():
                said.append(text_block(prompt_in(text)))
        if said or not (results or around):
            self._user(said)
        for call_id, name, content, failed in results:
            self._result(call_id, content, name=name, failed=failed)
        if around:
            self._note("environment_details", "\n".join(around))

    def _request(self) -> dict[str, Any]:
        """The next request to the model, as the file beside this one has it."""
        if self._requests is None:
            self._requests = self._read_requests()
        return self._requests.pop(0) if self._requests else {}

    def _read_requests(self) -> list[dict[str, Any]]:
        read = self.context.side_file
        text = None if read is None else read(SIDE_FILE)
        if text is None:
            return []
        try:
            messages, replaced = mend.parse_json(text.encode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            self.report.malformed += 1
            return []
        self.report.replaced += replaced
        return [each for each in dicts(messages) if each.get("say") == "api_req_started"]
