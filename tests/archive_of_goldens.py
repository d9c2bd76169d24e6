"""An archive made of the golden sessions of four formats, and their events by way of the converter, to compare with."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from stenograph.archive import home_of
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.writer import Store
from stenograph.fold.calls import CallPair, pair_calls
from stenograph.model import Event
from stenograph.sources.conversion import convert

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    "claude_code": ("parity", "2.1.197-fork", "2.1.325-errors", "2.1.197-unicode", "2.1.325-nested"),
    "codex_rollout": ("parity", "resume-and-fork", "subagent-v2", "failing-tools", "v0.63-compact"),
    "gemini_cli": ("parity", "subagent"),
    "exchange": ("demo",),
}
CHILD = "01a1e1c4-e504-7003-b6e2-2ae8d829bcf5"
"""A Codex thread that another one spawned."""
PARENT = "01a1e1c4-e19e-7cc1-b40b-55ea2db11c6e"
CLAUDE = "392c7b99-917c-46f4-87f4-16921c235cbb"
"""A session of Claude Code with one subagent."""
GEMINI = "a7ea568a-61f7-480d-90f7-e454237f0d5b"
WORKFLOW = "813176b2-1830-473e-9381-87d088920afe"


def copy_case(kind: str, case: str, folder: Path) -> Path:
    """The files of one golden case, in a folder that is not there yet."""
    given = GOLDEN / kind / case
    if (given / "input").is_dir():
        shutil.copytree(given / "input", folder)
    else:
        folder.mkdir(parents=True)
        shutil.copy(given / "input.jsonl", folder / f"{case}.jsonl")
    return folder


def copy_sessions(folder: Path) -> Path:
    """The golden sessions as agents would have left them, each case in a folder of its own."""
    for kind, cases in CASES.items():
        for case in cases:
            copy_case(kind, case, folder / kind / case)
    return folder


def make_archive(folder: Path) -> tuple[Path, Path]:
    """The home of an archive, and the folder of the sessions in it."""
    sessions = copy_sessions(folder / "sessions")
    home = folder / "archive"
    with Store(home_of(home)) as store:
        summary = sync(store, [Root(sessions.resolve(), None)])
    assert summary.failed == 0, summary.problems
    return home, sessions


def converted(sessions: Path) -> Iterator[Event]:
    """The events of all sessions, without the archive."""
    for kind in sorted(sessions.iterdir()):
        for case in sorted(kind.iterdir()):
            yield from convert(case, keep_raw=False)


def each_call_once(events: Iterable[Event]) -> list[CallPair]:
    """The tool calls in events of several runs; one that a fork repeats, with its id and its time, is one."""
    found: dict[tuple[str, str, str], CallPair] = {}
    for pair in pair_calls(events):
        if pair.call is not None:
            found.setdefault((pair.call_id, pair.name, pair.call.timestamp), pair)
    return list(found.values())
