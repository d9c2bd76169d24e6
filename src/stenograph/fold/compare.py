"""Two runs compared: prompts, turns, calls, answers, files and figures.

Theory of operation. Turns are aligned by their prompts: equal prompts first, then what lies between them by its place.
The calls of aligned turns are aligned by tool and input; between those, calls of the same tool are one call whose input
changed. Every turn and every call of either run is in the comparison once.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TypeVar

from msgspec import Struct

from stenograph.fold.explain import CallFacts, Explained, Explanation, FileFacts, TurnFacts

SAME, CHANGED, ONLY_LEFT, ONLY_RIGHT = "same", "changed", "only_left", "only_right"
CHANGED_INPUT, CHANGED_RESULT = "changed_input", "changed_result"
_LARGEST_MATCH = 1_000_000
"""Up to this product of both lengths the longest matches are searched for; beyond it, the next ones."""

T = TypeVar("T")
Pair = tuple[T | None, T | None]


class TurnPair(Struct, frozen=True, kw_only=True):
    """One turn of each run, or of one."""

    prompt: str
    """`same`, `changed`, `only_left` or `only_right`."""
    answer: str
    left: TurnFacts | None
    right: TurnFacts | None


class CallPairing(Struct, frozen=True, kw_only=True):
    """One call of each run, or of one."""

    what: str
    """`same`, `changed_input`, `changed_result`, `only_left` or `only_right`."""
    name: str
    left_seq: int | None = None
    right_seq: int | None = None
    left_target: str | None = None
    right_target: str | None = None


class FilePair(Struct, frozen=True, kw_only=True):
    """How each run changed one file."""

    path: str
    what: str
    """`same` (the same changes), `changed`, `only_left` or `only_right`."""
    left: FileFacts | None
    right: FileFacts | None


class Figure(Struct, frozen=True, kw_only=True):
    """One number of each run; None where it is not known."""

    name: str
    left: float | None
    right: float | None


class Comparison(Struct, frozen=True, kw_only=True):
    """What two runs have in common, and how they differ."""

    left: str
    """The id of the run."""
    right: str
    turns: tuple[TurnPair, ...]
    calls: tuple[CallPairing, ...]
    files: tuple[FilePair, ...]
    figures: tuple[Figure, ...]
    calls_by_kind: dict[str, int]

    @property
    def is_same(self) -> bool:
        """Whether prompts, answers, calls and files are the same; figures such as time may differ."""
        texts = all(turn.prompt == turn.answer == SAME for turn in self.turns)
        return texts and all(call.what == SAME for call in self.calls) and all(f.what == SAME for f in self.files)


def compare(left: Explained, right: Explained) -> Comparison:
    """Compare two runs, each explained."""
    one, other = left.explanation, right.explanation
    places = list(_aligned(left.prompts, right.prompts))
    by_turn = _by_turn(left), _by_turn(right)
    calls = tuple(
        pairing
        for at, to in places
        for pairing in _calls(*(calls.get(place, []) for calls, place in zip(by_turn, (at, to), strict=True)))
    )
    counts = dict.fromkeys((SAME, CHANGED_INPUT, CHANGED_RESULT, ONLY_LEFT, ONLY_RIGHT), 0)
    for call in calls:
        counts[call.what] += 1
    return Comparison(
        left=one.run_id,
        right=other.run_id,
        turns=tuple(_turn(left, right, at, to) for at, to in places),
        calls=calls,
        files=tuple(_files(left, right)),
        figures=tuple(
            Figure(name=name, left=before, right=after)
            for (name, before), (_, after) in zip(figures_of(one), figures_of(other), strict=True)
        ),
        calls_by_kind=counts,
    )


def figures_of(run: Explanation) -> list[tuple[str, float | None]]:
    """The numbers by which runs are compared."""
    totals, tokens = run.totals, run.totals.tokens
    return [
        ("turns", totals.turns),
        ("messages", totals.messages),
        ("tool_calls", totals.tool_calls),
        ("failed_calls", totals.failed_calls),
        ("errors", totals.errors),
        ("subagents", totals.subagents),
        ("input_tokens", tokens.input_tokens),
        ("cache_read_input_tokens", tokens.cache_read_input_tokens),
        ("output_tokens", tokens.output_tokens),
        ("cost_usd", run.cost_usd),
        ("seconds", run.span.seconds),
    ]


def _turn(left: Explained, right: Explained, at: int | None, to: int | None) -> TurnPair:
    if at is None or to is None:
        only = ONLY_RIGHT if at is None else ONLY_LEFT
        one = None if at is None else left.explanation.turns[at]
        other = None if to is None else right.explanation.turns[to]
        return TurnPair(prompt=only, answer=only, left=one, right=other)
    return TurnPair(
        prompt=SAME if left.prompts[at] == right.prompts[to] else CHANGED,
        answer=SAME if left.answers[at] == right.answers[to] else CHANGED,
        left=left.explanation.turns[at],
        right=right.explanation.turns[to],
    )


def _by_turn(run: Explained) -> dict[int | None, list[CallFacts]]:
    found: dict[int | None, list[CallFacts]] = {}
    for call in run.calls:
        found.setdefault(call.turn, []).append(call)
    return found


def _calls(one: list[CallFacts], other: list[CallFacts]) -> Iterator[CallPairing]:
    waiting: tuple[list[CallFacts], list[CallFacts]] = ([], [])
    for before, after in _aligned([_key(call) for call in one], [_key(call) for call in other], by_place=False):
        if before is None or after is None:
            if before is not None:
                waiting[0].append(one[before])
            if after is not None:
                waiting[1].append(other[after])
            continue
        yield from _rest(*waiting)
        waiting = ([], [])
        what = SAME if one[before].result == other[after].result else CHANGED_RESULT
        yield _pairing(what, one[before], other[after])
    yield from _rest(*waiting)


def _rest(left: list[CallFacts], right: list[CallFacts]) -> Iterator[CallPairing]:
    """Calls between two equal ones: those of one tool are paired by order, as calls whose input changed."""
    free: defaultdict[tuple[bool, str], deque[CallFacts]] = defaultdict(deque)
    for call in right:
        free[call.is_main, call.name].append(call)
    taken: set[int] = set()
    for call in left:
        candidates = free[call.is_main, call.name]
        if candidates:
            match = candidates.popleft()
            taken.add(id(match))
            yield _pairing(CHANGED_INPUT, call, match)
        else:
            yield _pairing(ONLY_LEFT, call, None)
    for call in right:
        if id(call) not in taken:
            yield _pairing(ONLY_RIGHT, None, call)


def _pairing(what: str, left: CallFacts | None, right: CallFacts | None) -> CallPairing:
    either = left or right
    return CallPairing(
        what=what,
        name="" if either is None else either.name,
        left_seq=None if left is None else left.seq,
        right_seq=None if right is None else right.seq,
        left_target=None if left is None else left.target,
        right_target=None if right is None else right.target,
    )


def _key(call: CallFacts) -> Hashable:
    return call.is_main, call.name, call.input


def _files(left: Explained, right: Explained) -> Iterator[FilePair]:
    one = {file.path: file for file in left.explanation.files}
    other = {file.path: file for file in right.explanation.files}
    for path in dict.fromkeys([*one, *other]):
        before, after = one.get(path), other.get(path)
        if before is None or after is None:
            what = ONLY_RIGHT if before is None else ONLY_LEFT
        else:
            what = SAME if left.files[path] == right.files[path] else CHANGED
        yield FilePair(path=path, what=what, left=before, right=after)


def _aligned(left: Sequence[Hashable], right: Sequence[Hashable], *, by_place: bool = True) -> Iterator[Pair[int]]:
    """Pairs of places: equal items, and those between them paired by place or each alone."""
    done_left = done_right = 0
    for at, to in [*_equal(left, right), (len(left), len(right))]:
        between = range(done_left, at), range(done_right, to)
        if by_place:
            yield from zip_longest(*between)
        else:
            yield from ((place, None) for place in between[0])
            yield from ((None, place) for place in between[1])
        if at < len(left):
            yield at, to
        done_left, done_right = at + 1, to + 1


def _equal(left: Sequence[Hashable], right: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Places of equal items, ascending on both sides."""
    if len(left) * len(right) <= _LARGEST_MATCH:
        for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
            yield from ((block.a + offset, block.b + offset) for offset in range(block.size))
        return
    places: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for place, item in enumerate(right):
        places[item].append(place)
    done = -1
    for at, item in enumerate(left):
        found = places[item]
        while found and found[0] <= done:
            found.popleft()
        if found:
            done = found.popleft()
            yield at, done
