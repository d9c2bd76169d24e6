"""What an archive receives: the spool, the files of conversations, and the runs that are made of them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from otlp_spans import CASES, bare, joined, requests_in, routed, whole
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import RECEIVED, Root, received_in
from stenograph.archive.received.receiver import JSON, Receiver
from stenograph.archive.received.run_files import RunFiles
from stenograph.archive.received.spool import Spool
from stenograph.archive.store.home import Home
from stenograph.archive.writer import Store
from stenograph.errors import ArchiveLocked
from stenograph.formats.base import run_id_of
from stenograph.formats.otlp.conversation import native_id_of
from stenograph.formats.otlp.protobuf import Signal
from stenograph.formats.otlp.routing import Routing
from stenograph.runs.archive import open_archive


def _synced(home: Home) -> None:
    with Store(home) as store:
        sync(store, [Root(received_in(home.path), RECEIVED)])


def _kept(home: Home, keys: list[str]) -> dict[str, list[bytes]]:
    with open_archive(home.path) as archive:
        found = {}
        for key in keys:
            with archive.run(run_id_of("otlp", native_id_of(key))) as run:
                found[key] = list(run.events())
    return {key: [_as_read(line, key) for line in bare(events)] for key, events in found.items()}


def _as_read(line: bytes, key: str) -> bytes:
    """An event of the archive as `whole` gives it: without its number and the id of its run."""
    event = json.loads(line) | {"seq": 0, "run_id": ""}
    return json.dumps(event, sort_keys=True).encode()


@pytest.mark.parametrize("case", CASES)
def test_runs_of_the_archive_do_not_depend_on_the_order_in_which_spans_came(case: str, tmp_path: Path) -> None:
    """Synced bit by bit, with spans that come late, a run is that of all its spans; so is a rebuilt one."""
    requests = requests_in(case)
    expected = {key: [_as_read(each, key) for each in whole(lines, key)] for key, lines in routed(requests).items()}
    random.Random(case).shuffle(requests)
    home, routing = Home(tmp_path / "archive"), Routing()
    home.make()
    files = RunFiles(home.path)
    for start in range(0, len(requests), 6):
        files.append(routing.take(joined(requests[start : start + 6])))
        _synced(home)
    files.append(routing.settle())
    _synced(home)
    assert _kept(home, list(expected)) == expected
    with Store(home, rebuild=True):
        pass
    assert _kept(home, list(expected)) == expected


def test_a_line_that_a_crash_cut_short_is_passed_over(tmp_path: Path) -> None:
    """The next write begins a line of its own, and what was cut off comes again from the spool."""
    home = Home(tmp_path)
    home.make()
    files, requests = RunFiles(home.path), requests_in("pydantic_ai")
    (path,) = files.append(Routing().take(requests[0]))
    with Path(path).open("ab") as file:
        file.write(b'{"resourceSpans":[{"scopeSp')
    routing = Routing()
    for request in requests:
        files.append(routing.take(request))
    _synced(home)
    expected = {key: [_as_read(each, key) for each in whole(lines, key)] for key, lines in routed(requests).items()}
    assert _kept(home, list(expected)) == expected


def test_the_spool_gives_back_what_no_run_is_made_of(tmp_path: Path) -> None:
    """Across segments; a torn entry at the end was never acknowledged, and is cut off."""
    spool = Spool(tmp_path, segment_bytes=50)
    ends = [spool.append("kind", b"request %d" % number) for number in range(6)]
    spool.done(ends[1])
    with sorted(tmp_path.glob("*.spool"))[-1].open("ab") as file:
        file.write(b"\x93SO1 torn")
    again = Spool(tmp_path, segment_bytes=50)
    assert [entry.body for entry in again.unread()] == [b"request %d" % number for number in range(2, 6)]
    end = again.append("kind", b"one more")
    assert [entry.end for entry in again.unread()][-1] == end
    again.done(end)
    again.close()
    assert sum(path.stat().st_size for path in tmp_path.glob("*.spool")) == 0
    assert list(Spool(tmp_path).unread()) == []


def test_an_archive_is_received_for_by_one_process_at_a_time(tmp_path: Path) -> None:
    """A second receiver is refused, and what the first accepted is in its files when it is closed."""
    changed: set[str] = set()
    receiver = Receiver(tmp_path, changed.update, pytest.fail)
    receiver.start()
    with pytest.raises(ArchiveLocked):
        Receiver(tmp_path, changed.update, pytest.fail)
    body = json.dumps(joined(requests_in("autogen"))).encode()
    receiver.receive(Signal.TRACES, JSON, "identity", body)
    receiver.close()
    (path,) = changed
    assert Path(path).read_bytes().count(b"execute_tool") >= 4
    Receiver(tmp_path, changed.update, pytest.fail)._lock.release()


def test_a_run_that_was_received_can_be_forgotten_for_good(tmp_path: Path) -> None:
    """The file of its spans goes with it: it is ours, and not an agent's own."""
    from stenograph.runs.forgetting import Wanted, forget_runs, plan_of

    home = Home(tmp_path / "archive")
    home.make()
    (path,) = RunFiles(home.path).append(Routing().take(requests_in("pydantic_ai")[0]))
    _synced(home)
    forget_runs(home, plan_of(home, Wanted(run_ids=("@",))), why="", by="", at="", also_source=False)
    assert not Path(path).exists()


def test_a_request_of_many_conversations_needs_few_open_files(tmp_path: Path) -> None:
    """However many runs one request goes to, each file has its line."""
    import resource

    routed = {f"talk {number}": [] for number in range(300)}
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = RunFiles(tmp_path)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(list(Path("/proc/self/fd").iterdir())) + 80, limits[1]))
    try:
        paths = files.append(routed)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert len(paths) == len(list(received_in(tmp_path).iterdir())) == 300
