"""An archive beside the agent's own files: the same, by a count with `json` alone and by an archive of the files alone.

Runs that the agent left no file of (it was killed before) are in the archive by what we recorded, and only those.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from agents.recorded import STENO
from agents.session import PATIENCE, Session
from comparison import count, different, oracle
from stenograph import Event, open_archive
from stenograph.formats.base import Report
from witness_cases import run_as_told


def keep_in_archive(agent: Session) -> Path:
    """The archive that the agent's environment names from now on, journals included, as it is for a user."""
    archive = agent.place / "archive"
    agent.environment["STENOGRAPH_HOME"] = str(archive)
    return archive


def steno(agent: Session, *arguments: str) -> Any:
    """What a command of ours prints as JSON, in the environment of the agent."""
    done = subprocess.run(
        [*STENO, *arguments, "--json"],
        capture_output=True,
        timeout=PATIENCE,
        env=agent.environment,
        cwd=agent.place,
        check=False,
    )
    # An agent that is killed at once leaves nothing, and then a sync says where it looked.
    is_quiet = not done.stderr or done.stderr.startswith(b"steno: no transcripts found; looked in ")
    assert (done.returncode, is_quiet) == (0, True), (arguments, done.returncode, done.stderr.decode())
    return json.loads(done.stdout)


def assert_archive_is_files(agent: Session, archive: Path, *, agent_name: str) -> None:
    """After a sync, everything that the files hold is in the archive once, and under the agent's name."""
    steno(agent, "sync")
    files = files_by_run(agent, agent_name)
    _assert_counted(archive, files, agent_name)
    _assert_listed(agent, archive, files, agent_name)
    _assert_as_files_alone(agent, archive, files)


def files_by_run(agent: Session, agent_name: str) -> dict[str, dict[str, Path]]:
    """The files of each run by source, found by their names and first records, with nothing of ours."""
    found: dict[str, dict[str, Path]] = {}
    for path in agent.files:
        run_id, source = _PLACES[agent_name](path)
        found.setdefault(run_id, {})[source] = path
    return found


def _claude_place(path: Path) -> tuple[str, str]:
    if not path.stem.startswith("agent-"):
        return path.stem, "main"
    first = json.loads(path.read_bytes().split(b"\n")[0])
    return first["sessionId"], f"subagent:{path.stem.removeprefix('agent-')}"


_PLACES: dict[str, Callable[[Path], tuple[str, str]]] = {
    "claude": _claude_place,
    "codex": lambda path: (path.stem[-36:], "main"),
}
_FORMATS = {"claude": "claude_code", "codex": "codex_rollout"}


def _assert_counted(archive: Path, files: dict[str, dict[str, Path]], agent_name: str) -> None:
    """Texts, thoughts, calls, results and tokens of each file, and an event for each of its lines."""
    counter = oracle(_FORMATS[agent_name])
    with open_archive(archive) as opened:
        for run_id, sources in files.items():
            with opened.run(run_id) as run:
                events = list(run.events())
            for source, path in sources.items():
                told = [event for event in events if event.source == source]
                ours, theirs = count(told, Report()), counter.count(path)
                ours.pop("lines")
                assert different(ours, theirs) == [], (path, source, ours, theirs)
                assert _lines_of(told) == _full_lines(path), path
                _assert_once(told, path)


def _lines_of(events: Iterable[Event]) -> set[int]:
    return {event.origin.line for event in events if event.origin is not None and event.origin.line is not None}


def _full_lines(path: Path) -> set[int]:
    return {number for number, line in enumerate(path.read_bytes().split(b"\n"), 1) if line.strip()}


def _assert_once(events: Iterable[Event], path: Path) -> None:
    """No line says the same thing twice."""
    told = Counter((event.origin and event.origin.line, event.type, repr(event.payload)) for event in events)
    assert [what for what, times in told.items() if times > 1] == [], path


def _assert_listed(agent: Session, archive: Path, files: dict[str, dict[str, Path]], agent_name: str) -> None:
    """`ls` has each run under the agent's name with the calls and tokens of its files; `stats` adds `ls` up."""
    rows = {row["run_id"]: row for row in steno(agent, "ls")}
    assert {run_id: rows.get(run_id, {}).get("agent") for run_id in files} == dict.fromkeys(files, agent_name)
    journals = {path.stem for path in (archive / "transcripts").glob("*.jsonl")}
    assert set(rows) - set(files) <= journals
    counter = oracle(_FORMATS[agent_name])
    for run_id, sources in files.items():
        tokens: dict[str, int] = {}
        calls: set[str] = set()
        for path in sources.values():
            counted = counter.count(path)
            tokens |= counted["output_tokens"]
            calls |= set(counted["tool_uses"])
        told = [rows[run_id][name] for name in ("tool_calls", "model_calls", "output_tokens")]
        assert told == [len(calls), len(tokens), sum(tokens.values())], run_id
    totals = steno(agent, "stats")["totals"]
    for name in ("tool_calls", "model_calls", "input_tokens", "output_tokens"):
        assert totals[name] == sum(row[name] or 0 for row in rows.values()), name


def _assert_as_files_alone(agent: Session, archive: Path, files: dict[str, dict[str, Path]]) -> None:
    """Each run is, to the last event, call, token and word, that of an archive which never saw a journal."""
    alone = agent.place / "alone"
    steno(agent, "sync", "--archive", str(alone))
    for run_id in files:
        ours, theirs = run_as_told(archive, run_id), run_as_told(alone, run_id)
        for part, value in theirs.items():
            assert ours[part] == value, (run_id, part)
