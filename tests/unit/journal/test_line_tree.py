"""The end of a run says what was recorded before it, and `steno verify` compares."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from hypothesis import given, strategies

from stenograph import read_events, start_run, verify_journal
from stenograph.journal.recorder import Recorder
from stenograph.merkle import MerkleTree, RootTree, leaf_hash


def recorded(root: Path, events: int = 5) -> Path:
    with start_run("review", root=root) as run:
        for number in range(events):
            run.system("note", f"note {number}")
    return run.path


def kinds(path: Path) -> list[str]:
    return [finding.kind for finding in verify_journal(path).findings if finding.problem]


def test_the_end_of_a_run_names_the_tree_over_the_lines_before_it(tmp_path: Path) -> None:
    """Leaves are the lines without their newline; the root is that of RFC 6962, in base64."""
    path = recorded(tmp_path)
    *before, last = path.read_bytes().splitlines()
    tree = MerkleTree(leaf_hash(line) for line in before)
    assert json.loads(last)["payload"]["evidence"] == {
        "leaves": len(before),
        "root": b64encode(tree.root()).decode(),
    }
    assert verify_journal(path).ok


def test_a_line_that_was_changed_after_the_end_is_noticed(tmp_path: Path) -> None:
    """A change that leaves every line a good event is a finding at the end of the run."""
    path = recorded(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"note 3", b"note 4"))
    report = verify_journal(path)
    assert not report.ok
    assert [(finding.kind, finding.seq) for finding in report.findings] == [("evidence", report.last_seq)]
    assert "was changed after the run had ended" in report.findings[0].message


def test_a_line_that_was_removed_and_the_rest_renumbered_is_noticed(tmp_path: Path) -> None:
    """Numbers that were made to fit again do not hide that a line is missing."""
    path = recorded(tmp_path)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    del lines[3]
    path.write_text("".join(json.dumps(line | {"seq": n}) + "\n" for n, line in enumerate(lines, 1)))
    assert "evidence" in kinds(path)


def test_each_end_of_a_run_that_went_on_names_the_lines_before_it(tmp_path: Path) -> None:
    """A run that was opened again has two ends, and both are right."""
    path = recorded(tmp_path)
    run_id = path.stem
    with Recorder(tmp_path, run_id=run_id) as recorder:
        recorder.record("run.started", {"name": "again", "kind": "workflow"})
        recorder.record("run.completed", {"name": "again", "kind": "workflow"})
    ends = [event.payload.evidence for event in read_events(path) if event.type == "run.completed"]
    assert [end.leaves + 1 for end in ends] == [event.seq for event in read_events(path) if "completed" in event.type]
    assert kinds(path) == []


def test_an_event_from_another_journal_does_not_bring_its_evidence(tmp_path: Path) -> None:
    """What is appended from elsewhere says what this journal holds."""
    path = recorded(tmp_path / "one")
    with Recorder(tmp_path / "two") as recorder:
        for event in list(read_events(path))[-2:]:
            recorder.append(event)
    end = list(read_events(recorder.path))[-1]
    assert end.payload.evidence.leaves == 1
    assert (
        end.payload.evidence.root
        == b64encode(sha256(b"\x00" + recorder.path.read_bytes().splitlines()[0]).digest()).decode()
    )


@given(strategies.lists(strategies.binary(max_size=3), max_size=70))
def test_the_tree_that_keeps_only_its_edge_has_the_same_root(entries: list[bytes]) -> None:
    """Both trees agree at every size."""
    small, whole = RootTree(), MerkleTree()
    for entry in entries:
        small.append(entry)
        whole.append(leaf_hash(entry))
        assert (small.size, small.root()) == (whole.size, whole.root())
