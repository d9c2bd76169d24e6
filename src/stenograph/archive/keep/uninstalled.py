"""Kept files whose format is not installed any more: each record stays as it is, so that an index can be rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.fold.agent_tables import Agent
from stenograph.formats.base import Context, FormatSpec, Identity, LineFormat
from stenograph.formats.registry import formats


def format_of_kept(name: str) -> FormatSpec:
    """The format of a kept file; where its package is not installed, one that gives its records as `unknown`."""
    return formats().get(name) or _uninstalled(name)


def _uninstalled(name: str) -> FormatSpec:
    def opened(context: Context) -> LineFormat:
        return UninstalledFormat(name, context)

    return FormatSpec(
        name=name,
        what="a format that is not installed",
        versions="",
        agent=Agent(name, name),
        kind="file",
        detect=_score,
        identify=_identity,
        open=opened,
    )


class UninstalledFormat(LineFormat):
    """Every record as an `unknown` event."""

    def __init__(self, name: str, context: Context) -> None:
        super().__init__(context)
        self.name = name

    def _map(self, record: Any) -> None:
        self._unknown(record, record.get("type") if isinstance(record, dict) else None)


def _score(records: Sequence[Any], path: str) -> int:
    return 0


def _identity(records: Sequence[Any], path: str) -> Identity:
    return Identity()
