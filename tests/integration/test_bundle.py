"""Bundles by the command line, of real transcripts, and of processes that are killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from golden_cases import CASES, input_of, name_of
from stenograph import entries, read_events, start_run
from stenograph.bundle import BundleOptions, DebugBundle, create_bundle
from stenograph.errors import SourceError
from stenograph.sources.conversion import convert
from stenograph.transcript import reconstruct_transcript

ONE_PER_FORMAT = {case.parent.name: case for case in CASES}
SECRET = "ghp_" + "a8Kd02mXq7Lr5Tn1Vb9Zc4Ws6Ye3Uf0Hg2Jd"


def steno(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stenograph", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd)


def test_a_bundle_by_the_command_line(root: Path, tmp_path: Path) -> None:
    """Make, show, verify, ask and unfold one; then change a byte."""
    with start_run("review", root=root) as run:
        run.user(f"Use {SECRET}.")
    made = steno(
        "bundle", "create", run.run_id[:8], "--root", root, "--redact", "-o", "bug.zip", "--json", cwd=tmp_path
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["manifest"]["run_id"] == run.run_id
    shown = steno("bundle", "show", "bug.zip", cwd=tmp_path)
    assert run.run_id in shown.stdout
    assert "events.jsonl" in shown.stdout
    assert steno("bundle", "verify", "bug.zip", cwd=tmp_path).returncode == 0
    found = steno("query", "bug.zip", "SELECT content FROM entries WHERE role = 'user'", "--json", cwd=tmp_path)
    assert json.loads(found.stdout) == [{"content": "Use [masked:github-token]."}]
    unfolded = steno("bundle", "extract", "bug.zip", "-o", "out", cwd=tmp_path)
    folder = tmp_path / unfolded.stdout.strip()
    jq = subprocess.run(
        ["jq", "-r", '.context | select(.role == "user") | .content', folder / "transcript.jsonl"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert jq.stdout == "Use [masked:github-token].\n"
    data = bytearray((tmp_path / "bug.zip").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "bug.zip").write_bytes(data)
    checked = steno("bundle", "verify", "bug.zip", "--json", cwd=tmp_path)
    assert checked.returncode == 1
    assert json.loads(checked.stdout)[0]["ok"] is False


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("bundle", "verify", "missing.zip"), 3),
        (("bundle", "show", "missing.zip"), 3),
        (("bundle", "create", "missing"), 3),
        (("query", "missing.zip", "SELECT 1"), 3),
        (("query", "good.zip", "DROP TABLE logs"), 2),
        (("query", "good.zip", "SELECT seq FROM events", "--max-rows", "1"), 2),
        (("query", "good.zip"), 2),
        (("query", "--schema"), 0),
    ],
)
def test_mistakes_are_one_line_and_an_exit_code(
    root: Path, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    """Never a traceback; the codes are those of every command."""
    with start_run("x", root=root) as run:
        pass
    create_bundle(tmp_path / "good.zip", read_events(run.path), options=BundleOptions(environment=False, page=False))
    done = steno(*arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert code in (0, 2) or done.stderr.count("\n") == 1


@pytest.mark.parametrize("case", ONE_PER_FORMAT.values(), ids=name_of)
def test_a_real_transcript_of_every_agent_is_packed(case: Path, tmp_path: Path) -> None:
    """It opens, verifies, has a page, and the log gives back the entries of the run."""
    source = input_of(case)
    bundle = DebugBundle.load(create_bundle(tmp_path / "a.zip", convert(source), source=str(source)))
    assert bundle.verify().ok
    assert bundle.manifest.problems == ()
    assert bundle.read("transcript.html")
    run_id = bundle.manifest.run_id
    expected = list(entries(event for event in convert(source) if event.run_id == run_id))
    expected.sort(key=lambda entry: (entry.source, entry.sequence_number))
    assert [entry.as_dict() for entry in reconstruct_transcript(bundle.logs)] == [
        json.loads(json.dumps(entry.as_dict())) for entry in expected
    ]


RECORDING = """
import logging, sys
from stenograph.bundle import BundleOptions, debug_bundle
options = BundleOptions(environment=False)
number = 0
while True:
    number += 1
    with debug_bundle("out/a.zip", root="storage", options=options) as recording:
        for _ in range(200):
            recording.run.user("word " * number)
            logging.warning("x" * 1000)
    print(number, flush=True)
"""


def test_a_killed_run_leaves_a_whole_bundle_or_none(tmp_path: Path) -> None:
    """kill -9 at any moment, over and over: what is there under the name is whole, and later ones are made."""
    chance = random.Random(7)
    target = tmp_path / "out" / "a.zip"
    seen = 0
    for _ in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", RECORDING], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        if chance.random() < 0.7:
            process.stdout.readline()
        time.sleep(chance.random() * 0.3)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        try:
            bundle = DebugBundle.load(target)
        except SourceError:
            assert not target.exists()
            continue
        assert bundle.verify().ok
        seen += 1
    assert seen > 5
    for spool in target.parent.glob(".*"):
        os.utime(spool, (0, 0))
    with start_run("last", root=tmp_path / "storage") as run:
        pass
    create_bundle(target, read_events(run.path))
    assert [path.name for path in target.parent.iterdir()] == ["a.zip"]
