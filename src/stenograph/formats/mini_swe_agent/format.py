"""A trajectory as events, row by row.

Theory of operation. The program writes the whole document again after every step. So events are made of rows, which do
not change; from `info`, only what does not change during a run is emitted before the end. The first rows have no time:
they get that of the first row that has one.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from stenograph.formats.mini_swe_agent.rows import (
    commands_of,
    extra_of,
    is_observation,
    is_trajectory,
    message_in,
    output_items,
    response_of,
    stop_reason,
    time_of,
)
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict, a_str, dicts, dollars, first_str, small
from stenograph.formats.shared.model_api.chat import thoughts_of
from stenograph.formats.shared.model_api.parts import blocks_of, outcome, plain_text, thought_block
from stenograph.formats.shared.model_api.usage import openai_usage
from stenograph.model.block import AttachmentBlock, Block, ToolUseBlock

SHELL = "bash"
_BY_A_PERSON = ("UserInterruption", "UserRejection", "UserNewTask")
"""Interruptions that hold a person's text."""
_SUBMITTED = "Submitted"


class MiniSweAgentFormat(ImportFormat):
    """One trajectory."""

    name = "mini_swe_agent"

    def _record(self, record: dict[str, Any]) -> None:
        if not is_trajectory(record):
            return
        rows = dicts(record["messages"])
        if first := next((time for row in rows if (time := time_of(row)) is not None), None):
            self._timestamp, self._time = first, "inherited"
        self._place()
        info = a_dict(record.get("info"))
        facts = small(
            (
                ("trajectory_format", record["trajectory_format"]),
                ("mini_version", info.get("mini_version")),
                ("config", info.get("config")),
            )
        )
        self._note("trajectory", first_str(info, "mini_version"), facts)
        for row in rows:
            time = time_of(row)
            # The model's own time has no fractions of a second: it may be before the row that it answers.
            self._place(time if time is None or time > self._timestamp else None)
            self._row(row)
        for name in record.keys() - {"info", "messages", "trajectory_format"}:
            self._drop(f"trajectory: {name}")

    def _row(self, row: dict[str, Any]) -> None:
        role, response = row.get("role"), response_of(row)
        if is_observation(row):
            self._observation(row)
        elif row.get("object") == "response":
            self._said(_response_blocks(self, response), row)
        elif role == "system":
            self._note("system_prompt", plain_text(row.get("content")))
        elif role == "assistant":
            self._said(self._chat_blocks(row), row)
        elif role == "exit":
            self._exit(row)
        elif role == "user":
            self._user_row(row)
        else:
            self._unknown(row, role)

    # What a model said.

    def _said(self, blocks: list[Block], row: dict[str, Any]) -> None:
        """An answer, its calls and its tokens."""
        response = response_of(row)
        model, name = first_str(response, "model"), first_str(response, "id")
        shells = [self._use(None, SHELL, {"command": each}) for each in commands_of(row)]
        self._answer([*blocks, *shells], model=model, message_id=name, stop_reason=stop_reason(response))
        usage = openai_usage(response.get("usage"), model, name, first_str(response, "service_tier"))
        cost = dollars(extra_of(row).get("cost"))
        self._usage(usage if usage is None or cost is None else replace(usage, cost_usd=cost))

    def _chat_blocks(self, message: dict[str, Any]) -> list[Block]:
        calls = [self._called(call) for call in dicts(message.get("tool_calls"))]
        return [*thoughts_of(message), *blocks_of(message.get("content")), *calls]

    def _called(self, call: dict[str, Any]) -> ToolUseBlock:
        function = a_dict(call.get("function"))
        return self._use(call.get("id"), a_str(function.get("name")), arguments_of(function.get("arguments")))

    # Results and user messages.

    def _observation(self, row: dict[str, Any]) -> None:
        extra = extra_of(row)
        call_id = row.get("tool_call_id") or row.get("call_id")
        if "raw_output" not in extra:
            self._result(call_id, row.get("content", row.get("output")), name=SHELL)
            return
        failure = first_str(extra, "exception_info")
        output = {"output": extra["raw_output"], "returncode": extra.get("returncode")}
        if failure is not None:
            output["exception_info"] = failure
        media = [block for block in outcome(row.get("content"))[1] or () if isinstance(block, AttachmentBlock)]
        self._result(call_id, output, name=SHELL, error=failure, media=media)

    def _user_row(self, row: dict[str, Any]) -> None:
        """A prompt; the program's message when it refuses an answer; or a command that a person typed."""
        extra = extra_of(row)
        kind = first_str(extra, "interrupt_type")
        if kind is None or kind in _BY_A_PERSON:
            self._user(blocks_of(row.get("content")))
            for command in commands_of(row):
                self._answer([self._use(None, SHELL, {"command": command})])
            return
        response = response_of(row)
        if output_items(response):
            self._said(_response_blocks(self, response), row)
        elif response:
            self._said(self._chat_blocks(message_in(response)), row)
        elif said := a_str(extra.get("model_response")):
            self._answer(blocks_of(said))
        facts = {name: value for name, value in extra.items() if name not in ("response", "model_response")}
        self._note("refused_answer", plain_text(row.get("content")), facts)

    def _exit(self, row: dict[str, Any]) -> None:
        """How the run ended: everything but a submission is a failure."""
        extra = extra_of(row)
        status, text = first_str(extra, "exit_status"), plain_text(row.get("content"))
        if status != _SUBMITTED:
            self._error(text or status or "", status, small((("traceback", extra.get("traceback")),)))
        self._note("result", status, small((("exit_status", status), ("submission", extra.get("submission")))))


def _response_blocks(reader: MiniSweAgentFormat, response: dict[str, Any]) -> list[Block]:
    """The items of an answer of Responses as blocks."""
    found: list[Block] = []
    for item in dicts(output_items(response)):
        kind = item.get("type")
        if kind == "function_call":
            name, arguments = a_str(item.get("name")), arguments_of(item.get("arguments"))
            found.append(reader._use(item.get("call_id") or item.get("id"), name, arguments))
        elif kind == "reasoning":
            thought = thought_block(item)
            found += [] if thought is None else [thought]
        else:
            found += blocks_of(item.get("content"))
    return found
