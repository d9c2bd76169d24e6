"""Rows of `runs`, from an index or a parser."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from stenograph.archive.store.identity import ArchiveIdentity
from stenograph.fleet.lake.rows import table_of
from stenograph.fleet.lake.tables import RUNS

if TYPE_CHECKING:
    import pyarrow


def runs_table(rows: Iterable[dict[str, Any]]) -> pyarrow.Table:
    """Rows of `runs`, each by column."""
    return table_of("runs", [tuple(row.get(name) for name in RUNS) for row in rows])


def run_row(
    said: dict[str, Any],
    archive: str,
    generation: str,
    last_block: int,
    goal: int,
    said_at: str,
    identity: ArchiveIdentity | None,
) -> dict[str, Any]:
    """A row of `runs`, by column: what is known about a run, and from where."""
    place = {
        "archive": archive,
        "generation": generation,
        "last_block": last_block,
        "goal": goal,
        "said_at": said_at,
        "host": None if identity is None else identity.host,
        "user": None if identity is None else identity.user,
        "team": None if identity is None else identity.team,
    }
    return {**{name: _cell(said.get(name)) for name in RUNS}, **place}


def _cell(value: Any) -> Any:
    """Sums are kept as JSON."""
    return msgspec.json.encode(value).decode() if isinstance(value, list) else value
