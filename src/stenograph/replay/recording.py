"""A recorded run as replay needs it: lanes of prompts and answers, with indexes to find a place in them.

A lane is one conversation with a model: the main agent, a subagent, or the main agent of a run that this one called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from stenograph.export.wording import text_of
from stenograph.fold.conversation import contexts
from stenograph.fold.exchange import Call, Exchange, Notice, Thread, Turn, exchange
from stenograph.model.block import AttachmentBlock, TextBlock, ThinkingBlock, ToolUseBlock
from stenograph.model.event import Event

ATTACHMENT = "[attachment]"
"""Replaces an image or a document in texts that are compared."""
SYNTHETIC = "<synthetic>"
"""The model name of answers that the agent made up itself, such as the text of an API error."""
_MODEL_APIS = {"anthropic_messages", "openai_chat", "openai_responses", "openai", "litellm", "exchange", ""}
"""Formats of programs of any kind; all others are of agents, which offer tools in every request of a conversation."""
_SPACE = re.compile(r"\s+")


def folded(text: str) -> str:
    """A text as it is compared: each run of white space is one space."""
    return _SPACE.sub(" ", text).strip()


Part = TextBlock | ThinkingBlock | Call
"""A piece of an answer."""


class Prompt(Struct, frozen=True, kw_only=True):
    """What the recorded agent was asked at one place."""

    text: str
    is_summary: bool = False
    """Whether it is the summary that replaced the agent's context, and not the user's."""


class Answer(Struct, frozen=True, kw_only=True):
    """One recorded answer of the model."""

    lane: int
    number: int
    """From 1 within its lane."""
    turn: Turn
    is_copied: bool = False
    """Whether an earlier lane has it, too: a child that began with a copy of its parent's history."""

    @property
    def parts(self) -> list[Part]:
        """What can be served again, in order, with calls at their places; without calls of the provider's own tools."""
        left = {id(call): call for call in self.turn.calls if call.kind != "server"}
        found: list[Part] = []
        for block in self.turn.blocks:
            if isinstance(block, TextBlock | ThinkingBlock):
                found.append(block)
            elif isinstance(block, ToolUseBlock):
                call = next((each for each in left.values() if each.call_id == block.tool_id), None)
                if call is not None:
                    found.append(left.pop(id(call)))
        return [*found, *left.values()]

    @property
    def key(self) -> tuple[int, int]:
        """Lane and number."""
        return self.lane, self.number


class Lane:
    """One recorded conversation: prompts and answers in order, with the places of texts and call ids."""

    def __init__(self, number: int, name: str, steps: tuple[Prompt | Answer, ...]) -> None:
        self.number = number
        self.name = name
        self.steps = steps
        self.prompts: dict[str, list[int]] = {}
        """The places of prompts, by their folded texts."""
        self.texts: dict[str, list[int]] = {}
        """The places of answers, by their folded texts."""
        self.call_ids: dict[str, list[int]] = {}
        """The places of answers, by the ids of their calls."""
        self.summaries: list[int] = []
        """The places of summaries."""
        for place, step in enumerate(steps):
            if isinstance(step, Prompt):
                self.prompts.setdefault(folded(step.text), []).append(place)
                self.summaries += [place] if step.is_summary else []
                continue
            if text := folded(text_of(step.turn.blocks)):
                self.texts.setdefault(text, []).append(place)
            for call in step.turn.calls:
                self.call_ids.setdefault(call.call_id, []).append(place)

    @property
    def answers(self) -> list[Answer]:
        """The answers alone."""
        return [step for step in self.steps if isinstance(step, Answer)]

    @cached_property
    def calls(self) -> dict[str, Call]:
        """The calls by their ids; of several with one id, the first that has a result."""
        found: dict[str, Call] = {}
        for answer in self.answers:
            for call in answer.turn.calls:
                if call.call_id not in found or not found[call.call_id].has_result:
                    found[call.call_id] = call
        return found


