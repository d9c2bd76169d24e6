"""Finds the recorded answer for a request: the one that follows the history which the request itself contains.

Theory of operation. No state is kept from request to request, so parallel conversations and repeated requests need
no care. A lane is one recorded conversation; every lane is compared with the history of the request. Three things move
the place in the lane forward, never back: the ids of calls (requests return the recorded ids that they were given), the
texts of answers, and prompts. The answer after the place is the one to give. If there is a recorded prompt before it
that the request does not have, there is none: the conversation is another one from there on. Among lanes, more ids win,
then more equal texts, then more prompts that the request only contains within a longer text, then the answer that was
given less often.

Where the recorded agent's context was replaced by a summary, the agent first asked for one, in words of its own. Such a
request is recognized by its words, and by its place: the recording has a summary there.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from msgspec import Struct

from stenograph.replay.recording import Answer, Lane, Prompt, Recording, folded
from stenograph.replay.request import Answered, Asked, Request, Returned

_SHOWN = 120
"""Characters of a prompt that an explanation quotes."""
_COMPARED = 2000
"""Characters of prompts that are compared for similarity."""


class Match(Struct, frozen=True, kw_only=True):
    """The answer to give."""

    answer: Answer
    lane: Lane
    how: str
    """How it was found: `call ids`, `texts` or `prompt`."""
    is_exact: bool = True
    """False where the recorded prompt is only a part of what was asked now."""


class Summary(Struct, frozen=True, kw_only=True):
    """The recorded summary that a request asks for."""

    text: str
    lane: Lane


class Miss(Struct, frozen=True, kw_only=True):
    """Why there is no answer, and the nearest place."""

    why: str
    lane: str | None = None
    turn: int | None = None
    """The answer of that lane after which the request left it, or whose prompt is most similar."""


@dataclass(slots=True)
class _Walk:
    """How far a request follows one lane."""

    lane: Lane
    place: int = 0
    """The first step of the lane that the request has not reached."""
    ids: int = 0
    equal: int = 0
    """Texts of answers and prompts that are the recorded ones."""
    contained: int = 0
    """Recorded prompts that are a part of a longer text."""
    is_asked: bool = False
    """Whether a prompt since the last answer was found."""
    is_last_known: bool = False
    """Whether the last user message is in the recording."""
    open_ids: Counter[str] = field(default_factory=Counter)
    """Calls of the history whose results have not come yet: they do not move the place again."""

    @property
    def rank(self) -> tuple[int, int, int]:
        return self.ids, self.equal, self.contained

    @property
    def is_anchored(self) -> bool:
        """Whether anything of the request was found in the lane."""
        return self.rank > (0, 0, 0)

    def take(self, item: Asked | Answered | Returned, to_recorded: Callable[[str], str]) -> None:
        match item:
            case Returned(call_id=call_id):
                if self.open_ids[call_id]:
                    self.open_ids[call_id] -= 1
                else:
                    self._called((call_id,))
            case Answered(text=text, call_ids=ids):
                self.open_ids.update(ids)
                if not self._called(ids) and text:
                    self._answered(folded(text))
            case Asked():
                self._asked([folded(to_recorded(text)) for text in (*item.texts, item.text)])

    def follow(self, number: int) -> None:
        """Move behind an answer of the lane."""
        for place, step in enumerate(self.lane.steps):
            if isinstance(step, Answer) and step.number == number:
                self.ids += 1
                self._move_behind(place)

    def _called(self, ids: tuple[str, ...]) -> bool:
        """Whether the lane has one of these calls; moves the place behind the answer that made it."""
        places = [places for call_id in ids if (places := self.lane.call_ids.get(call_id))]
        for each in places:
            self.ids += 1
            # For an id that was used twice, take the first place from the current one on.
            if (place := _first_from(each, self.place)) is not None:
                self._move_behind(place)
        return bool(places)

    def _answered(self, text: str) -> None:
        place = _first_from(self.lane.texts.get(text, []), self.place)
        if place is not None:
            self.equal += 1
            self._move_behind(place)

    def _move_behind(self, place: int) -> None:
        self.place = place + 1
        self.is_asked = False

    def _asked(self, texts: list[str]) -> None:
        near, far = self._askable()
        wanted = [(place, folded(self._text(place))) for place in (*near, *far)]
        equal = next((place for place, text in wanted if text in texts), None)
        found = _longest_within(wanted[: len(near)], texts[-1]) if equal is None else equal
        self.is_last_known = found is not None
        if found is not None:
            self.equal += equal is not None
            self.contained += equal is None
            self.place, self.is_asked = found + 1, True

    def _askable(self) -> tuple[list[int], list[int]]:
        """The prompts that may come next: those that may be within a longer text, and those that must be equal.

        The first are the prompts before the next answer, and all later summaries, since an agent may keep older prompts
        before a summary. At the start they are all prompts of the lane: a history may begin later than the recording.
        The others are the prompts after the next answers, for a live agent that skipped these.
        """
        if not self.is_anchored:
            return sorted(place for places in self.lane.prompts.values() for place in places), []
        start = self.place
        near = self._prompts_from(start)
        summaries = [place for place in self.lane.summaries if place >= start and place not in near]
        while start < len(self.lane.steps) and not isinstance(self.lane.steps[start], Prompt):
            start += 1
        return near + summaries, self._prompts_from(start)

    def _prompts_from(self, start: int) -> list[int]:
        steps = self.lane.steps
        return list(itertools.takewhile(lambda place: isinstance(steps[place], Prompt), range(start, len(steps))))

    def _text(self, place: int) -> str:
        step = self.lane.steps[place]
        return step.text if isinstance(step, Prompt) else ""

    def summary(self) -> str | None:
        """The summary that is recorded here or after the next answer, since some agents keep it there."""
        place = _first_from(self.lane.summaries, self.place)
        if place is None or sum(isinstance(step, Answer) for step in self.lane.steps[self.place : place]) > 1:
            return None
        return self._text(place)

    def next_answer(self) -> Answer | Prompt | None:
        """The next answer; a prompt that was not asked before it; None at the end of the lane."""
        missing = None
        for step in self.lane.steps[self.place :]:
            if isinstance(step, Answer):
                return step if missing is None or self.is_asked else missing
            missing = missing or step
        return missing


def _longest_within(prompts: list[tuple[int, str]], text: str) -> int | None:
    """The place of the longest prompt that is contained in a text, as whole words."""
    within = [
        (len(prompt), -place) for place, prompt in prompts if prompt and prompt in text and _is_words(prompt, text)
    ]
    return -max(within)[1] if within else None


def _is_words(prompt: str, text: str) -> bool:
    return bool(prompt) and re.search(rf"(?<!\w){re.escape(prompt)}(?!\w)", text) is not None


def _first_from(places: list[int], start: int) -> int | None:
    at = bisect_left(places, start)
    return places[at] if at < len(places) else None


def find_answer(
    recording: Recording,
    request: Request,
    times_given: Mapping[tuple[int, int], int] | None = None,
    to_recorded: Callable[[str], str] = str,
) -> Match | Summary | Miss:
    """The answer to a request, or the summary that it asks for, or why there is neither.

    `times_given` says how often each answer was given; `to_recorded` gives a text of the live run with the folders
    and ids of the recording.
    """
    walks = [_walked(lane, request, to_recorded) for lane in recording.lanes]
    if _asks_for_summary(request):
        for walk in sorted(walks, key=lambda each: each.rank, reverse=True)[:1]:
            if walk.is_anchored and not walk.is_last_known and (text := walk.summary()) is not None:
                return Summary(text=text, lane=walk.lane)
    found = [(walk, step) for walk in walks if walk.is_anchored and isinstance(step := walk.next_answer(), Answer)]
    if not found:
        return _miss(walks, request, to_recorded)
    counts = times_given or {}
    walk, answer = max(found, key=lambda each: (*each[0].rank, -counts.get(each[1].key, 0), -each[1].lane))
    better = max((each for each in walks if each.is_anchored), key=lambda each: each.rank)
    if better.rank[:2] > walk.rank[:2]:  # its own lane has no answer, and that of another lane would be wrong
        return _miss([better], request, to_recorded)
    how = "call ids" if walk.ids else "texts" if walk.equal > 1 else "prompt"
    return Match(answer=answer, lane=walk.lane, how=how, is_exact=bool(walk.ids or walk.equal))


def _asks_for_summary(request: Request) -> bool:
    last = request.items[-1] if request.items else None
    if not isinstance(last, Asked):
        return False
    text = last.text.casefold()
    return "summary" in text and ("context" in text or "conversation" in text)


def _walked(lane: Lane, request: Request, to_recorded: Callable[[str], str]) -> _Walk:
    walk = _Walk(lane)
    if request.after is not None and request.after[0] == lane.number:
        walk.follow(request.after[1])
    for item in request.items:
        walk.take(item, to_recorded)
    return walk


def _miss(walks: list[_Walk], request: Request, to_recorded: Callable[[str], str]) -> Miss:
    anchored = [walk for walk in walks if walk.is_anchored]
    asked = to_recorded(request.last_asked)
    if not anchored:
        return _most_similar(walks, asked)
    walk = max(anchored, key=lambda each: each.rank)
    step = walk.next_answer()
    passed = sum(isinstance(each, Answer) for each in walk.lane.steps[: walk.place])
    if isinstance(step, Prompt):
        why = (
            f"after turn {passed} of {walk.lane.name} the recorded prompt is {_quoted(step.text)}, not {_quoted(asked)}"
        )
    else:
        why = f"the recording of {walk.lane.name} ends after turn {passed}"
    return Miss(why=why, lane=walk.lane.name, turn=passed)


def _most_similar(walks: list[_Walk], asked: str) -> Miss:
    prompts = [
        (walk.lane, place, step.text)
        for walk in walks
        for place, step in enumerate(walk.lane.steps)
        if isinstance(step, Prompt)
    ]
    if not prompts:
        return Miss(why=f"the recording has no prompt, so {_quoted(asked)} cannot be found in it")
    matcher = SequenceMatcher(None, b=folded(asked)[:_COMPARED], autojunk=False)

    def similarity(text: str) -> float:
        matcher.set_seq1(folded(text)[:_COMPARED])
        return matcher.quick_ratio()

    lane, place, text = max(prompts, key=lambda each: similarity(each[2]))
    turn = 1 + sum(isinstance(step, Answer) for step in lane.steps[:place])
    why = f"no recorded prompt matches {_quoted(asked)}; the nearest is {_quoted(text)}"
    return Miss(why=f"{why} (turn {turn} of {lane.name})", lane=lane.name, turn=turn)


def _quoted(text: str) -> str:
    text = folded(text)
    return f'"{text[:_SHOWN]}…"' if len(text) > _SHOWN else f'"{text}"'
