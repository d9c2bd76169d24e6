"""What a hook call does: note it, and start the collecting process of that session where none runs.

Theory of operation. Each session has a file `<root>/collectors/<session>`: every hook call adds a line with its event,
and whoever collects the session holds its lock. A call that gets the lock is alone, so it starts a collecting process
and leaves the lock to it, which travels with the open file; one that does not get it has done its part with its line.

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


def answer(agent: str) -> int:
    """Take a hook call from standard input; always 0, since no trouble of ours is the agent's."""
    root = None
    try:
        call = sys.stdin.buffer.read()
        root = storage()
        _take(call, root, agent)
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


def _take(call: bytes, root: Path, agent: str) -> None:
    import json

    told = json.loads(call)
    transcript, event = Path(told["transcript_path"]), str(told["hook_event_name"])
    if transcript.suffix != ".jsonl" or not transcript.is_absolute():
        raise ValueError(f"transcript_path is {str(transcript)[:200]!r}; it must be the path of a .jsonl file")
    lock = _lock(root / FOLDER, transcript.stem, event)
    if lock is not None:
        _start(transcript, root, lock, agent)


def _lock(folder: Path, session: str, event: str) -> int | None:
    """Note the event, then the session's lock, unless somebody has it."""
    import fcntl

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Open for reading, too: whoever collects reads the events by the very descriptor that holds its lock.
    fd = os.open(folder / session, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    if fd <= LAST_STANDARD:  # we were called with one of those closed, and whoever collects opens them all
        fd = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, LAST_STANDARD + 1)
    os.write(fd, f"{' '.join(event[:LONGEST_EVENT].split())}\n".encode("utf-8", "backslashreplace"))
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    return fd


def _start(transcript: Path, root: Path, lock: int, agent: str) -> None:
    """A process that outlives the agent: in a session of its own, with none of the agent's pipes."""
    os.set_inheritable(lock, True)
    command = [sys.executable, "-P", "-m", "stenograph", "collect", str(transcript), "--from", agent]
    command += ["--root", str(root), "--lock", str(lock)]
    nowhere = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    os.posix_spawn(sys.executable, command, os.environ, file_actions=nowhere, setsid=True)
