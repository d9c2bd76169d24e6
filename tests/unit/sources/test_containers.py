"""Files that hold many runs: logs of Inspect, exports of chats. `data/review.eval` is of inspect_ai 0.3.285."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from golden_cases import FOLDER
from stenograph.cli.program import cli
from stenograph.errors import AmbiguousRun, SourceError
from stenograph.model import Event
from stenograph.runs.opening import open_run
from stenograph.sources.conversion import convert

EVAL = Path(__file__).parent / "data" / "review.eval"
"""Two samples, compressed by Zstandard."""
LOG = FOLDER / "inspect_log" / "review" / "input.json"


def said(events: list[Event]) -> list[tuple[str, object]]:
    """The events without their times, ids and places."""
    return [(event.type, event.payload) for event in events if event.type.startswith("tool.")]


def by_run(path: Path) -> dict[str, list[Event]]:
    """The events of a file, run by run."""
    runs: dict[str, list[Event]] = {}
    for event in convert(path):
        runs.setdefault(event.run_id, []).append(event)
    return runs


def deflated(path: Path) -> Path:
    """The golden log as older versions wrote it: a ZIP with one file for each sample, without summaries."""
    log = json.loads(LOG.read_bytes())
    sample = log.pop("samples")[0]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as members:
        members.writestr("samples/one_epoch_1.json", json.dumps(sample))
        members.writestr("samples/two_epoch_1.json", json.dumps(sample | {"uuid": "another", "id": "two"}))
        members.writestr("header.json", json.dumps(log))
    return path


def test_each_sample_of_an_eval_file_is_a_run() -> None:
    """Also when it is compressed by Zstandard; each has its own messages and numbers."""
    runs = by_run(EVAL)
    assert len(runs) == 2
    for events in runs.values():
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert sum(event.type == "message.assistant" for event in events) == 2
        assert sum(event.type == "tool.result" for event in events) == 2


def test_zip_and_document_say_the_same(tmp_path: Path) -> None:
    """A sample reads alike in a ZIP of older versions and in a document over many lines."""
    pretty = tmp_path / "log.json"
    pretty.write_text(json.dumps(json.loads(LOG.read_bytes()), indent=1))
    one, other = by_run(deflated(tmp_path / "old.eval")), by_run(pretty)
    assert len(one) == 2
    (run_id,) = other
    assert [event.payload for event in one[run_id]] == [event.payload for event in other[run_id]]


def test_one_run_is_named_by_its_id() -> None:
    """`FILE#SESSION`; without it the file holds too many."""
    with pytest.raises(AmbiguousRun, match="holds 2 runs"):
        open_run(EVAL)
    first = next(iter(by_run(EVAL)))
    with open_run(f"{EVAL}#{first[:8]}") as run:
        assert run.info.run_id == first
        assert run.info.tool_calls == 2


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    """What is torn cannot be read, and is not taken for a bundle of ours."""
    torn = tmp_path / "torn.eval"
    torn.write_bytes(EVAL.read_bytes()[:5000])
    with pytest.raises(SourceError):
        list(convert(torn))
    done = CliRunner().invoke(cli, ["convert", str(torn)])
    assert done.exit_code == 3
    assert len(done.stderr.splitlines()) == 1


def test_the_runs_are_kept_and_found(tmp_path: Path) -> None:
    """Synced once and again: the same runs, nothing twice; search finds their words."""
    folder = tmp_path / "logs"
    folder.mkdir()
    shutil.copy(EVAL, folder)
    archive = ["--archive", str(tmp_path / "archive")]
    run = CliRunner()
    assert run.invoke(cli, ["sync", "--path", str(folder), *archive]).exit_code == 0
    listed = json.loads(run.invoke(cli, ["ls", "--json", *archive]).stdout)
    assert sorted(each["tool_calls"] for each in listed) == [2, 2]
    assert {each["agent"] for each in listed} == {"inspect"}
    again = run.invoke(cli, ["sync", "--path", str(folder), *archive])
    assert again.exit_code == 0, again.output
    assert json.loads(run.invoke(cli, ["ls", "--json", *archive]).stdout) == listed
    assert "computes a mean" in run.invoke(cli, ["search", "computes", *archive]).stdout


EXPORTS = {"chatgpt": "conversation_id", "claude_web": "uuid"}


def exported(name: str, *ids: str) -> list[dict[str, object]]:
    """An export with a conversation for each of these ids: the golden one under other names."""
    one = json.loads((FOLDER / name / "branches" / "input.json").read_bytes())
    return [one | {EXPORTS[name]: each} for each in ids]


@pytest.mark.parametrize("name", EXPORTS)
def test_each_conversation_of_an_export_is_a_run(name: str, tmp_path: Path) -> None:
    """A list on one line, over many lines, and inside the ZIP that people download."""
    export = exported(name, "first", "second")
    flat, pretty, packed = (tmp_path / each for each in ("flat.json", "pretty.json", "export.zip"))
    flat.write_text(json.dumps(export))
    pretty.write_text(json.dumps(export, indent=2))
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as members:
        members.writestr("users.json", "[]")
        members.writestr("conversations.json", json.dumps(export))
    runs = [by_run(path) for path in (flat, pretty, packed)]
    assert [len(each) for each in runs] == [2, 2, 2]
    told = [{run_id: [event.payload for event in events] for run_id, events in each.items()} for each in runs]
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize("name", EXPORTS)
def test_a_newer_export_adds_what_is_new(name: str, tmp_path: Path) -> None:
    """Synced again with one more conversation and one more message: nothing is there twice."""
    folder = tmp_path / "exports"
    folder.mkdir()
    path = folder / "conversations.json"
    archive = ["--archive", str(tmp_path / "archive")]
    run = CliRunner()

    def synced(export: list[dict[str, object]]) -> list[int]:
        path.write_text(json.dumps(export))
        assert run.invoke(cli, ["sync", "--path", str(folder), *archive]).exit_code == 0
        return sorted(each["messages"] for each in json.loads(run.invoke(cli, ["ls", "--json", *archive]).stdout))

    before = synced(exported(name, "first"))
    assert len(before) == 1
    assert synced([_with_one_more(name, exported(name, "first")[0])]) == [before[0] + 1]


def _with_one_more(name: str, conversation: dict[str, object]) -> dict[str, object]:
    if name == "claude_web":
        messages = conversation["chat_messages"]
        assert isinstance(messages, list)
        more = {**messages[-2], "uuid": "m6", "parent_message_uuid": messages[-1]["uuid"]}
        return conversation | {"chat_messages": [*messages, more]}
    nodes = conversation["mapping"]
    assert isinstance(nodes, dict)
    leaf, asked = nodes["n13"], nodes["n12"]
    more = {**asked, "id": "n14", "parent": "n13", "children": [], "message": {**asked["message"], "id": "n14"}}
    return conversation | {
        "current_node": "n14",
        "mapping": {**nodes, "n13": {**leaf, "children": ["n14"]}, "n14": more},
    }
