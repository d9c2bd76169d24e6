"""Send what is new in an archive until the pipe at standard input closes; `export.feeding.feeder` runs this.

The first line of the pipe is the setting; each further byte is a notice that the archive changed. It is a separate
process so that recording waits neither for its work nor for the network.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import sys
import time
from datetime import datetime

import msgspec

from stenograph.archive.store.home import home_of
from stenograph.archive.store.lock import Lock
from stenograph.errors import RunNotFound, StenographError
from stenograph.export.feeding.feed import Feed, FeedSetting
from stenograph.export.feeding.sent import SentSpans
from stenograph.export.sending import PATIENCE, NotSent
from stenograph.render.control_chars import on_one_line

TICK = 10.0
"""Seconds after which we look without a notice: runs end by being quiet."""
SHORTEST_REST = 0.2
_SHARE = 4
"""We pause this many times as long as the last pass kept a processor busy."""
FIRST_DELAY, LONGEST_DELAY = 1.0, 300.0
"""Seconds until a failed collector is tried again; doubled each time."""
LAST_PATIENCE = 5.0
"""Seconds to wait for an answer during shutdown."""
_NICE = 10


class Pipe:
    """Standard input, or another pipe, from the process that started us."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.is_closed = False

    def line(self) -> bytes:
        """The first line."""
        line = bytearray()
        while not line.endswith(b"\n"):
            byte = os.read(self._fd, 1)
            if not byte:
                self.is_closed = True
                break
            line += byte
        return bytes(line)

    def wait(self, seconds: float | None) -> bool:
        """Wait for a notice, this many seconds at most; returns whether one came, and at once when the pipe closes."""
        if self.is_closed or not select.select([self._fd], [], [], seconds)[0]:
            return False
        self.is_closed = not os.read(self._fd, 65536)
        return True


class Delays:
    """How long to wait for a failed collector: longer each time, and random, so that senders do not retry together."""

    def __init__(self) -> None:
        self._last = 0.0

    def next(self, wanted: float | None) -> float:
        """The wait after a failure; `wanted` is what the collector asks for."""
        self._last = min(LONGEST_DELAY, max(FIRST_DELAY, 2 * self._last))
        return max(min(wanted or 0.0, LONGEST_DELAY), self._last * random.uniform(0.5, 1.0))

    def reset(self) -> None:
        """After a success."""
        self._last = 0.0


def feed_until_closed(feed: Feed, pipe: Pipe, setting: FeedSetting) -> None:
    """Send after each notice of a change, and now and then; once more when the pipe closes."""
    delays = Delays()
    failure: str | None = None
    pipe.wait(None)  # the first notice comes after the first sync
    while True:
        is_last, begun, delay = pipe.is_closed, time.process_time(), 0.0
        try:
            done = feed.look(LAST_PATIENCE if is_last else PATIENCE)
        except RunNotFound:
            pass  # there is no archive yet
        except StenographError as error:
            delay = delays.next(error.retry_after if isinstance(error, NotSent) else None)
            if str(error) != failure:
                again = (
                    "the next steno watch continues" if is_last else "recording continues, and sending is tried again"
                )
                _say(f"{error}; {again}")
            failure = str(error)
        else:
            delays.reset()
            if failure is not None:
                _say(f"sending to {setting.collector.url} works again")
            failure = None
            if done.spans and not setting.is_quiet:
                sent = f"sent {_counted(done.spans, 'span')} of {_counted(done.runs, 'run')}"
                _print(1, f"{datetime.now().astimezone():%H:%M:%S} {sent} to {setting.collector.url}")
        if is_last:
            return
        if not _rest(pipe, max(delay, SHORTEST_REST, _SHARE * (time.process_time() - begun))):
            pipe.wait(TICK)


def _rest(pipe: Pipe, seconds: float) -> bool:
    """Wait; a notice does not end the wait, the end of the pipe does. Returns whether a notice came."""
    end = time.monotonic() + seconds
    is_told = False
    while not pipe.is_closed and (left := end - time.monotonic()) > 0:
        is_told |= pipe.wait(left)
    return is_told


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _say(text: str) -> None:
    _print(2, f"steno: {on_one_line(text)}")


def _print(fd: int, line: str) -> None:
    with contextlib.suppress(OSError):  # the reader has left: `steno watch` handles that
        os.write(fd, f"{line}\n".encode("utf-8", "replace"))


def main() -> int:
    """Take the setting from the pipe, and send until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # `steno watch` handles Ctrl-C, and closes our pipe
    os.nice(_NICE)
    pipe = Pipe(0)
    setting = msgspec.json.decode(pipe.line(), type=FeedSetting)
    home = home_of(setting.archive)
    lock = Lock(home.send_lock, "steno watch --otlp")
    try:
        lock.acquire(PATIENCE)  # an earlier process may still wait for its last answer
        with SentSpans(home.sent, setting.destination, setting.began_ms) as sent:
            feed_until_closed(Feed(home, setting, sent, _say), pipe, setting)
    except StenographError as error:
        _say(str(error))
        return error.exit_code
    finally:
        lock.release()
    return 0


if __name__ == "__main__":
    sys.exit(main())
