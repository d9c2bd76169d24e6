"""Task folders of Cline and Roo Code: the conversation with what stands beside it, where the editor keeps it."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from golden_cases import FOLDER
from stenograph.cli.program import cli
from stenograph.model import UsagePayload
from stenograph.sources.conversion import convert

TASK = "1731680897694"


def task_folder(root: Path) -> Path:
    """The golden conversation as the extension keeps it, with the requests that it showed."""
    folder = root / "saoudrizwan.claude-dev" / "tasks" / TASK
    folder.mkdir(parents=True)
    lines = (FOLDER / "cline_task" / "tags" / "input.jsonl").read_bytes().splitlines()
    (folder / "api_conversation_history.json").write_text(json.dumps([json.loads(line) for line in lines]))
    counts = {"tokensIn": 20, "tokensOut": 5, "cacheReads": 100, "cacheWrites": 3, "cost": 0.01}
    shown = [{"ts": 1731680897694 + number * 1000, "type": "say", "say": "api_req_started", "text": json.dumps(counts)}
             for number in range(3)]  # fmt: skip
    noise = [{"ts": 1, "type": "say", "say": "text", "text": "What does stats.py do?"}]
    (folder / "ui_messages.json").write_text(json.dumps([*noise, *shown]))
    return folder / "api_conversation_history.json"


def test_a_task_has_the_times_and_tokens_that_stand_beside_it(tmp_path: Path) -> None:
    """Each answer with its request; input that came from or went to a cache is part of the input."""
    events = list(convert(task_folder(tmp_path)))
    usages = [event.payload for event in events if isinstance(event.payload, UsagePayload)]
    assert [(each.input_tokens, each.output_tokens, each.cost_usd) for each in usages] == [(123, 5, 0.01)] * 3
    answers = [event.timestamp for event in events if event.type == "message.assistant"]
    assert answers == [f"2024-11-15T14:28:{17 + number}.694000Z" for number in range(3)]


def test_tasks_are_kept_from_the_editors_folder(tmp_path: Path) -> None:
    """Under the task's id, and with the calls that the model wrote as tags."""
    task_folder(tmp_path / ".config" / "Code" / "User" / "globalStorage")
    archive = ["--archive", str(tmp_path / "archive")]
    run = CliRunner()
    done = run.invoke(cli, ["sync", "--home", str(tmp_path), "--agent", "cline-task", *archive])
    assert done.exit_code == 0, done.output
    (listed,) = json.loads(run.invoke(cli, ["ls", "--json", *archive]).stdout)
    assert (listed["agent"], listed["tool_calls"], listed["failed_calls"]) == ("cline-task", 3, 1)
