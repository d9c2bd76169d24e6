"""What a hook call does: note it, and start the collecting process of that session where none runs.

Theory of operation. Each session has a file `<root>/collectors/<session>`: every hook call adds a line with its event,
and whoever collects the session holds its lock. A call that gets the lock is alone, so it starts a collecting process
and leaves the lock to it, which travels with the open file; one that does not get it has done its part with its line.
An agent that keeps all sessions in one store has one such file, `<root>/collectors/<agent>`, whose lines also name the
process that called. A call that knows the session's id only starts a process that finds the file and takes the lock.

The agent waits for us: this module loads only what it needs, answers nothing, and never fails. What went wrong is a
line in the log of problems, see `journal.problems`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stenograph.journal.problems import FOLDER, data_home, note

LAST_STANDARD = 2
LONGEST_EVENT = 100
LONGEST_ID = 100


def answer(agent: str, more: str = "", call: str | None = None) -> int:
    """Take a hook call from standard input; always 0, since no trouble of ours is the agent's.

    `more` is the process that calls. An agent that calls a program after each turn gives the call as an argument, and
    then `more` is the field of it that has the session's id.
    """
    root = None
    try:
        told = sys.stdin.buffer.read() if call is None else call
        root = storage()
        _take(told, root, agent, more, is_argument=call is not None)
    except Exception as error:  # noqa: BLE001  # whatever it is, the agent must go on
        note(root, f"a hook call was not taken: {type(error).__name__}: {error}")
    return 0


def storage() -> Path:
    """Where sessions are recorded: as `journal.place.recording_root` says, which takes too long to load."""
    given = os.environ.get("STENOGRAPH_STORAGE")
    if not given and _has_config():
        try:
            from stenograph.journal.place import recording_root

            return recording_root()
        except ValueError as error:  # the session is recorded all the same, where it is without a file
            note(None, f"the configuration was passed over: {error}")
    return Path(given).absolute() if given else data_home()


def _has_config() -> bool:
    """Whether there is a file that may say where; as `config.config_path`, which takes too long to load."""
    if os.environ.get("STENOGRAPH_CONFIG") or sys.platform != "linux":
        return True
    folder = os.environ.get("XDG_CONFIG_HOME", "").strip() or Path("~/.config").expanduser()
    return Path(folder, "stenograph", "config.toml").exists()


def _take(call: bytes | str, root: Path, agent: str, more: str, *, is_argument: bool) -> None:
    """A call names the session's file, or its id, or neither where the agent keeps all sessions in one store."""
    import json

    told = json.loads(call)
    if is_argument:
        # Nobody says when such a session ends, and the next turn calls again.
        _start([f"--session={_named(told[more])}", "--idle", "60", "--lock", "0"], root, None, agent)
        return
    event = str(told["hook_event_name"])
    caller = told.get("pid", more)
    if (
        caller
    ):  # calls that come one beside the other do not say in which order they happened, nor does each agent its end
        event = f"{event[:LONGEST_EVENT]} {int(caller)}"
    if "transcript_path" not in told and caller:
        lock = lock_session(root / FOLDER, agent, event)
        if lock is not None:
            _start([], root, lock, agent)
        return
    transcript = Path(told["transcript_path"])
    if transcript.suffix != ".jsonl" or not transcript.is_absolute():
        raise ValueError(f"transcript_path is {str(transcript)[:200]!r}; it must be the path of a .jsonl file")
    lock = lock_session(root / FOLDER, transcript.stem, event)
    if lock is not None:
        _start([str(transcript)], root, lock, agent)


def _named(session: object) -> str:
    """An id that can be a word of a command."""
    words = session.replace("-", "_").split("_") if isinstance(session, str) else [""]
    if isinstance(session, str) and words[0] and "".join(words).isalnum() and len(session) < LONGEST_ID:
        return session
    raise ValueError(f"the session is {str(session)[:LONGEST_ID]!r}; it must be an id")


def lock_session(folder: Path, session: str, event: str, *, only_if_free: bool = False) -> int | None:
    """Note the event, then the session's lock, unless somebody has it; with `only_if_free` that leaves no note."""
    import fcntl

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Open for reading, too: whoever collects reads the events by the very descriptor that holds its lock.
    fd = os.open(folder / session, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    if fd <= LAST_STANDARD:  # we were called with one of those closed, and whoever collects opens them all
        fd = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, LAST_STANDARD + 1)
    line = f"{' '.join(event[: 2 * LONGEST_EVENT].split())}\n".encode("utf-8", "backslashreplace")
    if not only_if_free:
        os.write(fd, line)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    if only_if_free:
        os.write(fd, line)
    return fd


def _start(target: list[str], root: Path, lock: int | None, agent: str) -> None:
    """A process that outlives the agent: in a session of its own, with none of the agent's pipes."""
    command = [sys.executable, "-P", "-m", "stenograph", "collect", *target, "--from", agent, "--root", str(root)]
    if lock is not None:
        os.set_inheritable(lock, True)
        command += ["--lock", str(lock)]
    nowhere = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    os.posix_spawn(sys.executable, command, os.environ, file_actions=nowhere, setsid=True)
