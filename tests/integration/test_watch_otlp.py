"""`steno watch --otlp URL`: a collector sees runs while they grow, and recording does not wait for it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, claude_line, session_path, written
from collecting import collector
from stenograph.export.otlp_trace import Trace
from stenograph.fold.losses import LossReport
from stenograph.runs.opening import open_run

KINDS = ("user", "call", "result", "assistant")


def line(number: int) -> bytes:
    """The line of that number of a conversation that goes on for ever, written now."""
    return claude_line(number, KINDS[(number - 1) % 4], timestamp=datetime.now(UTC).isoformat().replace("+00:00", "Z"))


@contextmanager
def watching(home: Path, archive: Path, url: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command at work, in a group of processes of its own, which is gone at the end."""
    command = [sys.executable, "-m", "stenograph", "watch", "--home", str(home), "--otlp", url, *options]
    environment = {**os.environ, "STENOGRAPH_HOME": str(archive)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as running:
        try:
            yield running
        finally:
            if running.poll() is None:
                running.terminate()
                running.wait()
            assert running.stdout is not None
            assert running.stderr is not None
            running.stdout.close()
            running.stderr.close()


def wait_for(what: Callable[[], Any]) -> Any:
    """What comes true sooner or later; a test that waits for ever is ended by its time limit."""
    while not (found := what()):
        time.sleep(0.02)
    return found


def whole(archive: Path) -> dict[str, dict[str, Any]]:
    """Every span of the run, by its id."""
    with open_run(SESSION, archive=archive) as run:
        return {span["spanId"]: span for span in Trace(run.events(), LossReport("otlp"), "delta", "genai").spans()}


def test_spans_come_while_the_run_grows_and_once(tmp_path: Path) -> None:
    """A watch that is killed goes on where it was: nothing is sent twice, and nothing is missing."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    path = written(session_path(home), line(1))
    with collector() as taken:
        with watching(home, archive, taken.url, "--header", "x-team=a") as running:
            assert running.stdout is not None
            assert b"1 new" in running.stdout.readline()
            written(path, line(2), line(3))
            wait_for(lambda: len(taken.came) == 1)
            written(path, line(4), line(5))
            wait_for(lambda: len(taken.came) == 3)
            while b"sent 1 span of 1 run" not in running.stdout.readline():
                pass
            running.kill()
        written(path, line(6), line(7))
        with watching(home, archive, taken.url):
            written(path, line(8), line(9))
            wait_for(lambda: len(taken.came) >= 6)
        assert len(taken.came) == len(taken.spans) == 6
        assert taken.headers[0]["x-team"] == "a"
    expected = whole(archive)
    assert all(expected[id_] == span for id_, span in taken.spans.items())


@pytest.mark.scale
@pytest.mark.timeout(900)
def test_recording_does_not_wait_for_a_collector(tmp_path: Path) -> None:
    """One that never answers, and one that is not there: each change is in the archive all the same."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    numbers = iter(range(1, 1000))
    path = written(session_path(home), *(line(next(numbers)) for _ in range(5)))
    with collector() as taken:
        taken.is_silent = True
        for url in (taken.url, "http://127.0.0.1:9"):
            with watching(home, archive, url, "--json") as running:
                assert running.stdout is not None
                running.stdout.readline()
                for _ in range(20):
                    written(path, line(next(numbers)))
                    while not json.loads(running.stdout.readline())["events"]:
                        pass
                running.terminate()
                assert running.wait() == 0  # also where the collector, which is silent until the end, keeps a request
                assert running.stderr is not None
                told = running.stderr.read().decode().splitlines()
            assert len([each for each in told if "tried again" in each or "goes on" in each]) <= 1


@pytest.mark.scale
@pytest.mark.timeout(1200)
def test_many_kills_double_nothing(tmp_path: Path) -> None:
    """Kill -9 of both processes at thirty moments: by id, the collector has the whole run and no other span."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    numbers = iter(range(1, 100_000))
    chance = random.Random(7)
    path = written(session_path(home), line(next(numbers)))

    def go_on(kind: str) -> None:
        """Write all kinds of lines, the last one of this kind."""
        for _ in KINDS:
            written(path, line(next(numbers)))
        while KINDS[((last := next(numbers)) - 1) % len(KINDS)] != kind:
            written(path, line(last))
        written(path, line(last))

    with collector() as taken:
        for _ in range(30):
            with watching(home, archive, taken.url) as running:
                end = time.monotonic() + chance.uniform(0.3, 2.5)
                while time.monotonic() < end:
                    written(path, line(next(numbers)))
                    time.sleep(chance.uniform(0.0, 0.1))
                os.killpg(running.pid, signal.SIGKILL)
                running.communicate()  # until both are gone
        taken.wait_until_idle()
        # What a killed watch sent and did not note is sent again by the next one. After that, nothing is.
        go_on("call")  # a call without its result may still be at work, so its run is over only after hours
        with watching(home, archive, taken.url) as running:
            assert running.stdout is not None
            while b" sent " not in running.stdout.readline():
                assert running.poll() is None
        before = len(taken.came) - len(taken.spans)
        go_on("assistant")
        with watching(home, archive, taken.url):
            wait_for(lambda: "invoke_agent claude" in taken.names)
            wait_for(lambda: taken.spans == whole(archive))
        assert taken.spans == whole(archive)
        assert len(taken.came) - len(taken.spans) == before
        assert all(span == taken.spans[id_] for id_, span in taken.came)
