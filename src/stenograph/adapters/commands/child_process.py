"""A command that runs as it would without us, while we read what it prints.

Theory of operation. The command is in our process group and has our standard input and error, so keys and the group's
signals reach it directly. On a terminal it also has our standard output; otherwise that is a pipe, which we copy byte
for byte. All signals are blocked in this process and read one by one: those sent to us alone are passed on, those from
the keyboard have already reached the command. When it stops, we stop.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Sequence

CHUNK = 1 << 16
_OUT = 1
_SIGNALS = frozenset(
    {
        *(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2),
        *(signal.SIGALRM, signal.SIGCHLD, signal.SIGCONT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU),
        signal.SIGWINCH,
    }
)
_OF_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # ignored by the interpreter, but not by commands
_LOOK = 1.0  # the command is checked at least this often


class ChildProcess:
    """One running command. Until `close`, only signals that cannot be blocked end or stop us."""

    def __init__(self, command: Sequence[str], take: Callable[[bytes], None]) -> None:
        """Start it. `take` gets the output that we copy; raises `OSError` if it cannot be started."""
        self.is_copied = _is_open(_OUT) and not os.isatty(_OUT)
        """Whether we copy the command's output: not on a terminal."""
        self.problem: str | None = None
        """Why the output could not be copied, if so."""
        self._take = take
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        self._copying: threading.Thread | None = None
        try:
            self.pid = self._start(list(command))
        except BaseException:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
            raise

    def wait(self) -> int:
        """Pass signals on until the command has ended and its output is written; returns its exit code as a shell's."""
        while (status := self._ended()) is None:
            self._pass_on()
        if self._copying is not None:
            os.close(self._alive)
            self._copying.join()
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code

    def close(self) -> None:
        """Unblock signals. Those that came too late for the command are dropped: they were not for us."""
        while pending := signal.sigpending() & _SIGNALS:
            signal.sigwait(pending)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def _start(self, command: list[str]) -> int:
        if not self.is_copied:
            return _spawn(command, self._mask, [])
        reading, writing = os.pipe()
        gone, self._alive = os.pipe()  # closed by us when the command has ended
        try:
            pid = _spawn(command, self._mask, [(os.POSIX_SPAWN_DUP2, writing, _OUT)])
        except BaseException:
            for fd in (reading, gone, self._alive):
                os.close(fd)
            raise
        finally:
            os.close(writing)
        self._copying = threading.Thread(target=self._copy, args=(reading, gone), name="steno-output", daemon=True)
        self._copying.start()
        return pid

    # Signals.

    def _ended(self) -> int | None:
        """The command's status once it has ended; we stop while it is stopped."""
        pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
        if pid == 0:
            return None
        if os.WIFSTOPPED(status):
            os.kill(os.getpid(), signal.SIGSTOP)
            return None
        return status

    def _pass_on(self) -> None:
        number, is_sent = _next_signal(self.pid)
        if number and number != signal.SIGCHLD and is_sent:
            os.kill(self.pid, number)  # the pid cannot be reused yet: only we collect its status

    # Output.

    def _copy(self, reading: int, gone: int) -> None:
        """Copy until the end of the output; `cat` copies what a process prints that outlives the command."""
        poll = select.poll()
        poll.register(reading, select.POLLIN)
        poll.register(gone, select.POLLIN)
        try:
            while True:
                ready = dict(poll.poll())
                if reading not in ready:
                    self._leave_to_cat(reading)
                    return
                data = os.read(reading, CHUNK)
                if not data:
                    return
                is_out = self._put_out(data)
                self._take(data)
                if not is_out:
                    return
        finally:
            os.close(reading)  # if the reader is gone, the command notices at its next write, as it would without us
            os.close(gone)

    def _leave_to_cat(self, reading: int) -> None:
        """A process that the command started still has its output: `cat` copies it, and we do not wait."""
        try:
            _spawn(["cat"], self._mask, [(os.POSIX_SPAWN_DUP2, reading, 0)])
        except OSError as error:
            self.problem = f"cannot copy what is still printed: {error.strerror}"

    def _put_out(self, data: bytes) -> bool:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(_OUT, view) :]
            except BlockingIOError:  # the pipe is non-blocking, and we wait
                select.select([], [_OUT], [])
            except OSError as error:
                if error.errno != errno.EPIPE:
                    self.problem = f"cannot write the output: {error.strerror}"
                return False
        return True


def _spawn(command: list[str], mask: set[int], actions: list[tuple[int, int, int]]) -> int:
    options = {"file_actions": actions, "setsigmask": mask, "setsigdef": _OF_PYTHON}
    environment = _environment()
    try:
        return os.posix_spawnp(command[0], command, environment, **options)  # type: ignore[arg-type]  # one by one they fit
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        # A script without a `#!` line: a shell runs it itself.
        return os.posix_spawnp("/bin/sh", ["/bin/sh", *command], environment, **options)  # type: ignore[arg-type]  # the same


def _environment() -> dict[str, str]:
    """Our environment, without what Python adds to it in the C locale."""
    environment = dict(os.environ)
    try:
        with open("/proc/self/environ", "rb") as file:  # noqa: PTH123  # not a file that pathlib would know better
            was_given = any(each.startswith(b"LC_CTYPE=") for each in file.read().split(b"\0"))
    except OSError:
        return environment
    if not was_given and environment.get("LC_CTYPE") in ("C.UTF-8", "C.utf8", "UTF-8"):
        del environment["LC_CTYPE"]
    return environment


def _next_signal(child: int) -> tuple[int, bool]:
    """The next signal, or 0 after a while; and whether it was sent to us, not by keys or by the command itself."""
    if sys.platform == "linux":
        info = signal.sigtimedwait(_SIGNALS, _LOOK)
        if info is None:
            return 0, False
        return info.si_signo, info.si_code <= 0 and info.si_pid != child  # above 0 it is from the kernel
    number = signal.sigwait(_SIGNALS)
    return number, not _has_terminal()


def _has_terminal() -> bool:
    """Whether keys reach our process group."""
    try:
        fd = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    finally:
        os.close(fd)


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
