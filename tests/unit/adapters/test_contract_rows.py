"""Promises of the contract that no other test holds to: when things are captured, and what nobody needs to say."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

import stenograph
from conftest import Python
from litellm_quiet import quiet_litellm
from model_server import ModelServer, Turn, model_server
from stenograph import Recorder, TranscriptEntry, read_events, start_run
from stenograph.adapters.litellm import LiteLLMAdapter, LiteLLMModelConfig
from stenograph.adapters.openai import OpenAIAdapter, OpenAIModelConfig
from stenograph.adapters.prompt import Prompt
from stenograph.bundle import DebugBundle, create_bundle
from stenograph.formats.base import Context
from stenograph.model import TextBlock
from stenograph.session import Session
from stenograph.sources.detection import format_named
from stenograph.sources.session_tail import SessionTail
from stenograph.watch import FolderWatch

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
KEY = "sk-none"
STENO = "import sys; from stenograph.cli import main; sys.argv[:] = ['steno', *sys.argv[1:]]; main()"


# A4: the capture points of the adapters that ask and answer.


def _by_openai(server: ModelServer, prompt: Prompt, session: Session) -> None:
    config = OpenAIModelConfig(capture_transcript=True)
    with openai.OpenAI(base_url=server.url, api_key=KEY, max_retries=0) as client:
        OpenAIAdapter("m", model_config=config, client=client).evaluate(prompt, session=session)


def _by_litellm(server: ModelServer, prompt: Prompt, session: Session) -> None:
    parameters = {"api_base": server.url, "api_key": KEY, "num_retries": 0, "max_retries": 0}
    config = LiteLLMModelConfig(capture_transcript=True, parameters=parameters)
    LiteLLMAdapter("openai/m", model_config=config).evaluate(prompt, session=session)


@pytest.fixture
def _litellm() -> Iterator[None]:
    with quiet_litellm():
        yield


@pytest.mark.filterwarnings("ignore")  # LiteLLM's own, see `quiet_litellm`
@pytest.mark.usefixtures("_litellm")
@pytest.mark.parametrize("evaluate", [_by_openai, _by_litellm], ids=["openai", "litellm"])
def test_each_entry_is_captured_at_its_point(evaluate: Callable[[ModelServer, Prompt, Session], None]) -> None:
    """The prompts before the first request, a call before its tool runs, a result before the next request."""
    session = Session()
    seen: list[list[tuple[str, str | None]]] = []

    def look() -> None:
        entries = session[TranscriptEntry].where(lambda entry: entry.entry_type not in ("token_usage", "system_event"))
        seen.append([(entry.entry_type, entry.role) for entry in entries])

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        look()
        return a + b

    turns = iter([Turn(text="Let me see.", calls=(("add", {"a": 1, "b": 2}),)), Turn(text="It is 3.")])

    def script(body: dict[str, Any]) -> Turn:
        look()
        return next(turns)

    with model_server(script=script) as server:
        evaluate(server, Prompt("What is 1 + 2?", system="Be brief.", tools=(add,)), session)
    look()
    asked = [("user_message", "system"), ("user_message", "user")]
    called = [*asked, ("assistant_message", "assistant"), ("tool_use", "assistant")]
    given = [*called, ("tool_result", "tool")]
    assert seen == [asked, called, given, [*given, ("assistant_message", "assistant")]]


# B7: one mapping layer.


@pytest.mark.parametrize("spelling", [b"a\\u0000b", b"a\x00b"], ids=["escaped", "raw"])
@pytest.mark.parametrize("name", ["codex_rollout", "codex_exec"])
def test_a_nul_from_codex_corrupts_no_line(root: Path, name: str, spelling: bytes) -> None:
    """The output keeps its NUL, the journal has whole lines that any JSON reader takes, and the next line is read."""
    output = b'{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"%s"}}\n' % spelling
    if name == "codex_rollout":
        content = b'[{"type":"output_text","text":"%s"}]' % spelling
        output = b'{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payload":%s}\n' % (
            b'{"type":"message","role":"assistant","content":%s}' % content
        )
    parser = format_named(name).open(Context(run_id=RUN_ID, at="2026-01-01T00:00:00.000000Z", keep_raw=True))
    with Recorder(root, run_id=RUN_ID) as recorder:
        for event in [*parser.feed(output + output), *parser.finish()]:
            recorder.append(event)
    lines = recorder.path.read_bytes().split(b"\n")
    assert b"\x00" not in b"".join(lines)
    assert all(json.loads(line)["run_id"] == RUN_ID for line in lines[:-1])
    texts = [
        block.text
        for event in read_events(recorder.path)
        if event.type == "message.assistant"
        for block in event.payload.blocks
        if isinstance(block, TextBlock)
    ]
    assert texts == ["a\x00b", "a\x00b"]


# C1: the collector.


def test_the_collector_is_at_hand_with_the_promised_settings() -> None:
    """Both names come from `stenograph`, and the defaults are those of the document."""
    config = stenograph.TranscriptCollectorConfig()
    assert (config.poll_interval, config.subagent_discovery_interval) == (0.25, 1.0)
    assert (config.max_read_bytes, config.emit_raw_json, config.parse_entries) == (65536, True, True)
    collector = stenograph.TranscriptCollector(prompt_name="review")
    assert collector.config == config
    assert (collector.main_entry_count, collector.subagent_count, collector.total_entries) == (0, 0, 0)
    assert collector.transcript_paths == ()


def test_with_a_watch_the_poll_is_only_a_safety_net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However short the poll interval, an idle session is not read again and again."""
    reads: list[SessionTail] = []
    waits: list[int] = []
    really, really_wait = SessionTail.read, FolderWatch.wait

    def counted(self: SessionTail, *args: Any, **more: Any) -> Any:
        reads.append(self)
        return really(self, *args, **more)

    def noted(self: FolderWatch, timeout: float | None = None) -> Any:
        waits.append(len(reads))
        return really_wait(self, timeout)

    monkeypatch.setattr(SessionTail, "read", counted)
    monkeypatch.setattr(FolderWatch, "wait", noted)
    main = tmp_path / f"{RUN_ID}.jsonl"
    main.write_text("")
    config = stenograph.TranscriptCollectorConfig(poll_interval=0.01, subagent_discovery_interval=0.01)
    collector = stenograph.TranscriptCollector(prompt_name="review", config=config)

    async def idle() -> int:
        async with collector.run():
            await collector.hook_callback({"hook_event_name": "Stop", "transcript_path": str(main)})
            while not reads or waits[-1:] != [len(reads)]:  # until it has read what is there, and waits for a change
                await asyncio.sleep(0.01)
            begun = len(reads)
            await asyncio.sleep(0.5)
            return len(reads) - begun

    assert asyncio.run(idle()) <= 1


