"""Aider for real: it has no tools and keeps its history in the repository, so it does an errand of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agents.archived import keep_in_archive, steno
from agents.reading import assert_counted
from agents.recorded import under_run
from agents.servers.chat_api import INPUT, THOUGHTS
from agents.servers.script import Scripts, Text
from more_agents.installing import Pip
from more_agents.real_agent import Place, RealAgent, opened
from stenograph import open_archive, open_run

pytestmark = [pytest.mark.more_agents, pytest.mark.timeout(1800)]  # the first test installs the program

PROMPT = "Please change the notes, 请仔细看。 [[script:errand]]"
ANSWER = """完了しました 🎉 I will change them.

notes.txt
```
<<<<<<< SEARCH
第二行
=======
第三行
>>>>>>> REPLACE
```
"""


def prepare(place: Place) -> list[str]:
    """A model by the environment, a repository, and nothing is asked or fetched."""
    place.environment |= {
        "OPENAI_API_BASE": f"{place.url}/v1",
        "OPENAI_API_KEY": "sk-fake",
        "AIDER_ANALYTICS": "false",
        "AIDER_CHECK_UPDATE": "false",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        **{f"GIT_{who}_{what}": "user@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "init"]):
        subprocess.run(["git", *command], cwd=place.work, env=place.environment, check=True)
    options = ["--edit-format", "diff", "--yes-always", "--no-show-model-warnings", "--no-stream", "--map-tokens", "0"]
    return [*place.program, "--model", "openai/fake-model", *options, "notes.txt", "--message"]


def scripts(folder: Path) -> Scripts:
    """One answer with an edit."""
    return {"errand": [[Text(ANSWER)]]}


AIDER = RealAgent(
    format_name="aider",
    agent_id="aider",
    program=Pip("aider-chat", "0.86.2", "aider"),
    prepare=prepare,
    scripts=scripts,
    without_tools=True,
)


def test_a_session_is_recorded_and_kept(tmp_path: Path) -> None:
    """By `steno run`; a sync of the repository keeps the same run. The call for a commit's words is not reported."""
    with opened(AIDER, tmp_path / "aider") as session:
        archive = keep_in_archive(session)
        under_run(session).run(PROMPT)
        work = session.place / "work"
        assert "第三行" in (work / "notes.txt").read_text("utf-8")
        (journal,) = (archive / "transcripts").glob("*.jsonl")
        with open_run(journal) as live:
            recorded = list(live.events())
        steno(session, "sync", "--path", str(work))
        (row,) = steno(session, "ls")
        wanted = {"input_tokens": INPUT, "output_tokens": session.model.tokens[0] + THOUGHTS}
    assert (row["agent"], row["status"], row["agent_version"]) == ("aider", "finished", "0.86.2")
    assert {name: row[name] for name in wanted} == wanted
    with open_archive(archive) as kept, kept.run(row["run_id"]) as run:
        events = list(run.events())
    for told in (recorded, events):
        texts = [str(event.payload) for event in told if event.type.startswith("message.")]
        assert len(texts) == 2
        assert PROMPT in texts[0]
        assert "第三行" in texts[1]
        assert [event.payload.subtype for event in told if event.type == "system.event"][-2:] == [
            "applied_edit",
            "commit",
        ]
    assert_counted(work / ".aider.chat.history.md", "aider")
