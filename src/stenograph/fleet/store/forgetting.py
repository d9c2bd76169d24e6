"""Which runs to remove from a store: those of this archive, and ids of other machines."""

from __future__ import annotations

from msgspec.structs import replace

from stenograph.archive.store.home import Home
from stenograph.errors import InvalidRunId, RunNotFound
from stenograph.model.ids import check_run_id
from stenograph.runs.forgetting import Wanted
from stenograph.runs.target import find_archived


def not_here(home: Home, wanted: Wanted) -> tuple[tuple[str, ...], Wanted]:
    """The whole run ids that this archive does not have, and what is left to look up here.

    A prefix that is not found here is left, so that it is refused: other machines' ids are not known. So is everything
    if a run must also contain something or be old, which only this archive can check.
    """
    if wanted.containing or wanted.older_than:
        return (), wanted
    elsewhere = tuple(each for each in wanted.run_ids if _is_elsewhere(home, each))
    return elsewhere, replace(wanted, run_ids=tuple(each for each in wanted.run_ids if each not in elsewhere))


def _is_elsewhere(home: Home, text: str) -> bool:
    try:
        run_id = check_run_id(text)
    except InvalidRunId:
        return False
    try:
        find_archived(run_id, home.path).close()
    except RunNotFound:
        return True
    return False
