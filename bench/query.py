"""Asking the archive: search, list, stats and the first screen of a huge session."""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import Row, environment, median_spent, peak_of, spent_by
from bench.tree import Text, real_lines
from stenograph.archive import IndexReader, open_index
from stenograph.archive.index.chunk import CHUNK_BYTES, packed
from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.indexing import Indexer
from stenograph.archive.store.kept_file import KeptFile
from stenograph.archive.store.pack import About
from stenograph.model import Event, encode
from stenograph.model.block import TextBlock
from stenograph.model.payload import MessagePayload, ToolPayload, UsagePayload
from stenograph.query.language import parse_query
from stenograph.query.prices import load_prices
from stenograph.query.runs import list_runs
from stenograph.query.scope import Scope
from stenograph.query.search import search
from stenograph.query.stats import stats

SESSIONS, CALLS = 400, 100
"""About 300 MB of agents' files: 40,000 model calls with as many tools, 160,000 events."""
RUNS = 10_000
HUGE = 2_000_000_000
BEGIN = 1_780_000_000
MODELS = ("claude-opus-5-5", "claude-sonnet-4-5-20250929", "gpt-5.5", "local-model")
HUGE_RUN = "99999999-0000-4000-8000-000000000000"


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    home, many, huge = folder / "archive", folder / "many", folder / "huge"
    make_index(home, SESSIONS, CALLS)
    make_index(many, RUNS, 2)
    _make_huge(huge)
    return [*_searching(home), *_adding_up(home), *_listing(many), _first_screen(huge)]


def _searching(home: Path) -> list[Row]:
    with IndexReader(home) as archive:
        common = _median(lambda: list(search(archive, parse_query("self"), limit=20)))
        rare = _median(lambda: list(search(archive, parse_query("tarfile OR semaphore"), limit=20)))
        phrase = _median(lambda: list(search(archive, parse_query('"return self" NOT class'), limit=20)))
        ranked = _median(lambda: list(search(archive, parse_query("socket timeout"), limit=20, by_rank=True)))
    slowest = max(rare, phrase, ranked)
    command, bare = _command(home, "search", "socket"), _command(home, "--version")
    return [
        Row("newest 20 of a common word, in process", "≤ 5 ms", _ms(common), "", common <= 0.005),
        Row(
            "search: rare words, phrases, ranked; the slowest, in process", "≤ 50 ms", _ms(slowest), "", slowest <= 0.05
        ),
        Row("steno search as a command", "≤ 200 ms", _ms(command), f"start-up {_ms(bare)}", command <= 0.2),
    ]


def _adding_up(home: Path) -> list[Row]:
    prices = load_prices()
    with IndexReader(home) as archive:
        took = {by: _median(lambda by=by: stats(archive.index, Scope(), prices, by)) for by in ("day", "model", "tool")}  # type: ignore[misc]
    command, bare = _command(home, "stats"), _command(home, "sql", "--schema")
    over = max(0.0, command - bare)
    calls = SESSIONS * CALLS
    return [
        Row(
            f"steno stats over {calls:,} model calls, beyond start-up",
            "≤ 60 ms",
            _ms(over),
            _ms(took["day"]),
            over <= 0.06,
        ),
        Row("stats by model, in process", "≤ 60 ms", _ms(took["model"]), "", took["model"] <= 0.06),
        Row("stats by tool, in process", "≤ 100 ms", _ms(took["tool"]), "", took["tool"] <= 0.1),
    ]


def _listing(home: Path) -> list[Row]:
    with IndexReader(home) as archive:
        everything = _median(lambda: list_runs(archive.index, Scope(), load_prices()))
        newest = _median(lambda: list_runs(archive.index, Scope(), load_prices(), 30))
    command, bare = _command(home, "ls", "--json"), _command(home, "sql", "--schema")
    over = max(0.0, command - bare)
    return [
        Row(f"the newest 30 of {RUNS:,} runs, in process", "≤ 20 ms", _ms(newest), "", newest <= 0.02),
        Row(f"steno ls --json of {RUNS:,} runs, beyond start-up", "≤ 500 ms", _ms(over), _ms(everything), over <= 0.5),
    ]


