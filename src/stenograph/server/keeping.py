"""Keep an archive up to date until the pipe at standard input closes; `server.keeper` runs this."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence

from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.watching import watch
from stenograph.archive.store.home import home_of
from stenograph.errors import ArchiveLocked, StenographError
from stenograph.evidence.after_sync import checkpoint_after
from stenograph.runs.syncing import wanted_roots


def keep(folder: str, paths: Sequence[str]) -> int:
    """Watch, and print the state for `Keeper.state`: `yes` after every sync, `elsewhere` if another process watches.

    `paths` are folders instead of those of the agents.
    """
    home = home_of(folder)
    stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C, and closes our pipe
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    threading.Thread(target=_wait_for_end, args=(stop,), daemon=True).start()

    def on_sync(summary: Summary) -> None:
        if not paths:  # otherwise the agents' own folders were not read
            home.note_sync()
        checkpoint_after(home, summary)
        _say("yes")

    try:
        watch(home, lambda: wanted_roots(home, None, (), paths, existing_only=False), stop, on_sync)
    except ArchiveLocked:
        _say("elsewhere")
    except StenographError as error:
        sys.stderr.write(f"steno: {error}\n")
        return error.exit_code
    return 0


def _wait_for_end(stop: threading.Event) -> None:
    while os.read(0, 1):  # not `sys.stdin`: the interpreter could not end while this thread holds its lock
        pass
    stop.set()


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1], sys.argv[2:]))
