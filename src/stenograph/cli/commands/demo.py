"""`steno demo`: a small real workflow, recorded through the public API and watched live.

The agent is a script, so no key and no network is needed; the steps, tools, commands, threads and files are real.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import click

from stenograph import Run, Step, StoreError, start_run
from stenograph.cli.options import json_option, print_json, wants_color, write_text
from stenograph.journal.place import storage_root
from stenograph.render.terminal import TerminalRenderer

SYSTEM_PROMPT = "You are a careful reviewer. Run the tests before you say that something works."
BUGGY = "def mean(values):\n    return sum(values) / len(values)\n"
FIXED = "def mean(values):\n    return sum(values) / len(values) if values else 0.0\n"
CHECK = "import stats; assert stats.mean([1, 2, 3]) == 2; assert stats.mean([]) == 0.0"


@click.command(
    "demo",
    epilog="Example: steno demo --root /tmp/demo",
)
@click.option(
    "--root",
    default="storage",
    metavar="DIR",
    help="Where to keep the journals.  [default: ./storage or $STENOGRAPH_STORAGE]",
)
@click.option(
    "--pace",
    type=click.FloatRange(min=0),
    default=0.05,
    metavar="SECONDS",
    help="Pause at each step, so that you can watch.  [default: 0.05]",
)
@json_option
def command(root: str, pace: float, as_json: bool) -> None:
    """Record a small workflow and print its transcript while it happens. No keys, no network.

    It ends with the paths of the journals and what to try next.
    """
    runs = _Runs(live=not as_json)
    with tempfile.TemporaryDirectory(prefix="steno-demo-") as folder:
        _review(runs, root, Path(folder), pace)
    if as_json:
        print_json([{"run_id": run.run_id, "name": run.name, "path": str(run.path)} for run in runs.all])
    else:
        write_text(_what_next(runs.all, root))


class _Runs:
    """The runs of the demo, each with a live subscriber that prints it."""

    def __init__(self, *, live: bool) -> None:
        self.all: list[Run] = []
        self._live = live
        self._watchers: dict[str | None, threading.Thread] = {}

    @contextmanager
    def watched(self, run: Run) -> Iterator[Run]:
        """The run, printed live by its own thread."""
        self.all.append(run)
        events = run.subscribe(from_seq=1)
        renderer = TerminalRenderer(color=wants_color())

        def watch() -> None:
            for event in events:
                if event.type == "step.call_workflow.completed":
                    self._watchers[event.child_run_id].join()  # print the end of the called run first
                if self._live:
                    try:
                        write_text(renderer.render(event))
                    except click.exceptions.Exit:  # the reader has left; the workflow continues
                        self._live = False

        watcher = self._watchers[run.run_id] = threading.Thread(target=watch)
        watcher.start()
        try:
            with run:
                yield run
        finally:
            watcher.join()


def _review(runs: _Runs, root: str, folder: Path, pace: float) -> None:
    """The workflow: review, measure, fix until the tests pass, hand over."""
    source = folder / "stats.py"
    source.write_text(BUGGY)
    run = start_run("review", root=root)
    if run.lost:  # a run does not raise when it cannot record, so the demo does
        raise StoreError(f"cannot record in {storage_root(root)}; choose another --root", root)
    with runs.watched(run):
        with run.step("read", "agent") as step:
            _read(step, source, pace)
        with run.step("count", "command") as step:
            _command(step, [sys.executable, "-c", f"print(len(open({str(source)!r}).read().split()))"])
        with run.step("inspect", "parallel") as step, ThreadPoolExecutor() as pool:
            branches = [pool.submit(_inspect, step, name, source, pace) for name in ("style", "types")]
            for branch in branches:
                branch.result()
        with run.step("cases", "for_each") as step:
            for number, case in enumerate(("empty", "one", "many")):
                with step.step("case", "operation", iteration=number) as each:
                    each.system("case", f"checking the {case} list")
                    time.sleep(pace)
        _fix(run, source, pace)
        with runs.watched(run.call_workflow("release")) as child:
            _release(runs, child, source, pace)
        run.result = "released"


def _read(step: Step, source: Path, pace: float) -> None:
    step.user("Review stats.py for bugs.", SYSTEM_PROMPT)
    time.sleep(pace)
    for chunk in ("Let me ", "read it."):
        step.stream(chunk)
    step.assistant(
        [
            {"type": "thinking", "thinking": "A mean divides by a length; what if the list is empty?"},
            {"type": "text", "text": "Let me read it."},
            {"type": "tool_use", "tool_name": "read_file", "tool_id": "call_1", "tool_input": {"path": "stats.py"}},
        ],
        model="scripted",
        message_id="msg_1",
        stop_reason="tool_use",
    )
    step.usage(1200, 80, cache_read_input_tokens=1000, model="scripted", message_id="msg_1")
    with step.tool("read_file", {"path": "stats.py"}, call_id="call_1") as call:
        call.output = source.read_text()
    step.assistant("It fails for an empty list: 零除 (division by zero).", model="scripted", message_id="msg_2")


def _inspect(step: Step, name: str, source: Path, pace: float) -> None:
    """One branch in its own thread; `step` says where its events belong."""
    with step.step(name, "operation") as branch:
        lines = branch.wrap_tool(_line_count)
        lines(str(source))
        time.sleep(pace)


def _line_count(path: str) -> int:
    return len(Path(path).read_text().splitlines())


def _fix(run: Run, source: Path, pace: float) -> None:
    """Run the tests, let them fail, fix the code, run them again."""
    for attempt, text in enumerate((BUGGY, FIXED)):
        with run.step("fix", "while", iteration=attempt) as step:
            source.write_text(text)
            step.assistant(f"Attempt {attempt + 1}: running the tests.", model="scripted")
            time.sleep(pace)
            with step.tool("run_tests", {"code": CHECK}) as call:
                done = subprocess.run([sys.executable, "-c", CHECK], cwd=source.parent, capture_output=True, text=True)
                call.output = done.stdout + done.stderr.strip().splitlines()[-1] if done.returncode else "passed"
                if done.returncode:
                    call.fail(f"exit status {done.returncode}")
            if done.returncode:
                step.error("the tests fail for an empty list", retryable=True)


def _release(runs: _Runs, run: Run, source: Path, pace: float) -> None:
    with run.step("build", "command") as step:
        _command(step, [sys.executable, "-m", "py_compile", source.name], cwd=source.parent)
    with runs.watched(run.call_workflow("announce")) as grandchild, grandchild.step("write", "agent") as step:
        step.user("Write one line for the changelog.")
        time.sleep(pace)
        step.assistant("mean() of an empty list is 0.0.", model="scripted")


def _command(step: Step, line: list[str], cwd: Path | None = None) -> None:
    with step.command(subprocess.list2cmdline(line)) as call:
        done = subprocess.run(line, cwd=cwd, capture_output=True, text=True)
        call.output = (done.stdout + done.stderr).strip()
        if done.returncode:
            call.fail(f"exit status {done.returncode}")


def _what_next(runs: list[Run], root: str) -> str:
    first = runs[0]
    root_option = "" if storage_root(root) == storage_root() else f" --root {root}"
    journals = "\n".join(f"  {run.path}  ({run.name})" for run in runs)
    return f"""
The journals, one JSON object per line:
{journals}

Try next:
  steno show {first.run_id[:8]}{root_option}
  steno tree {first.run_id[:8]}{root_option}
  steno tail {first.run_id[:8]}{root_option} --json
  steno verify {first.path}
  jq -r 'select(.type == "step.started") | "\\(.seq)\\t\\(.path)\\t\\(.payload.kind)"' {first.path}
  jq 'select(.type == "tool.call" or .type == "tool.result")' {first.path}
"""
