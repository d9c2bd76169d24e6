"""Sends an archive that grows, and brings it back, killed at another moment each time; a process that can fork.

Usage: fleet_kills.py FOLDER URL KILLS SEED. Half of the kills come after so many calls of functions, half after some
time, so that requests are met, too. Prints one JSON object. Nothing here may use the store before it forks.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from archive_cases import synced, whole_index
from fleet_cases import (
    archive_id,
    grown,
    indexed_events,
    kept_files,
    newest,
    session_id,
    stored_events,
    stored_files,
)
from killing import in_child, killed_after
from stenograph.archive.store import pack
from stenograph.archive.store.home import home_of
from stenograph.fleet.store import pull as pulling
from stenograph.fleet.store import push as pushing
from stenograph.fleet.store import sent_events, sent_packs
from stenograph.fleet.store.erasing import erase_forgotten
from stenograph.fleet.store.objects import open_store
from stenograph.fleet.store.pull import find_archive
from stenograph.fleet.store.tombstones import Tombstone, write_tombstones

pack.PACK_BYTES = 6000
sent_packs.PIECE_BYTES = 1500
sent_events.SEGMENT_BYTES = 1500
Work = Callable[[], None]


class Kills:
    """Work that is killed at a random moment."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._told = folder / "told"
        self._random = random.Random(seed)
        self.killed = 0
        self._longest = 0.5

    def calls_of(self, work: Work) -> int:
        """How many calls the work makes, done to its end."""
        began = time.monotonic()
        assert in_child(lambda: killed_after(work, 0, self._told)) == 0
        self._longest = max(0.02, (time.monotonic() - began) / 2)
        return int(self._told.read_text())

    def kill(self, work: Work, calls: int) -> bool:
        """Do it, and be killed at some moment; whether that came before the end."""
        if self._random.random() < 0.5:
            number = self._random.randint(1, calls)
            ended = in_child(lambda: killed_after(work, number))
        else:
            ended = self._killed_soon(work)
        assert os.WIFSIGNALED(ended) or ended == 0, ended
        self.killed += os.WIFSIGNALED(ended)
        return os.WIFSIGNALED(ended)

    def _killed_soon(self, work: Work) -> int:
        patience = self._random.random() * self._longest
        pid = os.fork()
        if pid == 0:
            in_fork(work)
        time.sleep(patience)
        os.kill(pid, signal.SIGKILL)
        ended = os.waitpid(pid, 0)[1]
        if not os.WIFSIGNALED(ended):
            self._longest /= 2  # it was measured while the machine was slower
        return ended


def in_fork(work: Work) -> None:
    """Do it, and end this process."""
    try:
        work()
    except BaseException:  # noqa: BLE001  # a fork must not go on as its parent
        os._exit(1)
    os._exit(0)


def checked(check: Callable[[], object]) -> object:
    """What a check in a process of its own found."""
    read, write = os.pipe()
    assert in_child(lambda: os.write(write, json.dumps(check()).encode()) and None) == 0
    os.close(write)
    with os.fdopen(read) as answer:
        return json.loads(answer.read())


def main() -> None:
    """Kill senders while the archive grows, then those who bring it back, then maintenance; say what is there."""
    folder, url, kills, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    archive, into, early = folder / "archive", folder / "back", folder / "early"
    home = home_of(archive)
    senders, pullers, erasers = Kills(folder, seed), Kills(folder, seed + 1), Kills(folder, seed + 2)

    def push() -> None:
        pushing.push(home, open_store(url))

    def pull(place: Path) -> None:
        store = open_store(url)
        pulling.pull(store, find_archive(store, archive_id(archive)), home_of(place))

    def compare() -> dict[str, object]:
        store, own = open_store(url), archive_id(archive)
        events = stored_events(store, own)
        return {
            "archives": len(store.folders("v1/")),
            "rows": len(events),
            "distinct": len({(event["run_id"], event["revision"], event["seq"]) for event in events}),
            "expected": len(indexed_events(archive)),
            "events": newest(events) == indexed_events(archive),
            "bytes": stored_files(store, own, "bytes") == kept_files(archive),
            "packs": len(kept_files(archive)),
            "pieces": len(store.entries(f"v1/{own}/")),
        }

    grown(folder)
    calls = senders.calls_of(push)
    number = 0
    while senders.killed < kills:
        grown(folder, first=100 + 10 * number, lines=2)
        senders.kill(push, calls)
        if number == kills // 2:
            in_child(lambda: pull(early))
        number += 1
    assert in_child(push) == 0
    outcome = {"sent": checked(compare), "senders": senders.killed}

    calls = pullers.calls_of(lambda: pull(folder / "whole"))
    number = 0
    while number < kills // 2 or pullers.killed < kills / 4:
        if not pullers.kill(lambda: pull(into), calls):
            shutil.rmtree(into)  # the next one is to have something to do
        number += 1
    for place in (into, early):
        assert in_child(lambda place=place: pull(place)) == 0
    same = [kept_files(place) == kept_files(archive) for place in (into, early)]
    outcome |= {"pullers": pullers.killed, "pulled": same, "index": whole_index(into) == whole_index(archive)}

    def tell() -> None:
        stone = Tombstone(run_id=session_id(1), at="", by="")
        assert write_tombstones(open_store(url), [archive_id(archive)], [stone]) == {}

    def erase() -> None:
        erase_forgotten(open_store(url), archive_id(archive))

    assert in_child(tell) == 0
    for number in itertools.count():
        if erasers.killed >= kills // 4:
            break
        senders.kill(push, calls)
        erasers.kill(erase, max(1, calls // (4 + number)))
    for work in (push, erase, lambda: pull(into)):
        assert in_child(work) == 0
    synced(folder / "home", archive, rebuild=True)
    outcome |= {
        "erasers": erasers.killed,
        "erased": kept_files(into) == kept_files(archive) and checked(compare)["bytes"],
        "index after": whole_index(into) == whole_index(archive),
        "left": sorted({event["run_id"] for event in indexed_events(into)} & {session_id(1)}),
    }
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()
