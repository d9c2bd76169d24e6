"""What a hook call does: note its event, and start a collecting process for the session if none is running.

Theory of operation. Each session has a file `<root>/collectors/<session>`. Every hook call appends a line with its
event, and the collecting process of the session holds the file's lock. A call that gets the lock starts a collecting
process and passes the lock on to it with the open file; a call that does not get it is done after its line. An agent
that keeps all sessions in one store has one such file, `<root>/collectors/<agent>`, whose lines also name the calling
process. A call that knows only the session's id starts a process that finds the file and takes the lock.

The agent waits for us: this module loads only what it needs, prints nothing, and never fails. A failure is a line in
the log of problems, see `journal.problems`.
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
    """Handle a hook call from standard input; always returns 0, since our failure must not be the agent's.

    `more` is the calling process. An agent that calls a program after each turn passes the call as an argument; then
    `more` is the field of the call that holds the session's id.
    """
    root = None
    try:
        body = sys.stdin.buffer.read() if call is None else call
        root = storage()
        _take(body, root, agent, more, is_argument=call is not None)
    except Exception as error:  # noqa: BLE001  # whatever fails, the agent must go on
        note(root, f"a hook call was not handled: {type(error).__name__}: {error}")
    return 0


def storage() -> Path:
    """Where sessions are recorded: the result of `journal.place.recording_root`, which takes too long to load."""
    folder = os.environ.get("STENOGRAPH_STORAGE")
    if not folder and _has_config():
        try:
            from stenograph.journal.place import recording_root

            return recording_root()
        except ValueError as error:  # record the session all the same, in the default folder
            note(None, f"the configuration was ignored: {error}")
    return Path(folder).absolute() if folder else data_home()


def _has_config() -> bool:
    """Whether a configuration file may exist; `config.config_path` takes too long to load."""
    if os.environ.get("STENOGRAPH_CONFIG") or sys.platform != "linux":
        return True
    folder = os.environ.get("XDG_CONFIG_HOME", "").strip() or Path("~/.config").expanduser()
    return Path(folder, "stenograph", "config.toml").exists()


def _take(call: bytes | str, root: Path, agent: str, more: str, *, is_argument: bool) -> None:
    """A call names the session's file, or its id, or neither if the agent keeps all sessions in one store."""
    import json

    fields = json.loads(call)
    if is_argument:
        # Such an agent does not report the end of a session, and the next turn calls again.
        _start([f"--session={_session_id(fields[more])}", "--idle", "60", "--lock", "0"], root, None, agent)
        return
    event = str(fields["hook_event_name"])
    caller = fields.get("pid", more)
    if caller:  # calls at the same time have no order, and not every agent reports its end: the process says more
        event = f"{event[:LONGEST_EVENT]} {int(caller)}"
    if "transcript_path" not in fields and caller:
        lock = lock_session(root / FOLDER, agent, event)
        if lock is not None:
            _start([], root, lock, agent)
        return
    transcript = Path(fields["transcript_path"])
    if transcript.suffix != ".jsonl" or not transcript.is_absolute():
        raise ValueError(f"transcript_path is {str(transcript)[:200]!r}; it must be the path of a .jsonl file")
    lock = lock_session(root / FOLDER, transcript.stem, event)
    if lock is not None:
        _start([str(transcript)], root, lock, agent)


def _session_id(session: object) -> str:
    """The id, if it is safe as an argument of a command."""
    words = session.replace("-", "_").split("_") if isinstance(session, str) else [""]
    if isinstance(session, str) and words[0] and "".join(words).isalnum() and len(session) < LONGEST_ID:
        return session
    raise ValueError(f"the session is {str(session)[:LONGEST_ID]!r}; it must be an id")


def lock_session(folder: Path, session: str, event: str, *, only_if_free: bool = False) -> int | None:
    """Note the event and take the session's lock; None if another process holds it.

    With `only_if_free` the event is noted only when the lock was free.
    """
    import fcntl

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Open for reading, too: the collecting process reads the events through the descriptor that holds its lock.
    fd = os.open(folder / session, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    if fd <= LAST_STANDARD:  # we were called with one of those closed, and the collecting process opens them all
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
    """Start a process that outlives the agent: in its own session, with none of the agent's pipes."""
    command = [sys.executable, "-P", "-m", "stenograph", "collect", *target, "--from", agent, "--root", str(root)]
    if lock is not None:
        os.set_inheritable(lock, True)
        command += ["--lock", str(lock)]
    nowhere = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    os.posix_spawn(sys.executable, command, os.environ, file_actions=nowhere, setsid=True)