def _first_screen(home: Path) -> Row:
    code = "import sys; sys.argv = ['steno', 'show', sys.argv[1]]; from stenograph.cli import main; main()"
    taken: list[float] = []
    megabytes = 0.0
    for _ in range(5):
        began = time.perf_counter()
        command = [sys.executable, "-c", code, HUGE_RUN]
        shown = subprocess.Popen(command, stdout=subprocess.PIPE, env=_environment(home), cwd=home)
        assert shown.stdout is not None
        read = b""
        while read.count(b"\n") < 50:
            read += os.read(shown.stdout.fileno(), 1 << 16)
        taken.append(time.perf_counter() - began)
        megabytes = max(megabytes, peak_of(shown.pid))
        shown.stdout.close()
        shown.wait()
    took = statistics.median(taken)
    return Row(
        "first screen of a 2 GB session",
        "≤ 300 ms, ≤ 150 MB",
        f"{_ms(took)}, {megabytes:.0f} MB",
        "",
        took <= 0.3 and megabytes <= 150,
    )


def _median(work: Callable[[], object], times: int = 9) -> float:
    work()
    taken: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _command(home: Path, *arguments: str) -> float:
    with environment(STENOGRAPH_HOME=str(home)):
        return median_spent(lambda: spent_by("-m", "stenograph", *arguments)).seconds


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "STENOGRAPH_HOME": str(home)}


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def make_index(home: Path, runs: int, calls: int) -> None:
    """An index of sessions that look like real ones in size and in how often words come."""
    home.mkdir()
    connection = open_index(home, readonly=False)
    index = IndexWriter(connection)
    indexer = Indexer(index)
    for number in range(runs):
        run_id = f"{number:08x}-0000-4000-8000-000000000000"
        about = About(
            root="/", path=f"/{number}", format="claude_code", run_id=run_id, at="", cwd=f"/home/u/project{number % 20}"
        )
        indexer.index(_session(run_id, number, calls), [KeptFile(number + 1, about)])
    index.commit()
    index.settle()
    index.close()


def _session(run_id: str, number: int, calls: int) -> Iterator[Event]:
    text = Text(random.Random(number), real_lines())
    seconds = BEGIN + number * 5_000
    model = MODELS[number % len(MODELS)]

    def event(kind: str, payload: object) -> Event:
        nonlocal seconds
        seconds += 1
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
        return Event(seq=0, run_id=run_id, type=kind, path="", iteration=0, timestamp=moment, payload=payload)

    def message(role: str, length: int, message_id: str | None = None) -> Event:
        block = TextBlock(fidelity="agent_emitted", text=text(length))
        return event(f"message.{role}", MessagePayload(role=role, blocks=(block,), model=model, message_id=message_id))

    yield message("user", 280)
    for call in range(calls):
        if call % 20 == 19:
            yield message("user", 280)
        name = f"msg_{number}_{call}"
        yield message("assistant", 420, name)
        used = UsagePayload(
            scope="call",
            input_tokens=50_000,
            output_tokens=500,
            cache_read_input_tokens=45_000,
            model=model,
            message_id=name,
        )
        tool = {"name": ("Bash", "Read", "Edit")[call % 3], "call_id": f"call_{number}_{call}"}
        asked = {"command": text(60)}
        yield event("tool.call", ToolPayload(**tool, input=asked, output=None, fidelity="agent_emitted"))
        yield event("token.usage", used)
        told = text(1750)
        yield event("tool.result", ToolPayload(**tool, input=None, output=told, fidelity="agent_emitted"))


def _make_huge(home: Path) -> None:
    """An index of one session whose events are two gigabytes; only what a reader looks at is there."""
    home.mkdir()
    connection = open_index(home, readonly=False)
    connection.execute("BEGIN")
    connection.execute(
        "INSERT INTO runs (id, run_id, agent, format) VALUES (1, ?, 'claude', 'claude_code')", (HUGE_RUN,)
    )
    seq = written = block = 0
    text = "x" * 2_000
    while written < HUGE:
        block += 1
        first, lines, size = seq + 1, [], 0
        while size < CHUNK_BYTES:
            seq += 1
            payload = MessagePayload(role="user", blocks=(TextBlock(fidelity="router", text=f"{seq} {text}"),))
            lines.append(
                encode(
                    Event(
                        seq=seq,
                        run_id=HUGE_RUN,
                        type="message.user",
                        path="",
                        iteration=0,
                        timestamp="2026-11-16T00:00:00Z",
                        payload=payload,
                    )
                )
            )
            size += len(lines[-1])
        connection.execute("INSERT INTO blocks VALUES (?, 1, ?, ?, ?)", (block, first, seq, packed(lines)))
        written += size
    connection.execute("COMMIT")
    connection.close()