# D6: bundles.

SEEDS_QUERY = """\
SELECT context->>'entry_type', context->>'source', context->>'detail'
FROM logs
WHERE event = 'transcript.entry'
ORDER BY context->>'sequence_number'
"""


def test_a_bundle_answers_the_query_of_the_document(tmp_path: Path, python: Python) -> None:
    """Word for word; and its logs are what the document reads entries from."""
    with start_run("review", root=tmp_path / "storage") as run:
        run.user("Any bugs?")
        run.assistant("None.")
    path = create_bundle(tmp_path / "bug.zip", read_events(run.path))
    done = python(STENO, "query", path, SEEDS_QUERY, "--json")
    rows = [list(row.values()) for row in json.loads(done.stdout)]
    kinds = ["system_event", "user_message", "assistant_message", "system_event"]
    assert [row[:2] for row in rows] == [[kind, "main"] for kind in kinds]
    assert json.loads(rows[0][2]) == {"subtype": "run.started"}
    logged = [record for record in DebugBundle.load(path).logs if record.get("event") == "transcript.entry"]
    assert [record["context"]["entry_type"] for record in logged] == kinds
    with zipfile.ZipFile(path) as packed:
        names = {name.partition("/")[2] for name in packed.namelist()}
    assert {"logs/app.jsonl", "transcript.jsonl"} <= names


# E1: plain-text transcripts.


def test_steno_text_writes_a_file_per_unit(tmp_path: Path, python: Python) -> None:
    """The command writes the units of a run that has ended into the thread's folder, and says where."""
    with start_run("review", root=tmp_path / "storage") as run:
        for question in ("Any bugs?", "修复它"):
            run.user(question)
            with run.tool("look", {}) as call:
                call.output = "fine"
            run.assistant("Done.")
    done = python(STENO, "text", run.path, "--root", tmp_path / ".leslie", "--thread", "t1", "--json")
    files = [Path(file) for file in json.loads(done.stdout)["files"]]
    assert {file.parent for file in files} == {tmp_path / ".leslie" / "threads" / "t1" / ".meta" / "transcripts"}
    assert [file.name[14:] for file in files] == ["Any-bugs.txt", "修复它.txt"]
    first = files[0].read_text()
    assert first.startswith("Thread ID: t1\n")
    assert "user:\n<user_query>\nAny bugs?\n</user_query>" in first
    assert "修复它" not in first
    assert first.count("[Tool call] look") == 1
