"""The host's own outputs are byte-identical whether a recorder is wired or not (our own loggers aside)."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HOST = """
    import asyncio, contextlib, logging, os, sys, threading, warnings

    wired = sys.argv[1] != "-"
    logging.basicConfig(level=logging.DEBUG, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
    logging.getLogger("stenograph").propagate = False
    logging.getLogger("stenograph").addHandler(logging.NullHandler())
    audit = open(sys.argv[2], "w")

    if wired:
        from stenograph import start_run
        run = start_run("host", root=sys.argv[1], **eval(sys.argv[3]))
        step, tool, wrap = run.step, run.tool, run.wrap_tool
    else:
        run = contextlib.nullcontext()
        step = tool = lambda *args, **kwargs: contextlib.nullcontext()
        wrap = lambda function: function

    def fetch(url):
        print("fetching", url)
        logging.info("fetch %s", url)
        audit.write(f"fetch {url}\\n")
        return url.upper()

    async def think(n):
        await asyncio.sleep(0)
        print("thinking", n)
        return n * 2

    async def forgotten():
        raise LookupError("nobody asks")

    async def main():
        print(await asyncio.gather(*(wrap(think)(n) for n in range(3))))
        wrap(lambda: asyncio.get_running_loop().create_task(forgotten()))()
        await asyncio.sleep(0.01)

    with run:
        with step("a", "agent"):
            if wired:
                run.user("prompt", "system")
                run.assistant("answer")
            print(wrap(fetch)("http://x"))
            with tool("t", {"a": 1}):
                sys.stdout.write("no newline")
                sys.stderr.write("to stderr\\n")
        asyncio.run(main())
        thread = threading.Thread(target=wrap(fetch), args=("http://thread",))
        thread.start()
        thread.join()
        warnings.warn("the host's warning")
        try:
            with step("b"):
                wrap(fetch)(5)
        except AttributeError as error:
            logging.exception("the host's error: %s", error)
        print(sorted(name for name in os.environ if name.startswith("STENO")))
    audit.close()
    print("bye", end="")
    raise SystemExit(7)
"""


def run_host(root: str, audit: Path, options: str = "{}") -> tuple[int, bytes, bytes, bytes]:
    """Exit code, stdout, stderr and the audit file of the host."""
    import os

    environment = {name: value for name, value in os.environ.items() if not name.startswith("STENOGRAPH")}
    command = [sys.executable, "-c", textwrap.dedent(HOST), root, str(audit), options]
    done = subprocess.run(command, capture_output=True, timeout=60, env=environment)
    return done.returncode, done.stdout, done.stderr, audit.read_bytes()


def without_our_frames(text: bytes) -> bytes:
    """A traceback shows the wrapper's own frame; everything else must be the same."""
    text = re.sub(rb'  File "[^"]*/stenograph/[^\n]*\n(?:    [^\n]*\n)*', b"", text)
    return re.sub(rb"line \d+|0x[0-9a-f]+|Task-\d+", b"", text)


@pytest.mark.parametrize(
    "options",
    [
        "{}",
        "{'durability': 'disk'}",
        "{'mask': lambda event: 1 / 0}",  # recording fails all the time
        "{'run_id': 'none'}",
    ],
)
def test_the_hosts_output_is_the_same_with_and_without_recording(tmp_path: Path, options: str) -> None:
    """stdout, stderr, log, warnings, audit file and exit code of a program with and without us, and when we fail."""
    without = run_host("-", tmp_path / "audit-without")
    wired = run_host(str(tmp_path / "storage"), tmp_path / "audit-with", options)
    assert wired[0] == without[0] == 7
    assert wired[1] == without[1]
    assert without_our_frames(wired[2]) == without_our_frames(without[2])
    assert wired[3] == without[3] == b"fetch http://x\nfetch http://thread\nfetch 5\n"
    assert b"Task exception was never retrieved" in wired[2]
    assert list((tmp_path / "storage" / "transcripts").iterdir())


def test_an_unwritable_root_changes_nothing_either(tmp_path: Path) -> None:
    """The recorder could not even be opened."""
    (tmp_path / "file").touch()
    without = run_host("-", tmp_path / "audit-without")
    wired = run_host(str(tmp_path / "file" / "storage"), tmp_path / "audit-with")
    assert (wired[0], wired[1], wired[3]) == (without[0], without[1], without[3])
    assert without_our_frames(wired[2]) == without_our_frames(without[2])
