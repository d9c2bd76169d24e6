"""The run API inside somebody else's program: whatever fails on our side, the host goes on."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from stenograph import Event, Recorder, Run, read_events, start_run

pytestmark = pytest.mark.usefixtures("lenient")


class Unwritable:
    def __repr__(self) -> str:
        return "Unwritable()"


def workflow(run: Run) -> str:
    """Everything that the API has; what it returns must not depend on the recording."""
    log = []
    with run:
        with run.step("s", "agent", iteration=1) as step:
            step.user("prompt", "system")
            step.assistant([{"type": "text", "text": "t"}])
            step.stream("chunk")
            step.usage(1, 2)
            step.error("e", data={"a": 1})
            step.system("sub", "text")
            with step.tool("t", {"a": 1}) as call:
                call.output = "out"
                log.append("tool")
            with step.command("ls") as call:
                call.fail("no")
                log.append("command")
            log.append(str(run.wrap_tool(lambda a: a + 1)(1)))
            log.append(str(asyncio.run(run.wrap_tool(asyncio.sleep)(0, "slept"))))
            try:
                with step.tool("bad"):
                    raise ValueError("the host's own")
            except ValueError as error:
                log.append(str(error))
        with run.call_workflow("child") as child, child.step("c"):
            child.user("hi")
            log.append("child")
        run.result = "done"
    assert list(run.subscribe()) == []
    assert run.stats().run_id == run.run_id
    assert isinstance(run.path, Path)
    return " ".join(log)


EXPECTED = "tool command 2 slept the host's own child"
EVENTS = 22
"""What `workflow` records into the run itself."""


def test_nothing_is_lost_when_nothing_fails(root: Path) -> None:
    """The measure for the tests below."""
    run = start_run("r", root=root)
    assert workflow(run) == EXPECTED
    assert run.lost == 0
    assert len(list(read_events(run.path))) == EVENTS


def test_a_root_that_cannot_be_written_costs_only_the_recording(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Every event is counted as lost, the log says why, and the host's work is done."""
    (tmp_path / "file").touch()
    run = start_run("r", root=tmp_path / "file" / "storage")
    assert workflow(run) == EXPECTED
    assert run.lost == EVENTS
    assert run.stats().failed == EVENTS
    assert "Not a directory" in caplog.text


def test_a_locked_journal_costs_only_the_recording(root: Path) -> None:
    """The other recorder keeps it, and its journal has nothing of ours."""
    with Recorder(root) as recorder:
        run = start_run("r", root=root, run_id=recorder.run_id)
        assert workflow(run) == EXPECTED
        assert run.lost == EVENTS
        assert recorder.path.read_bytes() == b""


