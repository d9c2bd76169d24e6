"""The server process: lines to its stdin, lines from its stdout, the end of its stderr.

Theory of operation. One thread talks to the process and waits for all of its pipes at once, so that neither side can
block the other, and no thread has to be joined at the end. Other threads may only `wake` it. The process leads its own
process group, so that killing it also kills everything that it started.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from stenograph.errors import AgentError

_CHUNK = 1 << 16
_STDERR_KEPT = 4096
_LOOK = 0.5
"""Seconds between checks whether the process is alive: what it started may hold its stdout open."""
_GRACE = 2.0
"""Seconds that it gets after a SIGTERM."""
LONGEST_LINE = 64 << 20
"""The longest line in bytes; a server that never ends one would fill our memory."""


class LineTooLong(AgentError):
    """The server began a line and did not end it."""


class ServerProcess:
    """A running `codex app-server`. For one thread, except `wake`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        passes_stderr: bool = False,
    ) -> None:
        """Start it; raises `AgentError` if that fails."""
        self._process = _started(command, cwd, env)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin, self._stdout, self._stderr = self._process.stdin, self._process.stdout, self._process.stderr
        self._passes_stderr = passes_stderr
        self._lines: deque[bytes] = deque()
        self._part: list[bytes] = []
        self._part_size = 0
        self._unsent = bytearray()
        self._waits_for_stdin = False
        self._told = b""
        self._wake_read, self._wake_write = os.pipe()
        self._waking = threading.Lock()  # a closed pipe's number may be reused: it must not be written to
        self._is_awake = False
        """Whether everything is closed, so that `wake` does nothing."""
        self._selector = selectors.DefaultSelector()
        pipes = (self._stdin, self._stdout, self._stderr)
        for pipe in (*(pipe.fileno() for pipe in pipes), self._wake_read, self._wake_write):
            os.set_blocking(pipe, False)
        self._selector.register(self._stdout, selectors.EVENT_READ, self._read_stdout)
        self._selector.register(self._stderr, selectors.EVENT_READ, self._read_stderr)
        self._selector.register(self._wake_read, selectors.EVENT_READ, self._read_wake)
        self.is_over = False
        """Whether nothing more will come, lines that wait in `receive` aside."""

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to stderr."""
        return self._told.decode("utf-8", "replace").strip()

    def send(self, line: bytes) -> None:
        """Write a line, newline included; what the pipe does not take now goes out during `receive`."""
        self._unsent += line
        self._write_stdin()

    def receive(self, timeout: float | None = None) -> bytes | None:
        """The next line without its newline; None after the timeout, a `wake`, or when `is_over`.

        Raises `LineTooLong` when it does not end.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while not self._lines and not self.is_over:
            left = _LOOK if until is None else min(_LOOK, until - time.monotonic())
            found = self._selector.select(max(left, 0))
            for key, _ in found:
                key.data()
            if any(key.fd == self._wake_read for key, _ in found):
                break
            if not found:
                self._notice_the_end()
            if until is not None and time.monotonic() >= until:  # also when stderr never stops
                break
        return self._lines.popleft() if self._lines else None

    def wake(self) -> None:
        """Let `receive` return. From any thread, at any time."""
        with self._waking, suppress(BlockingIOError):  # full: it is being woken already
            if not self._is_awake:
                os.write(self._wake_write, b".")

    def hang_up(self) -> None:
        """Close its stdin, the signal to end."""
        if not self._stdin.closed:
            self._unsent.clear()
            self._wait_for_stdin()
            self._stdin.close()

    def end(self) -> int:
        """Kill it and what it started, unless it ended after we hung up; how it ended. Closes all. Twice is once."""
        if self._is_awake:
            return self._process.wait()
        is_good = self._stdin.closed and self._process.poll() is not None
        self.hang_up()
        for number in () if is_good else (signal.SIGTERM, signal.SIGKILL):
            self._signal(number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
        self._selector.close()
        self._stdout.close()
        self._stderr.close()
        with self._waking:
            self._is_awake = True
            os.close(self._wake_read)
            os.close(self._wake_write)
        return self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _write_stdin(self) -> None:
        try:
            while self._unsent:
                sent = os.write(self._stdin.fileno(), self._unsent[:_CHUNK])
                del self._unsent[:sent]
        except BlockingIOError:
            pass
        except (OSError, ValueError):  # it is gone, or we have hung up; `receive` finds out how it ended
            self._unsent.clear()
        self._wait_for_stdin()

    def _wait_for_stdin(self) -> None:
        """Have the selector look at stdin exactly while there is something to write."""
        if bool(self._unsent) == self._waits_for_stdin:
            return
        self._waits_for_stdin = not self._waits_for_stdin
        if self._waits_for_stdin:
            self._selector.register(self._stdin, selectors.EVENT_WRITE, self._write_stdin)
        else:
            self._selector.unregister(self._stdin)

    def _read_stdout(self) -> None:
        data = _read(self._stdout.fileno())
        if data is None:
            return
        if not data:
            self._finish()
            return
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = b"".join(self._part) + lines[0]
            self._part.clear()
            self._part_size = 0
            self._lines.extend(lines)
        if rest:
            self._part.append(rest)
            self._part_size += len(rest)
        if self._part_size > LONGEST_LINE:
            self._part.clear()
            self._part_size = 0
            raise LineTooLong(
                f"codex sent more than {LONGEST_LINE >> 20} MiB without ending the line; it was stopped, start it again"
            )

    def _read_stderr(self) -> None:
        if self._stderr not in self._selector.get_map():
            return  # stdout ended in the same moment, and has had this looked at
        data = _read(self._stderr.fileno())
        if data == b"":
            self._selector.unregister(self._stderr)
        elif data:
            self._told = (self._told + data)[-_STDERR_KEPT:]
            if self._passes_stderr:
                sys.stderr.write(data.decode("utf-8", "replace"))

    def _read_wake(self) -> None:
        _read(self._wake_read)

    def _notice_the_end(self) -> None:
        if self._process.poll() is not None:
            self._finish()

    def _finish(self) -> None:
        """Nothing more comes from stdout; what stands there without a newline is the last line."""
        if self._part:
            self._lines.append(b"".join(self._part))
            self._part.clear()
        with suppress(KeyError):
            self._selector.unregister(self._stdout)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LOOK)
        self._read_stderr()
        self.is_over = True


def _started(command: Sequence[str], cwd: str | Path | None, env: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
    except FileNotFoundError as error:
        if cwd is not None and not Path(cwd).is_dir():
            raise AgentError(f"{cwd} is not a folder; set cwd to the folder in which Codex must work") from error
        raise AgentError(
            f"{command[0]} was not found; install Codex (npm install -g @openai/codex) or give its path as codex_bin"
        ) from error
    except OSError as error:
        raise AgentError(f"{command[0]} cannot be run: {error.strerror}; check codex_bin, cwd and args") from error


def _read(fd: int) -> bytes | None:
    """What there is; empty at the end, None when there is nothing just now."""
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""
