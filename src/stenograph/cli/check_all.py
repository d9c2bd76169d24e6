"""Checks several targets one after the other; one that cannot be read does not stop the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from stenograph.cli.terminal import say
from stenograph.errors import SourceError


class _Report(Protocol):
    @property
    def ok(self) -> bool: ...


R = TypeVar("R", bound=_Report)


def check_all(targets: Iterable[str], check: Callable[[str], R], on_report: Callable[[R], None]) -> tuple[list[R], int]:
    """Call `on_report` for each report as it is ready; returns all of them and the exit code.

    The code is 3 if a target cannot be read, else 1 if a report is not ok, else 0.
    """
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
        on_report(report)
    return reports, code
