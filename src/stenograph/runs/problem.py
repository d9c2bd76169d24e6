"""Parts of a run that could not be read correctly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from stenograph.journal.reader import JournalReader
    from stenograph.sources.conversion import FileReport


class Problem(Struct, frozen=True, kw_only=True):
    """One kind of defect in one file of a run."""

    path: str
    kind: str
    """`malformed`, `failed`, `replaced`, `torn`, `missing` or `unread`."""
    number: int
    """How many lines, characters, bytes or files."""
    text: str
    """The sentence that people see."""

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


def journal_problems(journal: JournalReader, path: str) -> tuple[Problem, ...]:
    """The defects of a journal that was read to its end; `path` is its name for people."""
    flaws = [
        ("malformed", journal.malformed, "lines are not JSON: unknown events without a number"),
        ("replaced", journal.replaced, "characters were not UTF-8 and are shown as U+FFFD"),
        ("torn", journal.torn_bytes, "bytes at the end are an unfinished line and not shown"),
    ]
    return tuple(
        Problem(path=path, kind=kind, number=number, text=f"{number} {text}; steno verify says more")
        for kind, number, text in flaws
        if number
    )


def source_problems(files: Iterable[FileReport]) -> tuple[Problem, ...]:
    """The defects of agents' files that were read to their ends."""
    return tuple(problem for file in files for problem in _of_file(file))


def _of_file(file: FileReport) -> Iterable[Problem]:
    if file.problem is not None:
        yield Problem(path=file.path, kind="unread", number=1, text=file.problem)
        return
    report = file.report
    flaws = [
        ("malformed", report.malformed, "lines are not JSON"),
        ("failed", report.failed, "lines could not be mapped (please report)"),
        ("replaced", report.replaced, "characters were replaced"),
        ("missing", len(report.wanted_files), "side files were missing"),
    ]
    for kind, number, text in flaws:
        if number:
            yield Problem(path=file.path, kind=kind, number=number, text=f"{number} {text}")
