"""The strip of an archived run: where prompts, failures and subagents are."""

from __future__ import annotations

from collections.abc import Iterator

from stenograph.archive.reader import IndexReader
from stenograph.render.html.strip import MOST, Cell, Lane, strip
from stenograph.server.pages import Page, RunPages

_WORTH = 20
"""The number of events from which a strip is shown."""
_SUBAGENTS = 60
_ERRORS = """
    SELECT seq FROM main.events INDEXED BY events_error WHERE error AND run = ?
      AND id BETWEEN (SELECT min(id) FROM main.events WHERE run = ?) AND (SELECT max(id) FROM main.events WHERE run = ?)
"""


def run_strip(reader: IndexReader, run: int, run_id: str, pages: RunPages, here: Page | None) -> str:
    """The strip of a run (`runs.id`), with the page that is shown marked; nothing for a short run."""
    last = pages.last
    if last < _WORTH:
        return ""
    step = -(-last // MOST)
    asked = _first_of(pages.prompts, step)
    failed = _first_of(sorted(seq for (seq,) in reader.index.execute(_ERRORS, (run, run, run))), step)
    cells = [_cell(run_id, number, step, asked.get(number), failed.get(number)) for number in range(-(-last // step))]
    return strip(cells, [*_lanes(reader, run, last), *_here(here, last)], last)


def _first_of(seqs: list[int], step: int) -> dict[int, int]:
    """By the cell, the first of some events in it."""
    found: dict[int, int] = {}
    for seq in seqs:
        found.setdefault((seq - 1) // step, seq)
    return found


def _cell(run_id: str, number: int, step: int, asked: int | None, failed: int | None) -> Cell:
    seq = failed or asked or number * step + 1
    kind = "bad" if failed else "ask" if asked else ""
    what = {"bad": "error", "ask": "prompt"}.get(kind, "event")
    return Cell(weight=1, place=f"/runs/{run_id}/at/{seq}", kind=kind, title=f"{what}, event {seq:,}")


def _lanes(reader: IndexReader, run: int, last: int) -> Iterator[Lane]:
    query = "SELECT first_seq, last_seq FROM main.sources WHERE run = ? AND source <> 'main' ORDER BY first_seq LIMIT ?"
    for first, end in reader.index.execute(query, (run, _SUBAGENTS)):
        yield Lane((first - 1) / last, end / last, "sub")


def _here(page: Page | None, last: int) -> Iterator[Lane]:
    if page is not None and (page.first > 1 or page.last < last):
        yield Lane((page.first - 1) / last, page.last / last, "here")
