"""The one stream of events for a browser: what is appended to runs, and runs that change.

Theory of operation. A stream has a cursor per run: the revision of the run and the number of the last event that was
sent. Whenever the archive may have changed, it reads the index from there, so a slow reader costs nothing and a reader
that comes back loses nothing. The cursor of all runs is the `id` of every message that moves it. Figures are read in a
separate thread and have no `id`. A run that was renumbered, or is too far ahead, is a `gap`: its page must be loaded
again.

One stream serves all tabs of a browser, and tabs of the same run may have different parts of it. The stream begins at
the first of their cursors, and no message covers events on both sides of any of them. A message names the event that it
comes after, so a tab can tell a message that it has already, the next one, and one before which it missed something.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from stenograph.archive.reader import IndexReader
from stenograph.errors import RunNotFound, SourceError
from stenograph.fold.units import BEGINS_UNIT, begins_unit
from stenograph.model import mend
from stenograph.model.event import Event
from stenograph.model.payload import ToolPayload
from stenograph.runs.info import RunInfo
from stenograph.server.answers import json
from stenograph.server.feed import Feed
from stenograph.server.fragment import frame_of, rendered
from stenograph.server.listing import OPEN_AMONG, is_open, rows_of, runs_of, state_of, title_of
from stenograph.server.run_page import masked
from stenograph.server.site import Site

BATCH = 200
"""Events that are read and sent at once."""
MESSAGE_BYTES = 256_000
TOO_FAR = 2000
"""Events that are sent one after another; beyond that the page is loaded again."""
MOST_RUNS = 200
BEAT = 15.0
RETRY_MS = 1000
_LISTED = 50
_BREATH = 1.0
"""Seconds between two looks at the list and at figures: they change with every event, and cost more."""
_STATUS = 5.0
"""Seconds after which a status is looked at although nothing was written: a process may have ended."""

Position = tuple[int, int]
"""The revision of a run, and the number of an event of it."""
Cursor = dict[str, Position]


def stream(site: Site, feed: Feed, request: Request) -> Response:
    """`/api/v1/stream?runs=list,ID,…&after=CURSOR`."""
    if not site.runs.is_live:
        return json(request, {"error": "a store is not followed here; steno tail -f RUN --store URL does that"}, 404)
    topics = [each for each in request.query_params.get("runs", "").split(",") if each]
    cursor = request.headers.get("last-event-id") or request.query_params.get("after", "")
    following = Following(site, topics, cursor_of(cursor), places_of(request.query_params.get("after", "")))
    headers = {"x-accel-buffering": "no"}
    return StreamingResponse(_messages(following, feed), media_type="text/event-stream", headers=headers)


def places_of(text: str) -> dict[str, list[Position]]:
    """The places of tabs by their run, the first one first: `RUN:REVISION:SEQ`, joined by commas.

    What is not one is left out.
    """
    found: dict[str, list[Position]] = {}
    for part in text.split(","):
        run_id, _, place = part.partition(":")
        revision, _, seq = place.partition(":")
        if run_id and all(each.isascii() and each.isdigit() and len(each) < 12 for each in (revision, seq)):
            found.setdefault(run_id, []).append((int(revision), int(seq)))
    return {run_id: sorted(places) for run_id, places in found.items()}


def cursor_of(text: str) -> Cursor:
    """Where a stream begins, by the places of its tabs."""
    return {run_id: places[0] for run_id, places in places_of(text).items()}


async def _messages(following: Following, feed: Feed) -> AsyncIterator[bytes]:
    waiter = feed.waiter()
    beaten = time.monotonic()
    figures: asyncio.Task[list[bytes]] | None = None  # they take longer, so what is appended does not wait for them
    try:
        yield b"retry: %d\n\n" % RETRY_MS
        while not feed.is_closed:
            messages = await run_in_threadpool(following.look)
            if figures is not None and figures.done():
                messages += figures.result()
                figures = None
            for message in messages:
                yield message
            if messages:
                beaten = time.monotonic()
            if following.is_behind:
                continue
            if figures is None and following.is_time_for_figures:
                figures = asyncio.create_task(run_in_threadpool(following.figures))
                figures.add_done_callback(lambda _: waiter.wake())
            if await waiter.wait(BEAT if figures is not None else min(following.patience, BEAT)):
                following.note_change()
            elif time.monotonic() - beaten >= BEAT:
                beaten = time.monotonic()
                yield b": beat\n\n"
        yield b"event: bye\ndata: {}\n\n"
    finally:
        waiter.close()
        if figures is not None:
            figures.cancel()


class Following:
    """The runs that one stream follows, each from its cursor."""

    def __init__(
        self, site: Site, topics: Sequence[str], cursor: Cursor, places: Mapping[str, Sequence[Position]] | None = None
    ) -> None:
        """`places` are those of all tabs: no message goes beyond one of them."""
        self._site = site
        self._runs = [each for each in dict.fromkeys(topics) if each != "list"][:MOST_RUNS]
        self._has_list = "list" in topics
        self._cursor = {run_id: place for run_id, place in cursor.items() if run_id in self._runs}
        self._sent = {run_id: seq for run_id, (_, seq) in self._cursor.items()}
        """By the run, the event that the next message comes after."""
        self._ends = {run_id: {seq for _, seq in of_tabs} for run_id, of_tabs in (places or {}).items()}
        """By the run, events after which a message ends."""
        self._known: dict[str, str] = {}
        """Of runs on the list and of those that are followed: the state that was sent."""
        self._open: set[str] = set()
        """Runs that were open at the last look: one may end without an event that makes it one of the newest."""
        self._grown: set[str] = set()
        """Followed runs whose figures are to be sent."""
        self._looked = -math.inf
        self._has_changed = False
        """Whether the archive may have changed since figures were looked at."""
        self._is_first = True
        self.is_behind = False
        """Whether there is more to read at once."""

    def note_change(self) -> None:
        """Note that the archive may have changed."""
        self._has_changed = True

    @property
    def patience(self) -> float:
        """Seconds until figures are to be looked at again."""
        is_soon = self._grown or (self._has_list and self._has_changed)
        return max(0.0, self._looked + (_BREATH if is_soon else _STATUS) - time.monotonic())

    def look(self) -> list[bytes]:
        """What has come since the last look, a part of it at most."""
        self.is_behind = False
        sent: list[bytes] = []
        try:
            with self._site.archive() as archive, archive.reading() as reader:
                for run_id in self._runs:
                    sent += self._run(reader, run_id)
        except RunNotFound:  # there is no archive yet, or it is being made anew
            return sent
        except SourceError:  # the index is being replaced; the next look finds it
            return sent
        return sent

    @property
    def is_time_for_figures(self) -> bool:
        """Whether figures are to be looked at again."""
        return self.patience == 0

    def figures(self) -> list[bytes]:
        """Runs whose figures or status have changed: those on the list, and those that are followed."""
        self._looked = time.monotonic()
        self._has_changed = False
        self._grown = set()
        try:
            messages = list(self._figures())
        except RunNotFound:  # there is no archive yet, so whatever comes has begun since
            messages = []
        except SourceError:  # as above
            return []
        if self._is_first:
            self._is_first = False
            messages.append(_encoded("listed", {}))
        return messages

    def _run(self, reader: IndexReader, run_id: str) -> Iterator[bytes]:
        found = reader.index.execute(
            "SELECT id, revision, last_seq FROM main.runs WHERE run_id = ?", (run_id,)
        ).fetchone()
        if found is None:
            return
        run, revision, last = found
        known = self._cursor.get(run_id)
        if known is None:
            self._cursor[run_id] = revision, last
            self._sent[run_id] = last
            return
        if known[0] != revision or known[1] > last or last - known[1] > TOO_FAR:
            self._cursor[run_id] = revision, last
            self._sent[run_id] = last
            self._grown.add(run_id)
            yield self._message("gap", run_id, {"from": known[1] + 1})
            return
        if known[1] == last:
            return
        events = masked(self._site, reader.events(run, known[1] + 1, min(last, known[1] + BATCH)))
        for kind, seq, data in _parts(reader, run, events, self._ends.get(run_id, set())):
            after, self._sent[run_id] = self._sent[run_id], seq
            self._cursor[run_id] = revision, seq
            yield self._message(kind, run_id, {"after": after, "seq": seq, **data})
        reached = known[1] + BATCH
        self._cursor[run_id] = revision, min(last, reached)
        self._grown.add(run_id)
        self.is_behind |= reached < last

    def _infos(self) -> Iterator[tuple[RunInfo, bool]]:
        """The runs to tell about, and whether each is one of the newest on the list."""
        newest = runs_of(self._site, {}, OPEN_AMONG if self._is_first else _LISTED)[0] if self._has_list else []
        found = [(info, place < _LISTED) for place, info in enumerate(newest) if place < _LISTED or is_open(info)]
        yield from found
        others = {*self._runs, *self._open} - {info.run_id for info, _ in found}
        if others:
            with self._site.archive() as archive, archive.reading() as reader:
                query = "SELECT id FROM main.runs WHERE run_id IN (SELECT value FROM json_each(?))"
                for (run,) in reader.index.execute(query, (msgspec.json.encode(sorted(others)).decode(),)).fetchall():
                    yield self._site.info(reader, run), False

    def _figures(self) -> Iterator[bytes]:
        """The oldest first, as a page puts what it did not have on top.

        At first that is every row, and then `listed`: between the page and its stream, or while a server was away, any
        run may have changed. The page knows by their states which it has already.
        """
        infos = list(self._infos())
        self._open = {info.run_id for info, _ in infos if self._has_list and is_open(info)}
        changed = [(info, newest) for info, newest in infos if self._known.get(info.run_id) != state_of(info)][::-1]
        rows = rows_of(self._site, [info for info, _ in changed]) if changed else []
        self._known |= {info.run_id: state_of(info) for info, _ in changed}
        for (info, newest), row in zip(changed, rows, strict=True):
            data = {"status": info.status, "title": title_of(info), "figures": info.to_dict(), "row": row}
            yield _encoded("run", {"run": info.run_id, "newest": newest, **data})

    def _message(self, kind: str, run_id: str, data: dict[str, Any]) -> bytes:
        cursor = ",".join(f"{each}:{revision}:{seq}" for each, (revision, seq) in self._cursor.items())
        place = self._cursor.get(run_id)
        own = {"run": run_id, "cursor": f"{run_id}:{place[0]}:{place[1]}"} if place else {"run": run_id}
        return b"id: %s\n" % cursor.encode() + _encoded(kind, {**own, **data})


def _encoded(kind: str, data: dict[str, Any]) -> bytes:
    plain, _ = mend.scrub(msgspec.to_builtins(data))
    body = msgspec.json.encode(plain)  # on one line: JSON escapes line ends
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), body)


def _parts(
    reader: IndexReader, run: int, events: Sequence[Event], places: Collection[int]
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """The events as messages: what one source says in a row is appended, a result replaces its call.

    A message ends at the latest after an event of `places`.
    """
    group: list[Event] = []
    calls: set[str] = set()
    size = 0
    for event in events:
        payload = event.payload
        is_elsewhere = group and (event.source != group[0].source or begins_unit(event))
        if is_elsewhere or (group and group[-1].seq in places) or size > MESSAGE_BYTES:
            yield _appended(reader, run, group)
            group, calls, size = [], set(), 0
        call = None
        if event.type == "tool.result" and isinstance(payload, ToolPayload) and payload.call_id not in calls:
            call = _call_of(reader, run, payload.call_id, event.seq)
        if call is not None and group:
            yield _appended(reader, run, group)
            group, calls, size = [], set(), 0
        if call is not None:
            html = rendered([call, event], 1, is_live=True, is_fragment=True)
            yield "replace", event.seq, {"anchor": f"seq-{call.seq}", "html": html, "count": 1}
            continue
        group.append(event)
        size += _size(event)
        if event.type == "tool.call" and isinstance(payload, ToolPayload) and payload.call_id:
            calls.add(payload.call_id)
    if group:
        yield _appended(reader, run, group)


def _appended(reader: IndexReader, run: int, group: Sequence[Event]) -> tuple[str, int, dict[str, Any]]:
    first, last = group[0], group[-1]
    query = f"SELECT count(*) FROM main.events WHERE run = ? AND {BEGINS_UNIT} AND seq <= ?"
    unit = reader.index.execute(query, (run, first.seq)).fetchone()[0]
    html = rendered(group, unit, is_live=True, is_fragment=True)
    data: dict[str, Any] = {"first": first.seq, "unit": unit, "count": len(group), "html": html}
    if first.source != "main":
        origin = first.origin
        parent = None if origin is None else origin.parent_call_id
        call = None if not parent else _call_of(reader, run, parent, first.seq)
        data |= {"source": first.source, "frame": frame_of(first), "under": "" if call is None else f"seq-{call.seq}"}
    return "append", last.seq, data


def _call_of(reader: IndexReader, run: int, call_id: str, before: int) -> Event | None:
    """The newest call of an id that stands before an event."""
    query = """
        SELECT call.id FROM main.calls AS calls JOIN main.events AS call ON call.id = calls.call
        WHERE calls.run = ? AND calls.call_id = ? AND call.seq < ? ORDER BY call.seq DESC LIMIT 1
    """
    found = reader.index.execute(query, (run, call_id, before)).fetchone() if call_id else None
    return None if found is None else reader.event(found[0])


def _size(event: Event) -> int:
    payload = event.payload
    return len(payload.output) if isinstance(payload, ToolPayload) and isinstance(payload.output, str) else 1000
