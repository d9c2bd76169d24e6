"""Snapshot: the STATE slices of a session at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from msgspec import Struct


class Snapshot(Struct, frozen=True, kw_only=True):
    """What `Session.restore` goes back to."""

    session_id: UUID
    """The session it was taken of."""
    states: Mapping[type[Any], tuple[Any, ...]]
    """The values of each STATE slice, by type; LOG slices are not in it."""
