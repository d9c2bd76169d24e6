"""The files of a run: which it read and which it changed, as its calls name them.

A call that failed changed nothing, so it counts only as a failed call. What shell commands do to files cannot be
known from their text; it is not included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec import Struct

from stenograph.fold.actions import action
from stenograph.fold.calls import pair_calls
from stenograph.model.event import Event


class FileUse(Struct, frozen=True, kw_only=True):
    """What a run did to one file."""

    path: str
    """As the agent wrote it."""
    reads: int
    """Calls that read or searched it."""
    changes: int
    kinds: tuple[str, ...]
    """`write`, `edit`, `delete`, `move`, in the order of the first of each."""
    added: int
    removed: int
    failed: int
    """Calls that named it and failed."""
    first_seq: int
    last_seq: int
    """The numbers of the first and the last call that named it."""


@dataclass(slots=True)
class _Draft:
    first: int
    last: int = 0
    reads: int = 0
    changes: int = 0
    added: int = 0
    removed: int = 0
    failed: int = 0
    kinds: dict[str, None] = field(default_factory=dict)


def files(events: Iterable[Event]) -> list[FileUse]:
    """Every file that a call names, in the order of the first call that does."""
    drafts: dict[str, _Draft] = {}
    for pair in pair_calls(events):
        if pair.call is None:
            continue
        does, seq = action(pair), pair.call.seq
        changed = {change.path for change in does.changes}
        for path in does.paths:
            draft = drafts.setdefault(path, _Draft(seq))
            draft.last = max(draft.last, seq)
            draft.first = min(draft.first, seq)
            if pair.error is not None:
                draft.failed += 1
            elif path not in changed:
                draft.reads += 1
        for change in does.changes if pair.error is None else ():
            draft = drafts.setdefault(change.path, _Draft(seq, seq))
            added, removed = change.lines
            draft.changes += 1
            draft.added += added
            draft.removed += removed
            draft.kinds[change.kind] = None
    return [_use(path, draft) for path, draft in drafts.items()]


def _use(path: str, draft: _Draft) -> FileUse:
    return FileUse(
        path=path,
        reads=draft.reads,
        changes=draft.changes,
        kinds=tuple(draft.kinds),
        added=draft.added,
        removed=draft.removed,
        failed=draft.failed,
        first_seq=draft.first,
        last_seq=draft.last,
    )
