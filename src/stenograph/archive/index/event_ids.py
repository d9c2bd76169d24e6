"""The ids of events: small numbers that increase with the events' time."""

from __future__ import annotations

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.tables import MS_PER_ID

_LAST_ID = 1 << 40
_PAGE = 1 << 20
_MOST = 200_000


class EventIds:
    """Which ids are taken, read a page at a time.

    No page beyond `_end` needs to be read: every taken id there was taken here, and is remembered.
    """

    def __init__(self, index: IndexWriter, most: int = _MOST) -> None:
        """At most `most` ids are remembered after `forget`."""
        self._index = index
        self._most = most
        self._pages: dict[int, dict[int, int]] = {}
        self._end = 0
        self.look_again()

    def take(self, ms: int | None, last: int) -> int:
        """Take the first free id from a moment on that is higher than `last`."""
        wanted = 0 if ms is None or ms < 0 else ms // MS_PER_ID
        if wanted > _LAST_ID:
            wanted = _LAST_ID
        if wanted <= last:
            wanted = last + 1
        page = self._page(wanted)
        if wanted not in page:
            page[wanted] = wanted + 1
            return wanted
        passed = []
        while (after := self._page(wanted).get(wanted)) is not None:
            passed.append(wanted)
            wanted = after
        for each in passed:  # path compression: later lookups jump to the next free id
            self._page(each)[each] = wanted + 1
        self._page(wanted)[wanted] = wanted + 1
        return wanted

    def forget(self) -> None:
        """Drop the oldest pages, if there are many. All taken ids must be in the table by now."""
        remembered = sum(map(len, self._pages.values()))
        while remembered > self._most:
            first = next(iter(self._pages))
            remembered -= len(self._pages.pop(first))
            self._end = max(self._end, first + _PAGE - 1)

    def look_again(self) -> None:
        """Forget everything, because events were removed. All taken ids must be in the table by now."""
        self._pages = {}
        self._end = self._index.written("SELECT coalesce(max(id), -1) FROM events")[0][0]

    def _page(self, number: int) -> dict[int, int]:
        """The taken ids around one, each with the next id to try."""
        first = number - number % _PAGE
        page = self._pages.get(first)
        if page is None:
            query = "SELECT id FROM events WHERE id >= ? AND id < ?"
            taken = self._index.written(query, (first, first + _PAGE)) if first <= self._end else []
            page = self._pages[first] = {number: number + 1 for (number,) in taken}
        return page
