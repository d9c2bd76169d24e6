"""Separates the ids of other machines' runs from what `steno forget --store` looks up in this archive."""

from __future__ import annotations

from msgspec.structs import replace

from stenograph.archive.store.home import Home
from stenograph.errors import InvalidRunId, RunNotFound
from stenograph.model.ids import check_run_id
from stenograph.runs.forgetting import Wanted
from stenograph.runs.target import find_archived


def not_here(home: Home, wanted: Wanted) -> tuple[tuple[str, ...], Wanted]:
    """The whole run ids that this archive does not have, and what is left to look up here.

    A prefix that is not found here stays among the latter, whose lookup refuses it: other machines' ids are not known.
    With `containing` or `older_than` everything stays there, because only this archive can check them.
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