class Recording(Struct, frozen=True, kw_only=True):
    """Everything that can be replayed."""

    lanes: tuple[Lane, ...]
    cwd: str | None = None
    """The folder in which the recorded agent worked."""
    adapter: str = ""
    """The format or adapter that the run was read by."""

    @property
    def answers(self) -> list[Answer]:
        """The answers to serve, without copies."""
        return [answer for lane in self.lanes for answer in lane.answers if not answer.is_copied]

    @property
    def calls(self) -> list[Call]:
        """The tool calls that run again, in order."""
        return [call for answer in self.answers for call in answer.turn.calls if call.kind != "server"]

    @property
    def always_offers_tools(self) -> bool:
        """Whether a request without tools cannot be part of a recorded conversation."""
        return self.adapter not in _MODEL_APIS

    @property
    def unsupported(self) -> list[str]:
        """What cannot be served again, one phrase each."""
        turns = [answer.turn for answer in self.answers]
        server = sum(call.kind == "server" for turn in turns for call in turn.calls)
        media = sum(isinstance(block, AttachmentBlock) for turn in turns for block in turn.blocks)
        counts = [(server, "calls of the provider's own tools"), (media, "attachments in answers")]
        return [f"{number} {what}" for number, what in counts if number]


def recording_of(events: Iterable[Event], cwd: str | None = None) -> Recording:
    """The lanes of one or several runs, the first run's main agent first."""
    runs: dict[str, list[Event]] = {}
    for event in events:
        runs.setdefault(event.run_id, []).append(event)
    lanes: list[Lane] = []
    known_ids: set[str] = set()
    adapter = ""
    for number, each in enumerate(runs.values()):
        run = exchange(each)
        adapter = adapter or run.adapter
        for thread in run.threads:
            lane = _lane(len(lanes), _name(run, thread, is_first=number == 0), thread, known_ids)
            if lane.answers:
                lanes.append(lane)
    return Recording(lanes=tuple(lanes), cwd=cwd, adapter=adapter)


def _name(run: Exchange, thread: Thread, *, is_first: bool) -> str:
    return thread.source if is_first else f"{run.run_id} {thread.source}"


def _lane(number: int, name: str, thread: Thread, known_ids: set[str]) -> Lane:
    """`known_ids` holds the call ids of earlier lanes, and gets those of this one."""
    own: set[str] = set()
    steps: list[Prompt | Answer] = []
    answers = 0
    for turn in (turn for part in contexts(thread) for turn in _answers_joined(_turns(part))):
        if turn.role == "user":
            steps.append(Prompt(text=prompt_text(turn), is_summary=turn.records == 0))
            continue
        answers += 1
        ids = {call.call_id for call in turn.calls}
        own |= ids
        steps.append(Answer(lane=number, number=answers, turn=turn, is_copied=bool(ids) and ids <= known_ids))
    known_ids |= own
    return Lane(number, name, tuple(steps))


def _turns(items: Iterable[Turn | Notice]) -> Iterator[Turn]:
    """The turns that a model saw or gave; text that an agent made up in place of a model is left out."""
    for item in items:
        if not isinstance(item, Turn):
            continue
        is_answer = item.records > 0 and item.model != SYNTHETIC and bool(item.blocks or item.calls)
        if item.role == "user" or is_answer:
            yield item


def _answers_joined(turns: Iterable[Turn]) -> Iterator[Turn]:
    """The turns with each answer in one piece: Responses reports its items one by one.

    An answer ends at its usage or stop reason, at the result of one of its calls, at a prompt and where
    the context was replaced. Thinking alone is not an answer.
    """
    whole: Turn | None = None
    for turn in turns:
        if whole is not None and turn.role != "user" and _goes_on(whole, turn):
            whole = replace(
                whole,
                blocks=whole.blocks + turn.blocks,
                calls=whole.calls + turn.calls,
                usages=whole.usages + turn.usages,
                stop_reason=turn.stop_reason,
            )
            continue
        if whole is not None:
            yield whole
        whole = None if turn.role == "user" else turn
        if turn.role == "user":
            yield turn
    if whole is not None:
        yield whole


def _goes_on(answer: Turn, turn: Turn) -> bool:
    if all(isinstance(block, ThinkingBlock) for block in answer.blocks) and not answer.calls:
        return True
    is_answered = any(call.has_result and call.result_seq < turn.seq for call in answer.calls)
    return not (answer.usages or answer.stop_reason or is_answered)


def prompt_text(turn: Turn) -> str:
    """The text of a prompt; attachments are marks."""
    marks = [ATTACHMENT for block in turn.blocks if isinstance(block, AttachmentBlock)]
    return "\n".join(filter(None, [text_of(turn.blocks), *marks]))
