"""`verify_journal`: each finding provoked, and nothing found where nothing is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stenograph import Recorder, RunNotFound, SourceError, start_run, verify_journal
from stenograph.journal.verify import JournalReport

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
OTHER = "650e8400-e29b-41d4-a716-446655440000"


def line(seq: int, type: str = "system.event", payload: Any = None, **more: Any) -> bytes:
    envelope: dict[str, Any] = {"seq": seq, "run_id": RUN_ID, "type": type, "path": "", "iteration": 0}
    payload = {"subtype": "s"} if payload is None else payload
    envelope |= {"timestamp": "2026-06-08T08:14:42.123456Z", "payload": payload}
    return json.dumps(envelope | more).encode() + b"\n"


STEP = {"name": "s", "kind": "operation"}
CALL = {"name": "t", "call_id": "c1", "input": None, "output": None, "fidelity": "router"}
GOOD = line(1)


def verify(root: Path, data: bytes, name: str = RUN_ID) -> JournalReport:
    path = root / "transcripts" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, mode=0o700)
    path.touch(mode=0o600)
    path.write_bytes(data)
    return verify_journal(path)


def kinds(report: JournalReport) -> list[str]:
    return [finding.kind for finding in report.findings]


def test_a_recorded_run_is_ok(root: Path) -> None:
    """Steps, tools, a sub-workflow: no finding at all."""
    with start_run("r", root=root) as run, run.step("s") as step:
        step.user("hi")
        with step.tool("t", {}) as call:
            call.output = 1
        with step.call_workflow("child") as child:
            child.assistant("hello")
    for path, events in ((run.path, 9), (child.path, 3)):
        report = verify_journal(path)
        assert (report.ok, report.live, report.findings) == (True, False, ())
        assert (report.events, report.lines, report.last_seq) == (events, events, events)
    assert report.run_id == child.run_id


@pytest.mark.parametrize(
    ("data", "kind", "where", "message"),
    [
        (GOOD + line(3), "gap", (2, 3), "seq 2 missing before 3"),
        (GOOD + line(9), "gap", (2, 9), "seq 2 to 8 missing before 9"),
        (line(2), "gap", (1, 2), "seq 1 missing"),
        (GOOD + line(1), "duplicate", (2, 1), "seq 1 is there twice"),
        (GOOD + line(2) + line(1), "disorder", (3, 1), "seq 1 comes after 2"),
        (GOOD + b'{"seq":2', "torn_tail", (None, None), "last 8 bytes"),
        (GOOD + b"not json\n", "malformed", (2, None), "not JSON"),
        (GOOD + b"\n", "malformed", (2, None), "not JSON"),
        (GOOD + b'{"type":"error"}\n', "not_an_event", (2, 0), "no seq"),
        (GOOD + b"[]\n", "not_an_event", (2, 0), "no seq"),
        (line(1).replace(b'"s"', b'"\xff"'), "encoding", (1, 1), "UTF-8"),
        (line(1, mood="calm"), "fields", (1, 1), "mood"),
        (line(1, payload={"subtype": "s", "colour": "red"}), "fields", (1, 1), "colour"),
        (line(1, payload={"subtype": 5}), "fields", (1, 1), "subtype"),
        (GOOD + line(2, run_id=OTHER), "run_id", (2, 2), f"run {OTHER} in the journal of {RUN_ID}"),
        (line(1, run_id="x"), "run_id", (1, 1), "'x' is not a run id"),
        (line(1, timestamp="yesterday"), "timestamp", (1, 1), "'yesterday'"),
        (line(1, "run.started", STEP), "open_run", (None, 1), "has not ended: s"),
        (line(1, "step.started", STEP, path="a.s", iteration=2), "open_step", (None, 1), "a.s[2]"),
        (line(1, "tool.call", CALL), "open_call", (None, 1), "t (c1)"),
        (line(1, "step.completed", STEP, path="s"), "stray_step", (None, 1), "s"),
        (line(1, "tool.result", CALL), "stray_result", (None, 1), "t (c1)"),
    ],
)
def test_what_is_wrong_is_found(
    root: Path, data: bytes, kind: str, where: tuple[int | None, int | None], message: str
) -> None:
    """One flaw, one finding: its kind, its line, its number, and a sentence."""
    report = verify(root, data)
    assert kinds(report) == [kind]
    (finding,) = report.findings
    assert (finding.line, finding.seq) == where
    assert message in finding.message
    assert finding.problem
    assert not report.ok


def test_a_type_of_a_newer_version_is_worth_knowing_and_no_problem(root: Path) -> None:
    """Unknown types are forward-compatible."""
    report = verify(root, line(1, "agent.dreamed", {"of": "sheep"}))
    assert kinds(report) == ["unknown_type"]
    assert not report.findings[0].problem
    assert report.ok


def test_a_journal_under_another_name_is_found(root: Path) -> None:
    """A run belongs in the file of its id."""
    report = verify(root, GOOD, name=OTHER)
    assert kinds(report) == ["run_id"]
    assert OTHER in report.findings[0].message


def test_permissions_are_checked(root: Path) -> None:
    """Others may reach neither the file nor its folder; each says what to do."""
    report = verify(root, GOOD)
    assert report.ok
    path = Path(report.path)
    path.chmod(0o640)
    path.parent.chmod(0o755)
    report = verify_journal(path)
    assert kinds(report) == ["permissions", "permissions"]
    assert f"chmod 600 {path}" in report.findings[0].message
    assert f"chmod 700 {path.parent}" in report.findings[1].message


def test_a_symlink_is_found(root: Path) -> None:
    """It can be read, and will not be written through."""
    path = Path(verify(root, GOOD).path)
    target = path.rename(root / "target")
    path.symlink_to(target)
    assert kinds(verify_journal(path)) == ["symlink"]


def test_open_ends_of_a_live_journal_are_no_problem(root: Path) -> None:
    """While a recorder holds it, what is open may still end, and a half line may still become one."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        recorder.record("run.started", {"name": "r", "kind": "workflow"})
        recorder.record("step.started", STEP, path="s")
        recorder.record("tool.call", CALL)
        with recorder.path.open("ab") as file:
            file.write(b'{"seq"')
        report = verify_journal(recorder.path)
        assert report.live
        assert report.ok
        assert kinds(report) == ["torn_tail", "open_run", "open_step", "open_call"]
        assert not any(finding.problem for finding in report.findings)
    report = verify_journal(recorder.path)
    assert not report.live
    assert not report.ok
    assert all(finding.problem for finding in report.findings)


