"""A checkpoint after a sync, once `steno evidence init` was called. Its failure does not undo the sync."""

from __future__ import annotations

from stenograph.archive.keep.summary import Summary
from stenograph.archive.store.home import Home
from stenograph.errors import StenographError
from stenograph.evidence.settings import is_initialised


def checkpoint_after(home: Home, summary: Summary) -> None:
    """Sign and deliver a checkpoint after a sync or a removal; problems are added to the summary."""
    if not (summary.bytes_written or summary.expired) or not is_initialised(home):
        return
    from stenograph.evidence.places import sign_and_deliver  # with the tree and all: not for every sync

    try:
        signed, problems = sign_and_deliver(home)
        summary.checkpoint = signed.checkpoint.size
    except StenographError as error:
        problems = [error]
    summary.problems += [f"no checkpoint: {each}" for each in problems]