def test_a_run_id_that_is_none_is_replaced(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The run is recorded under a new id, and the log says so."""
    run = start_run("r", root=root, run_id="job 42")
    assert workflow(run) == EXPECTED
    assert run.lost == 0
    assert len(list(read_events(run.path))) == EVENTS
    assert "'job 42' is not a run id" in caplog.text
    with start_run("r", root=root) as parent, parent.call_workflow("c", run_id="../x") as child:
        assert child.path.parent == root / "transcripts"
    assert [event.child_run_id for event in read_events(parent.path)][1] == child.run_id


@pytest.mark.parametrize("options", [{"buffer": 0}, {"durability": "x"}, {"parent_run_id": "x"}, {"mask": 5}])
def test_bad_options_cost_only_the_recording(root: Path, options: dict[str, Any]) -> None:
    """They are said in the log."""
    run = start_run("r", root=root, **options)
    assert workflow(run) == EXPECTED
    assert run.lost == EVENTS


def test_a_mask_that_raises_costs_only_its_events(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The host's secret is not written, the rest is."""

    def mask(event: Event) -> Event:
        if event.type == "message.user":
            raise RuntimeError("cannot mask")
        return event

    run = start_run("r", root=root, mask=mask)
    assert workflow(run) == EXPECTED
    assert run.lost == 1
    assert b"prompt" not in run.path.read_bytes()
    assert len(list(read_events(run.path))) == EVENTS - 1
    assert "cannot mask" in caplog.text


def test_values_that_json_cannot_hold_are_recorded_as_their_repr(root: Path) -> None:
    """Arguments, outputs, results and data: nothing is lost for being odd."""
    with start_run("r", root=root) as run:
        with run.tool("t", {"a": Unwritable(), "b": 1}) as call:
            call.output = [Unwritable()]
        run.wrap_tool(lambda value: value)(Unwritable())
        run.error("e", data=Unwritable())
        run.system("s", data={1: Unwritable()})
        with run.step("s") as step:
            step.result = Unwritable()
        run.result = {"self": run}
    assert run.lost == 0
    payloads = [event.payload for event in read_events(run.path)]
    assert payloads[1].input == {"a": "Unwritable()", "b": 1}
    assert payloads[2].output == ["Unwritable()"]
    assert payloads[3].input == {"value": "Unwritable()"}
    assert payloads[4].output == "Unwritable()"
    assert payloads[5].data == "Unwritable()"
    assert payloads[6].data == {"1": "Unwritable()"}
    assert payloads[8].result == "Unwritable()"
    assert payloads[9].result["self"].startswith("<stenograph.journal.run.Run")


def test_misuse_is_lost_and_counted(root: Path) -> None:
    """Wrong types cost their own event."""
    with start_run("r", root=root) as run:
        assert run.user(5) is None  # type: ignore[arg-type]
        assert run.assistant([{"type": "text"}]) is None
        assert run.usage(-1, "x") is None  # type: ignore[arg-type]
        assert run.stream(None) is None  # type: ignore[arg-type]
        assert run.system(None) is None  # type: ignore[arg-type]
        with run.step(7) as step, step.tool(8):  # type: ignore[arg-type]
            pass
        assert run.lost == 9
        assert run.user("fine") is not None
    assert [event.type for event in read_events(run.path)] == ["run.started", "message.user", "run.completed"]


def test_recording_after_the_end_is_lost_and_counted(root: Path) -> None:
    """A late thread does not raise."""
    with start_run("r", root=root) as run:
        pass
    assert run.user("late") is None
    assert run.lost == 1


FULL_DISK = """
    import logging, resource, sys
    from stenograph import read_events, start_run, verify_journal

    logging.disable()
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    done = 0
    with start_run("r", root=sys.argv[1]) as run:
        resource.setrlimit(resource.RLIMIT_FSIZE, (run.stats().bytes + 1000, hard))
        with run.step("s"):
            for number in range(20):
                with run.tool("t", {"number": number}) as call:
                    call.output = done = number
        lost = run.lost
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        run.user("room again")
        assert run.lost == lost
    assert done == 19
    kept = list(read_events(run.path))
    assert len(kept) + lost == 45, (len(kept), lost)
    assert [event.seq for event in kept] == list(range(1, len(kept) + 1))
    assert kept[-1].type == "run.completed"
    print(lost)
"""


def test_a_full_disk_costs_only_what_did_not_fit(root: Path, python: Any) -> None:
    """The host goes on, the loss is counted exactly, and recording resumes when there is room."""
    assert 30 < int(python(FULL_DISK, root).stdout) < 45


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_folder_of_somebody_else_costs_only_the_recording(python: Any) -> None:
    """Permission denied is one more thing the host does not notice."""
    script = """
        import logging, os
        from stenograph import start_run
        logging.disable()
        os.setgid(65534)
        os.setuid(65534)
        with start_run("r", root="/root/nowhere") as run, run.step("s"):
            run.user("x")
        print(run.lost)
    """
    assert python(script).stdout == "5\n"


def test_a_hosts_logging_that_fails_is_survived(root: Path) -> None:
    """Not even telling about a failure breaks the host."""

    class Failing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise RuntimeError("handler")

    handler = Failing()
    logging.getLogger("stenograph").addHandler(handler)
    try:
        run = start_run("r", root=root, durability="x")  # type: ignore[arg-type]
        assert workflow(run) == EXPECTED
    finally:
        logging.getLogger("stenograph").removeHandler(handler)


@pytest.mark.parametrize("name", ["a name", "a.b", "", "\ud800", "x" * 10_000, "\n"])
def test_any_name_will_do(root: Path, name: str) -> None:
    """Names of runs and steps are text, whatever they hold."""
    with start_run(name, root=root) as run, run.step(name) as step, step.step("inner"):
        run.user("x")
    assert run.lost == 0
    assert len(list(read_events(run.path))) == 7
