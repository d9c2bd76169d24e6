"""What was said before: each request repeats its conversation, and only its end is new.

Theory of operation. Every message has a mark: a digest of what it says, without what clients change (cache markers, key
order, dropped reasoning, white space at the edges). Conversations are trees of marks: a request is walked from the root
along what is known, and what lies beyond is new, so that interleaved, forked and retried conversations each find their
place. An answer of the model is remembered until a request repeats it. Inside a conversation, a message with tool ids
that was seen once is never new again, even when the client rewrote what was before it (compaction, cleared tool
results).
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

from stenograph.formats.shared.model_api.recent import Recent

_Node = dict[bytes, Any]


class Mark(NamedTuple):
    """What a message is recognized by."""

    digest: bytes | None
    """None when it cannot be computed; then the message is always new."""
    has_ids: bool = False
    """Whether it holds ids of tool calls, which are unique."""
    answers: str = ""
    """The calls that it answers, when it holds nothing but results."""


def mark(kind: Any, words: Any, *more: Any, has_ids: bool = False, answers: str = "") -> Mark:
    """The mark of a message with this content."""
    try:
        facts = repr((kind, *more) if isinstance(words, str) else (kind, *more, [words]))
    except RecursionError:
        return Mark(None)
    head = facts.encode("utf-8", "backslashreplace")
    # Long content is mostly plain text, which needs no `repr`; `repr` takes longer than everything else here.
    tail = words.encode("utf-8", "surrogatepass") if isinstance(words, str) else b""
    return Mark(sha256(b"%d %s%s" % (len(head), head, tail)).digest()[:16], has_ids, answers)


class Conversation:
    """One conversation, with all its branches."""

    def __init__(self) -> None:
        self.system: str | None = None
        self.seen: set[bytes] = set()
        self.results: set[tuple[int, str]] = set()
        """Which calls were answered at which place: another text there is a rewritten history, not a new message."""


class Tail(NamedTuple):
    """What is new in a request."""

    new: list[int]
    """The places of the new messages."""
    rewritten: list[int]
    """The places of results that the client replaced (cleared, shortened) after they were emitted."""
    system: str | None
    """The system prompt, when it is new or changed."""


class History:
    """Everything said in one run, by marks."""

    def __init__(self) -> None:
        self._roots: Recent[bytes | None, tuple[Conversation, _Node]] = Recent()
        self._places: Recent[str, tuple[Conversation, _Node]] = Recent()
        self._answers: Recent[bytes, int] = Recent()
        self._asked: Recent[str, Conversation] = Recent()
        self._current = Conversation()

    def tail(
        self,
        marks: list[Mark],
        system: str | None,
        *,
        after: str | None = None,
        grows: bool = False,
        call: str | None = None,
    ) -> Tail:
        """Take a request, its messages and system prompt; return what is new in it.

        `after` names the answer or conversation that the service itself continues, so that the request holds only
        what comes next; with `grows`, equal messages are then new messages. `call` names the request for its
        answer, where others may come between the two.
        """
        conversation, node = self._open(marks, after)
        self._current = conversation
        if call is not None:
            self._asked.put(call, conversation)
        if grows:
            node = {}
        new: list[int] = []
        rewritten: list[int] = []
        for place, (digest, has_ids, answers) in enumerate(marks):
            if digest is None:
                new.append(place)
                continue
            child = node.get(digest)
            if child is None:
                child = node[digest] = {}
                if digest in conversation.seen or self._was_answered(digest):
                    pass
                elif not new and after is None and (place, answers) in conversation.results:
                    rewritten.append(place)  # the call that it answers is known, and so is its answer
                else:
                    new.append(place)
            if has_ids:
                conversation.seen.add(digest)
            if answers:
                conversation.results.add((place, answers))
            node = child
        changed = system if system and system != conversation.system else None
        conversation.system = system or conversation.system
        return Tail(new, rewritten, changed)

    def answered(self, marks: list[Mark], answer_id: str | None, call: str | None = None) -> None:
        """Take what the model answered: to the request of this name, else to the latest."""
        for digest, *_ in marks:
            if digest is not None:
                self._answers.put(digest, (self._answers.get(digest) or 0) + 1)
        if answer_id:
            conversation = self._asked.get(call) if call is not None else None
            self._places.put(answer_id, (conversation or self._current, {}))

    def _open(self, marks: list[Mark], after: str | None) -> tuple[Conversation, _Node]:
        if after is not None:
            return self._places.ensure(after, _begin)
        return self._roots.ensure(marks[0].digest if marks else None, _begin)

    def _was_answered(self, digest: bytes) -> bool:
        """Whether this is an answer of the model; each answer is repeated once."""
        times = self._answers.get(digest)
        if not times:
            return False
        if times == 1:
            self._answers.forget(digest)
        else:
            self._answers.put(digest, times - 1)
        return True


def _begin() -> tuple[Conversation, _Node]:
    return Conversation(), {}
