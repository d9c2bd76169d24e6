"""Sessions whose agent rewrites a document at each step: split into lines, so that unchanged lines cost nothing.

A session's state is how many lines it has and a digest of all of them. If the digest of as many lines as before is
unchanged, the further lines are all that is new; else the lines are compared one by one with the stored ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

from stenograph.formats.base import Identity
from stenograph.formats.layout import Parent, State, StoredSession


def session_of_lines(
    identity: Identity, lines: Sequence[bytes], parent: Callable[[], Parent] = lambda: (None, None)
) -> StoredSession:
    """A session by all of its lines, each with its newline."""

    def lines_since(state: State) -> list[bytes] | None:
        count, _ = state
        is_grown = count <= len(lines) and _state(lines[:count]) == state
        return list(lines[count:]) if is_grown else None

    return StoredSession(
        identity=identity, state=_state(lines), parent=parent, lines=lambda: iter(lines), lines_since=lines_since
    )


def _state(lines: Sequence[bytes]) -> State:
    digest = blake2b(b"".join(lines), digest_size=8).digest()
    return len(lines), int.from_bytes(digest) >> 1  # a number that fits into a database column
