"""The Merkle tree over the lines of a journal, so that its last event can say what was recorded before it.

Lines are hashed when the run ends, not as they are written: so recording costs no more. A run that is killed has no
last event to hold the result.
"""

from __future__ import annotations

import logging
import os
from base64 import b64encode

from stenograph.journal.lines import LineReader
from stenograph.merkle import RootTree
from stenograph.model.payload import JournalEvidence

log = logging.getLogger("stenograph.journal")


class LineTree:
    """The tree over the lines of an open journal. Owns the descriptor."""

    def __init__(self, fd: int) -> None:
        self._reader = LineReader(fd)
        self._tree = RootTree()
        self._problem = ""

    def read(self, limit: int | None = None) -> None:
        """Add the complete lines so far, none beyond `limit`."""
        try:
            while lines := self._reader.read(limit):
                for line in lines:
                    self._tree.append(line)
        except OSError as error:
            self._problem = error.strerror or str(error)

    def evidence(self, size: int) -> JournalEvidence | None:
        """The tree over the first `size` bytes of the journal; None when they cannot be read, which is logged."""
        self.read(size)
        if self._problem:
            log.warning("the end of the run does not say what was recorded before it: %s", self._problem)
            return None
        return evidence_of(self._tree)

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._reader.fd)


def evidence_of(tree: RootTree) -> JournalEvidence:
    """Size and root of a tree over lines, as an event holds them."""
    return JournalEvidence(leaves=tree.size, root=b64encode(tree.root()).decode())
