"""`steno_run`: the run of one test."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from stenograph.fold.calls import pair_calls
from stenograph.fold.messages import messages
from stenograph.journal.run import Run, start_run
from stenograph.model.block import TextBlock
from stenograph.model.event import Event
from stenograph.runs.opening import open_run


class RunForTest:
    """The run of one test: what was recorded to `run`, or what `read` opened instead."""

    def __init__(self, name: str, root: Path) -> None:
        self.run: Run = start_run(name, root=root, kind="test")
        """Record to it, or give it to an adapter."""
        self.target: str | os.PathLike[str] | None = None
        """The opened run that replaces the recorded one."""

    def read(self, target: str | os.PathLike[str]) -> RunForTest:
        """Use another run instead: an agent's own file or folder, a journal, a bundle, a run id."""
        with open_run(target):
            self.target = target
        return self

    @property
    def events(self) -> list[Event]:
        """The events so far."""
        with open_run(self.target or self.run.path) as run:
            return list(run.events())

    @property
    def answer(self) -> str:
        """The last text of the main agent; empty when there is none."""
        answers = [
            message for message in messages(self.events) if message.role == "assistant" and message.source == "main"
        ]
        texts = ["\n".join(block.text for block in each.blocks if isinstance(block, TextBlock)) for each in answers]
        return next((text for text in reversed(texts) if text), "")

    def calls(self, name: str | None = None, **inputs: str) -> list[dict[str, Any]]:
        """The tool calls, in order: `name`, `input`, `output`, `error`, `seq`.

        With a name, those of that tool; with `argument=pattern`, those whose argument has a match of that regular
        expression: `calls("Bash", command=r"^ls")`.
        """
        found = []
        for pair in pair_calls(self.events):
            if pair.call is None or (name is not None and pair.name != name):
                continue
            tool_input = pair.call.payload.input
            if all(_matches(tool_input, argument, pattern) for argument, pattern in inputs.items()):
                output = None if pair.result is None else pair.result.payload.output
                found.append(
                    {
                        "name": pair.name,
                        "input": tool_input,
                        "output": output,
                        "error": pair.error,
                        "seq": pair.call.seq,
                    }
                )
        return found

    def close(self, error: str | None = None) -> None:
        """End the run; may be called twice."""
        self.run.complete(error)


def _matches(tool_input: Any, argument: str, pattern: str) -> bool:
    if not isinstance(tool_input, dict) or argument not in tool_input:
        return False
    value = tool_input[argument]
    return re.search(pattern, value if isinstance(value, str) else repr(value)) is not None
