"""What we make of an agent's transcripts, and the checks that hold for all of them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from agents.session import PATIENCE
from comparison import count, different, lines_without_event, oracle, parsed
from stenograph.fold.calls import CallPair, pair_calls
from stenograph.formats.registry import formats
from stenograph.model import Event, MessagePayload, TextBlock, ThinkingBlock, decode
from stenograph.sources import FileReport, convert


@dataclass
class Reading:
    """The events of a conversion, and what became of each file."""

    events: list[Event]
    files: list[FileReport]

    def calls(self, run_id: str | None = None) -> list[CallPair]:
        """The calls, of all runs or of one."""
        return [pair for pair in pair_calls(self.events) if run_id in (None, pair.run_id)]

    def call(self, command: str) -> CallPair:
        """The one call whose input holds these words."""
        (found,) = [pair for pair in self.calls() if pair.call is not None and _holds(pair.call.payload.input, command)]
        return found

    def texts(self, run_id: str, source: str = "main") -> list[str]:
        """What the assistant said."""
        return [block.text for block in self._blocks("message.assistant", run_id, source) if type(block) is TextBlock]

    def thoughts(self, run_id: str, source: str = "main") -> list[str]:
        """What it thought."""
        blocks = self._blocks("message.assistant", run_id, source)
        return [block.thinking for block in blocks if type(block) is ThinkingBlock]

    def prompts(self, run_id: str, source: str = "main") -> list[str]:
        """What it was told."""
        return [block.text for block in self._blocks("message.user", run_id, source) if type(block) is TextBlock]

    def _blocks(self, type: str, run_id: str, source: str) -> list[object]:
        place = (type, run_id, source)
        found = [event.payload for event in self.events if (event.type, event.run_id, event.source) == place]
        return [block for payload in found if isinstance(payload, MessagePayload) for block in payload.blocks]


def _holds(given: object, words: str) -> bool:
    match given:
        case str():
            return words in given
        case dict():
            return any(_holds(value, words) for value in given.values())
        case list():
            return any(_holds(value, words) for value in given)
    return False


def read(path: Path) -> Reading:
    """A file or a folder, read as a program would."""
    conversion = convert(path)
    return Reading(list(conversion), conversion.files)


def read_stream(path: Path) -> Reading:
    """The same for what an agent printed, through `steno convert -`."""
    with path.open("rb") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "stenograph", "convert", "-"], stdin=stream, capture_output=True, timeout=PATIENCE
        )
    assert (done.returncode, done.stderr) == (0, b"")
    return Reading([decode(line) for line in done.stdout.rstrip(b"\n").split(b"\n")], [])


def assert_all_read(reading: Reading, paths: list[Path], *, unknown: frozenset[str] = frozenset()) -> None:
    """Every file was read, every line of it is known and named by an event, and the independent counter agrees."""
    assert sorted(file.path for file in reading.files) == sorted(map(str, paths))
    assert paths
    for file in reading.files:
        report = file.report
        assert (file.problem, report.failed, report.malformed, report.replaced) == (None, 0, 0, 0), file.path
        assert (set(report.unknown_types) - unknown, report.wanted_files) == (set(), []), file.path
        assert_counted(Path(file.path), str(file.format))


def assert_counted(path: Path, format_name: str) -> None:
    """The independent counter of the format finds the same in a file, and no line is without an event."""
    events, report = parsed(formats()[format_name], path)
    ours, theirs = count(events, report), oracle(format_name).count(path)
    assert different(ours, theirs) == [], (ours, theirs)
    assert lines_without_event(events, report, path.read_bytes()) == 0
