"""Checking several things, one after the other: what cannot be read does not keep us from the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from stenograph.cli.terminal import say
from stenograph.errors import SourceError


class _Report(Protocol):
    @property
    def ok(self) -> bool: ...


R = TypeVar("R", bound=_Report)


def check_all(targets: Iterable[str], check: Callable[[str], R], told: Callable[[R], None]) -> tuple[list[R], int]:
    """The reports, of each of which `told` hears at once, and the exit code: 3 for what cannot be read, else 1 or 0."""
    code = 0
    reports: list[R] = []
    for target in targets:
        try:
            report = check(target)
        except SourceError as error:
            say(str(error))
            code = 3
            continue
        code = code or (0 if report.ok else 1)
        reports.append(report)
        told(report)
    return reports, code
