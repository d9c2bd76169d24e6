"""`redact`: a planted secret is in no byte of no file."""

from __future__ import annotations

import logging
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stenograph import read_events, start_run
from stenograph.bundle import BundleOptions, DebugBundle, create_bundle, debug_bundle, extract_bundle
from stenograph.session import Session
from stenograph.transcript import TranscriptEntry, reconstruct_transcript

SECRET = "ghp_" + "a8Kd02mXq7Lr5Tn1Vb9Zc4Ws6Ye3Uf0Hg2Jd"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository with the secret in a remote, in a change and in a file's name, and in the environment."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *arguments], check=True, capture_output=True, cwd=folder)

    git("init", "-q")
    (folder / "config.py").write_text("token = None\n")
    git("add", ".")
    git("commit", "-qm", "first")
    git("remote", "add", "origin", f"https://user:{SECRET}@example.org/x.git")
    (folder / "config.py").write_text(f"token = '{SECRET}'\n")
    (folder / f"{SECRET}.txt").write_text("x")
    monkeypatch.setenv("DEPLOY_KEY", SECRET)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/opt/{SECRET}/bin")
    return folder


def found_in(path: Path, folder: Path) -> list[str]:
    """The files of a bundle, unfolded, that hold the secret in bytes or name."""
    unfolded = extract_bundle(path, folder)
    files = [each for each in unfolded.rglob("*") if each.is_file()]
    return [each.name for each in files if SECRET.encode() in each.read_bytes() or SECRET in str(each)]


def plant(root: Path, tmp_path: Path, *, redact: bool) -> Path:
    """A bundle of a run that has the secret everywhere, recorded with logs and session."""
    session = Session()
    with debug_bundle(
        tmp_path / f"{redact}.zip",
        root=root / SECRET,
        name=f"run {SECRET}",
        session=session,
        options=BundleOptions(redact=redact),
    ) as recording:
        run = recording.run
        run.user(f"Use {SECRET}.", f"The token is {SECRET}.")
        run.assistant([{"type": "thinking", "thinking": SECRET}, {"type": "text", "text": f"I have {SECRET}"}])
        with run.step(f"step {SECRET}") as step, step.tool("push", {"url": f"https://x:{SECRET}@host", "n": 1}) as call:
            call.output = {"said": [f"Authorization: Bearer {SECRET}"]}
        with run.tool("read", {"path": f"/tmp/{SECRET}.txt"}) as call:
            call.fail(f"no file {SECRET}")
        run.system("note", data={"deep": [{"er": SECRET}]})
        run.error(f"failed with {SECRET}")
        with run.call_workflow("child") as child:
            child.user(f"and {SECRET}")
        logging.getLogger("host").error("refused %s", SECRET, extra={"event": "e", "context": {"key": SECRET}})
        session.dispatch(
            TranscriptEntry.message(role="user", content=SECRET, created_at=datetime(2026, 6, 8, tzinfo=UTC))
        )
    assert recording.path is not None
    return recording.path


def test_a_secret_is_nowhere(root: Path, tmp_path: Path, repository: Path) -> None:
    """Prompts, tool inputs and outputs, names, logs, session, environment and git diff; unmasked it is there."""
    assert repository.exists()
    plain = found_in(plant(root, tmp_path, redact=False), tmp_path / "plain")
    assert {"events.jsonl", "app.jsonl", "transcript.html", "git.diff", "git.json", "manifest.json"} <= set(plain)
    path = plant(root, tmp_path, redact=True)
    assert found_in(path, tmp_path / "masked") == []
    bundle = DebugBundle.load(path)
    assert bundle.verify().ok
    assert bundle.manifest.redacted
    assert "[masked:" in bundle.read("environment/git.diff").decode()
    names = [entry.entry_type for entry in bundle.entries]
    assert [entry.entry_type for entry in reconstruct_transcript(bundle.logs)] == names


def test_variables_are_filtered_always(root: Path, tmp_path: Path, repository: Path) -> None:
    """Also without masking, only harmless variables have values; of the others there is the name."""
    with start_run("x", root=root) as run:
        pass
    path = create_bundle(tmp_path / "a.zip", read_events(run.path))
    assert repository.exists()
    variables = DebugBundle.load(path).read("environment/variables.json").decode()
    assert SECRET not in variables
    assert '"DEPLOY_KEY"' in variables
