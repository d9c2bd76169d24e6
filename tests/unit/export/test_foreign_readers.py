"""Exports as the types of others read them: none of these readers is ours."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from anthropic.types import MessageParam, ToolUnionParam
from atif import Trajectory
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

from golden_cases import CASES, run_of, sampled
from stenograph.errors import InvalidTarget
from stenograph.export.exporter import exporter_named
from stenograph.fold.losses import LossReport
from stenograph.model import Event

READERS = {
    "anthropic": (("messages", TypeAdapter(list[MessageParam])), ("tools", TypeAdapter(list[ToolUnionParam]))),
    "openai-chat": (("messages", TypeAdapter(list[ChatCompletionMessageParam])),),
    "openai-responses": (("input", TypeAdapter(list[ResponseInputItemParam])),),
}


def exported(case: Path, name: str, **options: str) -> bytes:
    """The main file of a golden case."""
    pieces = exporter_named(name)(run_of(case), LossReport(name), **options)
    return b"".join(piece for piece in pieces if isinstance(piece, bytes))


def walked(value: Any) -> None:
    """Looks at everything: pydantic checks what stands in an `Iterable` only when it is walked through."""
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for each in value:
            walked(each)


@pytest.mark.parametrize("case", sampled(CASES))
def test_the_sdks_of_the_apis_take_every_request(case: Path) -> None:
    """What Anthropic's and OpenAI's own types say of messages, items and tools holds."""
    for name, readers in READERS.items():
        request = msgspec.json.decode(exported(case, name))
        for field, reader in readers:
            walked(reader.validate_python(request.get(field, [])))


@pytest.mark.parametrize("case", sampled(CASES))
def test_every_trajectory_is_valid(case: Path) -> None:
    """The models of the `atif` package refuse unknown fields, steps out of order and results of other steps.

    A run in whose main thread nothing was said is refused by us.
    """
    for how in ("embed", "files", "drop"):
        try:
            trajectory = Trajectory.model_validate_json(exported(case, "atif", subagents=how))
        except InvalidTarget:
            assert not any(event.type.startswith("message.") and not _source(event) for event in run_of(case))
            continue
        assert [step.step_id for step in trajectory.steps] == list(range(1, len(trajectory.steps) + 1))


def _source(event: Event) -> str | None:
    return None if event.origin is None else event.origin.source