def test_a_stray_end_is_a_problem_also_in_a_live_journal(root: Path) -> None:
    """No later event can give it a beginning."""
    with Recorder(root, run_id=RUN_ID) as recorder:
        recorder.record("tool.result", CALL)
        report = verify_journal(recorder.path)
        assert (report.live, report.ok, kinds(report)) == (True, False, ["stray_result"])


def test_looking_does_not_disturb_the_writer(root: Path) -> None:
    """The recorder keeps its lock and goes on."""
    with Recorder(root) as recorder:
        for seq in range(1, 20):
            verify_journal(recorder.path)
            assert recorder.record("system.event", {"subtype": "s"}).seq == seq


def test_an_empty_journal_is_ok(root: Path) -> None:
    """A recorder that never recorded leaves one."""
    report = verify(root, b"")
    assert (report.ok, report.run_id, report.lines, report.last_seq) == (True, None, 0, 0)


def test_garbage_gives_findings_and_no_exception(root: Path) -> None:
    """Any bytes: a report."""
    report = verify(root, bytes(range(256)) * 50 + b'\n{"seq":"x"}\n{"seq":1e400,"type":"a"}\n' + b"[" * 9000)
    assert not report.ok
    assert report.lines > 50


def test_what_cannot_be_read_raises(tmp_path: Path) -> None:
    """Missing and not-a-file are exceptions, not findings."""
    with pytest.raises(RunNotFound):
        verify_journal(tmp_path / "x.jsonl")
    with pytest.raises(SourceError):
        verify_journal(tmp_path)


def _without(data: bytes, *names: str) -> bytes:
    given = json.loads(data)
    return json.dumps({name: value for name, value in given.items() if name not in names}).encode() + b"\n"


def test_a_journal_of_others_may_leave_out_the_place_of_an_event(root: Path) -> None:
    """Worth knowing, told once with the number of lines, and not a problem."""
    report = verify(root, _without(line(1), "path", "iteration") + _without(line(2), "iteration") + line(3))
    assert report.ok
    assert [(finding.kind, finding.message, finding.problem) for finding in report.findings] == [
        ("fields", "2 lines without iteration, read as 0", False),
        ("fields", "1 line without path, read as ''", False),
    ]


def test_what_else_such_a_line_lacks_is_still_a_problem(root: Path) -> None:
    """A line that has no timestamp, or a payload that does not fit, is named."""
    report = verify(root, _without(line(1), "iteration", "payload") + _without(line(2, payload={}), "iteration"))
    assert not report.ok
    told = [finding.message for finding in report.findings if finding.problem]
    assert told == [
        "does not fit the wire format: lacks payload",
        "does not fit the wire format: something inside its payload or origin",
    ]


def test_the_documents_own_journal_is_sound(tmp_path: Path) -> None:
    """The golden case of AWF's own shape, but for the call in it that was left without a result on purpose."""
    source = Path(__file__).parents[2] / "golden" / "exchange" / "awf" / "input.jsonl"
    run_id = json.loads(source.read_bytes().splitlines()[0])["run_id"]
    path = tmp_path / f"{run_id}.jsonl"
    path.touch(mode=0o600)
    path.write_bytes(source.read_bytes())
    report = verify_journal(path)
    assert [finding.message for finding in report.findings if finding.kind == "fields"] != []
    assert [finding.kind for finding in report.findings if finding.problem] == ["open_call"]
