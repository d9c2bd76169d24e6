"""open_archive: the runs of a machine's archive, or of all archives in a store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, overload

from stenograph.errors import InvalidTarget
from stenograph.runs.archive import Archive

if TYPE_CHECKING:
    from stenograph.fleet.lake.archive import StoreArchive


@overload
def open_archive(home: str | os.PathLike[str] | None = None) -> Archive: ...


@overload
def open_archive(
    *, store: str, machine: str | None = None, user: str | None = None, team: str | None = None
) -> StoreArchive: ...


def open_archive(
    home: str | os.PathLike[str] | None = None,
    *,
    store: str | None = None,
    machine: str | None = None,
    user: str | None = None,
    team: str | None = None,
) -> Archive | StoreArchive:
    """The archive in a folder; without one, that of this machine (`$STENOGRAPH_HOME`, else the user's data folder).

    With the URL of a `store`, the runs of all archives in it that `steno lake load` has loaded: those of one `machine`,
    `user` or `team`, or all of them. Raises `InvalidTarget` if both a folder and a store are given.
    """
    if store is None:
        if machine or user or team:
            raise InvalidTarget("machine, user and team need a store; give its URL, too")
        return Archive(home)
    if home is not None:
        raise InvalidTarget("a folder and a store were given; give one of them")
    from stenograph.fleet.lake.archive import StoreArchive

    return StoreArchive(store, machine=machine, user=user, team=team)
