"""Answers tool calls from the archive: for one project, without the session that asks, and with secrets masked.

A run counts as being written, and is left out, when one of its files was written since the server started, when its
newest event is newer than that, or when the client names it in the request. The session of the agent that asks is
always such a run: it wrote the prompt that led to the call.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from stenograph.errors import InvalidQuery, RunNotFound, StenographError
from stenograph.mcp.arguments import checked
from stenograph.mcp.declared import MOST_CHARS, TOOLS
from stenograph.mcp.quoting import answer, on_one_line, quoted

if TYPE_CHECKING:
    import sqlite3

    from stenograph.model.event import Event
    from stenograph.query.scope import Scope
    from stenograph.query.touched import Touch
    from stenograph.runs.archive import Archive
    from stenograph.runs.info import RunInfo
    from stenograph.runs.mask import RunMask
    from stenograph.runs.reader import RunReader

_MARGIN = 1.0
"""Seconds by which the clock of a file system may be behind ours."""
_LONGEST_LINE = 300
_MOST_NAMED = 100
"""Texts of a request's `_meta` that are searched for the id of the asking session."""
_HEAD = 400
"""Characters that are left free for the first lines of an answer: the next step, and the notice."""


class History:
    """Answers tool calls. Nothing is opened before the first one."""

    def __init__(self, archive: str | None = None, project: str | None = None, began: float | None = None) -> None:
        """`archive` is its folder; `project` is the folder for calls that name none, None is all."""
        self._home = archive
        self._project = project
        self._opened: tuple[int | None, Archive] | None = None
        """The inode of the index, and the archive."""
        self._run: tuple[str, RunReader] | None = None
        """The run that was read last."""
        self._began = (time.time() if began is None else began) - _MARGIN

    def call(self, name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> tuple[str, bool]:
        """The text of the answer, and whether it is an error; errors that we raise on purpose are one line.

        `meta` is the request's `_meta`. Every text in it may be the id of the session that asks.
        """
        tools: dict[str, Callable[..., str]] = {
            "search_history": self._search,
            "list_runs": self._list,
            "read_run": self._read,
            "run_stats": self._stats,
            "find_file": self._find_file,
        }
        try:
            values = checked(TOOLS[name]["inputSchema"], arguments)
            text = tools[name](frozenset(islice(_strings(meta), _MOST_NAMED)), **values)
        except StenographError as error:
            return on_one_line(str(error), 2_000), True
        return text, False

    def close(self) -> None:
        """Close what was opened."""
        if self._run is not None:
            self._run[1].close()
            self._run = None
        if self._opened is not None:
            self._opened[1].close()
            self._opened = None

    @property
    def _archive(self) -> Archive:
        """The archive, opened again when its index is another file: it was rebuilt."""
        from stenograph.archive.store.home import home_of
        from stenograph.runs.archive import Archive

        file = None
        with suppress(OSError):
            file = home_of(self._home).index.stat().st_ino
        if self._opened is not None and self._opened[0] != file:
            self.close()
        if self._opened is None:
            self._opened = (file, Archive(self._home))
        return self._opened[1]

    def _reader(self, run_id: str) -> RunReader:
        """A reader that masks. The last one is kept: to know all secrets of a run, it reads the run once."""
        archive = self._archive
        if self._run is None or self._run[0] != run_id:
            if self._run is not None:
                self._run[1].close()
            self._run = (run_id, archive.run(run_id, redact=True))
        return self._run[1]

    @cached_property
    def _mask(self) -> RunMask:
        from stenograph.runs.mask import RunMask

        return RunMask()

    # The tools. `named`: the texts of the request's `_meta`, which may name the session that asks.

    def _search(
        self, named: frozenset[str], *, query: str, limit: int, skip: int, role: str | None = None,
        tool: str | None = None, errors: bool = False, **where: Any,
    ) -> str:  # fmt: skip
        from stenograph.query.language import parse_query
        from stenograph.query.search import Wanted, search

        parsed = parse_query(query)
        with self._archive.reading() as reader:
            scope = self._scope(reader.index, named, **where)
            wanted = Wanted(role=role, tool=tool, is_error=errors)
            found = search(reader, parsed, scope, wanted, limit=skip + limit + 1, mask=self._mask.event)
            hits = list(islice(found, skip, None))
        if not hits:
            return f"Nothing found{self._where(where)}. {self._hint(where)}"
        more = f"More: search_history skip={skip + limit}." if len(hits) > limit else "No more hits."
        return answer(
            f"{more} To read on at a hit: read_run run=RUN start=SEQ.",
            (
                _row(
                    hit.run_id,
                    hit.seq,
                    f"{_words(hit.timestamp, hit.source, hit.role, hit.tool_name)}\n{hit.snippet.text}",
                )
                for hit in hits[:limit]
            ),
        )

    def _list(self, named: frozenset[str], *, limit: int, after: str | None = None, **where: Any) -> str:
        from stenograph.query.prices import load_prices
        from stenograph.query.runs import list_runs
        from stenograph.runs.info import info_of_line

        with self._archive.reading() as reader:
            scope = self._scope(reader.index, named, **where)
            lines, total = list_runs(reader.index, scope, load_prices(), limit, after)
        if not lines:
            return f"No runs{self._where(where)}. {self._hint(where)}"
        left = total - len(lines)
        more = f"{left} more: list_runs after={lines[-1].run_id}." if left else "No more runs."
        return answer(
            f"{more} To read one: read_run run=RUN.",
            (_row(line.run_id, None, _run_facts(self._mask.info(info_of_line(line, None)))) for line in lines),
        )

    def _read(
        self, named: frozenset[str], *, run: str, start: int, offset: int, max_chars: int,
        types: list[str] | None = None,
    ) -> str:  # fmt: skip
        from stenograph.archive.index.words import event_text

        run_id = self._earlier(run, named)
        pieces: list[str] = []
        room = max_chars - _HEAD
        next_step = "This is the end of the run."
        for event in self._reader(run_id).events(from_seq=start, keep_raw=False):
            if types is not None and not any(_is_of_type(event, each) for each in types):
                continue
            skipped = offset if event.seq == start else 0
            text = event_text(event)[skipped:]
            if not text and types is None:
                continue
            piece = _event_lines(event, text)
            if len(piece) > room and not pieces:
                text = _longest_prefix(text, room - len(_event_lines(event, "")))
                piece = _event_lines(event, text)
                skipped += len(text)
                next_step = f"Go on: read_run run={run_id} start={event.seq} offset={skipped}."
                pieces.append(piece)
                break
            if len(piece) > room:
                next_step = f"Go on: read_run run={run_id} start={event.seq}."
                break
            pieces.append(piece)
            room -= len(piece) + 1
        if not pieces:
            return f"There are no such events of run {run_id} from {start} on."
        return answer(next_step, pieces)

    def _stats(self, named: frozenset[str], *, run: str | None = None, by: str | None = None, **where: Any) -> str:
        if (run is None) == (by is None):
            raise InvalidQuery("give either run or by")
        if run is not None:
            info = self._reader(self._earlier(run, named)).info
            fields = ((name, value) for name, value in info.to_dict().items() if value is not None)
            facts = [on_one_line(f"{name}: {value}", _LONGEST_LINE) for name, value in fields]
            return answer("This is all that is counted of the run.", [quoted("\n".join(facts))])
        return self._sums(str(by), self._scope_of(named, where))

    def _sums(self, by: str, scope: Scope) -> str:
        from stenograph.query.prices import load_prices
        from stenograph.query.stats import stats

        with self._archive.reading() as reader:
            sums = stats(reader.index, scope, load_prices(), by).as_dict()
        lines: list[str] = []
        room = MOST_CHARS - _HEAD
        for row in sums["rows"]:
            row_text = self._mask.text(", ".join(f"{key}={value}" for key, value in row.items() if value))
            line = quoted(on_one_line(row_text, 2 * _LONGEST_LINE))
            room -= len(line) + 1
            if room < 0:
                break
            lines.append(line)
        left = len(sums["rows"]) - len(lines)
        return answer(f"{left} more rows: give since or until." if left else "No more rows.", lines)

    def _find_file(self, named: frozenset[str], *, path: str, limit: int, changes_only: bool, **where: Any) -> str:
        from stenograph.query.touched import touches

        with self._archive.reading() as reader:
            scope = self._scope(reader.index, named, **where)
            found = list(islice(touches(reader, path, scope, changes_only=changes_only), limit + 1))
        if not found:
            return f"No call read or changed {on_one_line(path, 200)}{self._where(where)}. {self._hint(where)}"
        more = "More: give until, or a higher limit." if len(found) > limit else "No more calls."
        return answer(
            f"{more} To read on at one: read_run run=RUN start=SEQ. Shell commands are not searched.",
            (
                _row(
                    each.run_id,
                    each.seq,
                    f"{_words(each.timestamp, each.agent, each.kind, _lines(each))}\n{self._mask.text(each.path)}",
                )
                for each in found[:limit]
            ),
        )

    # The scope of a call.

    def _scope(
        self, index: sqlite3.Connection, named: frozenset[str], *, project: str | None = None,
        all_projects: bool = False, agent: str | None = None, since: str | None = None, until: str | None = None,
    ) -> Scope:  # fmt: skip
        from stenograph.query.period import period_of
        from stenograph.query.scope import Scope

        folder = project or (None if all_projects else self._project)
        return Scope(
            agent=agent,
            project=folder,
            period=period_of(since, until),
            without=tuple(self._being_written(index, named)),
        )

    def _scope_of(self, named: frozenset[str], where: dict[str, Any]) -> Scope:
        with self._archive.reading() as reader:
            return self._scope(reader.index, named, **where)

    def _being_written(self, index: sqlite3.Connection, named: frozenset[str]) -> Iterator[str]:
        """The ids of the runs that are left out."""
        live = {
            run_id for (run_id,) in index.execute("SELECT run_id FROM main.runs WHERE ended_ms >= ?", (self._began_ms,))
        }
        files = index.execute("SELECT run_id, path FROM main.files WHERE is_present")
        live |= {run_id for run_id, path in files if run_id not in live and self._is_new(path)}
        yield from sorted(live | named)

    @property
    def _began_ms(self) -> int:
        return int(self._began * 1000)

    def _is_new(self, path: str) -> bool:
        """Whether a file was written since the start; a session of a database (`FILE#SESSION`) has no own file."""
        with suppress(OSError, ValueError):
            return os.stat(path).st_mtime >= self._began  # noqa: PTH116  # thousands of them, at every call
        return False

    def _earlier(self, run: str, named: frozenset[str]) -> str:
        """The id of the run that a call names; raises `RunNotFound` for one that is being written."""
        with self._archive.reading() as reader:
            run_id = reader.find_run(run)[1]
            if run_id in set(self._being_written(reader.index, named)):
                raise RunNotFound(f"run {run_id} is being written now; only earlier sessions can be read", run)
        return run_id

    def _where(self, where: dict[str, Any]) -> str:
        folder = where.get("project") or (None if where.get("all_projects") else self._project)
        return "" if folder is None else f" in {on_one_line(folder, 300)}"

    def _hint(self, where: dict[str, Any]) -> str:
        is_narrow = not where.get("all_projects") and (self._project is not None or "project" in where)
        return "Try all_projects=true, or other words." if is_narrow else "Try other words, or steno sync first."


def _row(run_id: str, seq: int | None, text: str) -> str:
    """One row: its position, in our words, then text of transcripts, quoted."""
    start = "" if seq is None else f" start={seq}"
    lines = (on_one_line(line, _LONGEST_LINE) for line in text.splitlines())
    return f"run={run_id}{start}\n{quoted(chr(10).join(line for line in lines if line))}"


def _words(*words: str | None) -> str:
    return " ".join(word for word in words if word)


def _lines(touch: Touch) -> str:
    return f"+{touch.added} -{touch.removed}" if touch.added or touch.removed else ""


def _run_facts(info: RunInfo) -> str:
    counts = f"turns={info.turns} calls={info.tool_calls} failed={info.failed_calls}"
    head = _words(info.started_at, info.agent, info.status, counts)
    return "\n".join([head, on_one_line(info.title or "(no prompt)", 200), on_one_line(info.cwd or "", 200)])


def _event_lines(event: Event, text: str) -> str:
    head = _words(event.timestamp, event.type, "" if event.source == "main" else event.source)
    return f"start={event.seq}\n{quoted(on_one_line(head, _LONGEST_LINE))}\n{quoted(text)}"


def _is_of_type(event: Event, wanted: str) -> bool:
    return event.type == wanted or event.type.startswith(f"{wanted}.")


def _longest_prefix(text: str, room: int) -> str:
    """The longest beginning that fits when it is quoted; at least one character, so that reading makes progress."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(quoted(text[:middle])) <= room else (low, middle - 1)
    return text[:low]


def _strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
