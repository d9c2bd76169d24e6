"""`transcript.html`: the run as a page, unless it is too long for a browser."""

from __future__ import annotations

from pathlib import Path

from stenograph.bundle.spool import Spool
from stenograph.fold.status import Life
from stenograph.journal.reader import read_events
from stenograph.render.explanation import explanation_lines
from stenograph.render.html.page import HtmlPage

PAGE = "transcript.html"
LONGEST = 32 << 20
"""The most bytes of events for which a page is made by default: browsers are slow with longer pages."""
_TOO_LONG = f"more than {LONGEST >> 20} MiB of events; steno show events.jsonl --as html makes it"


class PageEvents:
    """Stores the events of a run until the page is made from them, which reads them more than once."""

    def __init__(self, folder: Path, stem: str, is_wanted: bool | None, expected: int = 0) -> None:
        """`expected`: the minimum size of the events, as far as it is known."""
        self._limit = float("inf") if is_wanted else LONGEST
        self.left_out = "not asked for" if is_wanted is False else _TOO_LONG if expected > self._limit else ""
        """Why there is no page."""
        self._path = folder / "page" / f"{stem or 'run'}.jsonl"  # its stem is the run id of lines that name no run
        self._path.parent.mkdir()
        self._size = 0
        self._file = None if self.left_out else self._path.open("wb")

    def add(self, line: bytes | memoryview) -> None:
        """Take the next line of the events, or a piece of it."""
        if self._file is None:
            return
        self._size += len(line)
        if self._size > self._limit:
            self._file.close()
            self._file = None
            self._path.unlink()
            self.left_out = _TOO_LONG
            return
        self._file.write(line)

    def write(self, spool: Spool, problems: list[str], life: Life) -> list[str]:
        """Make the page, if it is wanted, and return the lines that say what happened in the run."""
        if self._file is None:
            return []
        self._file.close()
        try:
            page = HtmlPage(lambda: read_events(self._path), life=life)
            with spool.writing(PAGE) as member:
                for part in page.parts():
                    member.write(part.encode("utf-8", "replace"))
            return list(explanation_lines(page.explanation))
        except Exception as error:  # noqa: BLE001  # a bundle without the page is better than none
            self.left_out = "it could not be made"
            problems.append(f"{PAGE} is missing: {error}")
            return []
