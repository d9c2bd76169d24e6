"""The Codex adapter against a server of our own that speaks the protocol: a real process, real pipes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import codex_wire
from children import children
from stenograph import Recorder, read_events, start_run, verify_journal
from stenograph.adapters.codex_app_server import (
    ApprovalRequest,
    CodexAppServerAdapter,
    CodexAppServerClientConfig,
)
from stenograph.adapters.codex_app_server.client import AppServerClient
from stenograph.adapters.prompt import Prompt
from stenograph.errors import AgentError, AgentTimeout, InvalidTool
from stenograph.fold.calls import pair_calls
from stenograph.model import Event
from stenograph.session import PromptExecuted, PromptRendered, Session, ToolInvoked
from stenograph.text_transcripts import ThreadTranscripts
from stenograph.transcript import TranscriptEntry
from text_files import texts_below, texts_of

FAKE = Path(__file__).parent / "fake_codex.py"
CHILD = "01a1e0a1-1c09-7182-ac6c-925147d0e669"
THREAD = "01a1e0a1-1b95-7f11-b7fd-b300beba516d"
PATIENCE = 120


@pytest.fixture
def said(tmp_path: Path) -> Path:
    """What the fake server took and gave, line by line."""
    return tmp_path / "said.jsonl"


Configure = Callable[..., CodexAppServerClientConfig]


@pytest.fixture
def config(tmp_path: Path, said: Path) -> Configure:
    """Settings that run the fake server."""
    program = tmp_path / "codex"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n', "utf-8")
    program.chmod(0o755)

    def configure(*, env: dict[str, str] | None = None, **more: Any) -> CodexAppServerClientConfig:
        told = {"FAKE_CODEX_LOG": str(said), "PYTHONUTF8": "1", **(env or {})}
        return CodexAppServerClientConfig(**{"codex_bin": str(program), "cwd": tmp_path, "env": told, **more})

    return configure


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """No thread, no descriptor and no child process outlives an evaluation."""
    before, known = _descriptors(), children()
    yield
    deadline = time.monotonic() + PATIENCE
    while any(thread.name.startswith("codex request") for thread in threading.enumerate()):
        assert time.monotonic() < deadline, threading.enumerate()
        time.sleep(0.01)
    assert children() <= known
    assert _descriptors() <= before


def _descriptors() -> set[str]:
    """What this process has open, where the system tells."""
    found = set()
    for link in Path("/proc/self/fd").iterdir() if Path("/proc/self/fd").is_dir() else ():
        with contextlib.suppress(FileNotFoundError):  # the listing's own
            found.add(f"{link.name} {link.readlink()}")
    return found


def adapter(config: CodexAppServerClientConfig) -> CodexAppServerAdapter:
    return CodexAppServerAdapter(client_config=config)


def recorded(root: Path, run_id: str) -> list[Event]:
    """The events of a journal, which must be sound; that a call was never answered is no fault of ours."""
    path = root / "transcripts" / f"{run_id}.jsonl"
    assert [finding for finding in verify_journal(path).findings if finding.kind != "open_call"] == []
    return list(read_events(path))


def kinds(events: list[Event]) -> list[str]:
    """The types of what was said and done."""
    return [event.type for event in events if event.type not in ("system.event", "unknown")]


def test_an_answer_arrives_and_everything_is_recorded(config: Configure, root: Path, said: Path) -> None:
    """Every line of both directions is in the journal, as it was sent, and the answer is the last message."""
    with Recorder(root) as recorder:
        response = adapter(config()).evaluate(Prompt("work hard", name="look", system="Be brief."), None, recorder)
    assert (response.text, response.session_id, response.run_id) == ("Done. 完了", THREAD, recorder.run_id)
    assert (response.prompt_name, response.usage["input_tokens"], response.usage["output_tokens"]) == ("look", 100, 10)
    events = recorded(root, recorder.run_id)
    assert kinds(events) == [
        "message.user", "message.assistant", "tool.call", "tool.result", "message.assistant", "token.usage",
    ]  # fmt: skip
    prompt = next(event.payload for event in events if event.type == "message.user")
    assert (prompt.system_prompt, prompt.blocks[0].text) == ("Be brief.", "work hard")
    raws = {event.raw for event in events}
    lines = said.read_text("utf-8").splitlines()
    sent = {json.dumps(json.loads(raw)) for raw in raws if raw}
    missing = [line for line in lines if json.dumps(json.loads(line)) not in sent]
    accumulated = ("agentMessage/delta", '"item/started"', '"userMessage"')
    assert [line for line in missing if not any(word in line for word in accumulated)] == []
    assert {event.origin.prompt_name for event in events if event.origin} == {"look"}


def test_the_session_hears_of_it(config: Configure) -> None:
    """A session gets the three events of an evaluation, and the entries only when it asked for them."""
    quiet, full = Session(), Session()
    adapter(config()).evaluate("work", session=quiet)
    adapter(config(capture_transcript=True)).evaluate("work", session=full)
    for session in (quiet, full):
        (rendered,), (invoked,), (executed,) = (
            session[kind].all() for kind in (PromptRendered, ToolInvoked, PromptExecuted)
        )
        assert (rendered.user, rendered.adapter, rendered.session_id) == (
            "work",
            "codex_app_server",
            session.session_id,
        )
        assert (invoked.name, invoked.call_id, invoked.params, invoked.result) == (
            "commandExecution", "c1", {"command": "ls", "cwd": "/"}, "a\n",
        )  # fmt: skip
        assert (executed.text, executed.error, executed.usage["output_tokens"]) == ("Done. 完了", None, 10)
    assert quiet[TranscriptEntry].is_empty
    spoken = [entry.entry_type for entry in full[TranscriptEntry].all() if entry.entry_type != "system_event"]
    assert [kind for kind in spoken if kind != "unknown"] == [
        "user_message", "thinking", "tool_use", "tool_result", "assistant_message", "token_usage",
    ]  # fmt: skip


def add(left: int, right: int = 1) -> int:
    """Add two numbers."""
    return left + right


async def shout(text: str) -> str:
    """Say it louder."""
    await asyncio.sleep(0)
    return text.upper()


def fail() -> None:
    """Always fails."""
    raise RuntimeError("no luck")


@pytest.mark.parametrize(
    ("call", "answer", "error"),
    [
        ('add {"left": 2, "right": 3}', "5", None),
        ('shout {"text": "hé"}', "HÉ", None),
        ("fail {}", "RuntimeError: no luck", "RuntimeError: no luck"),
        ('add {"left": "two"}', "ValidationError: Expected `int`, got `str` - at `$.left`", ...),
        ("missing {}", "unknown tool 'missing'", ...),
    ],
)
@pytest.mark.parametrize("is_async", [False, True])
def test_python_functions_are_tools(
    config: Configure, root: Path, said: Path, call: str, answer: str, error: Any, is_async: bool
) -> None:
    """Codex is offered the functions, calls them, and gets what they gave; each call counts once, as seen by us."""
    prompt = Prompt(f"tools {call}", name="calc", tools=(add, shout, fail))
    session = Session()
    with Recorder(root) as recorder:
        codex = adapter(config())
        if is_async:
            response = asyncio.run(codex.aevaluate(prompt, session, recorder))
        else:
            response = codex.evaluate(prompt, session, recorder)
    assert response.text == answer
    (pair,) = pair_calls(recorded(root, recorder.run_id))
    assert pair.call is not None
    assert pair.result is not None
    assert {pair.call.payload.fidelity, pair.result.payload.fidelity} == {"router"}
    assert (pair.name, pair.result.payload.output) == (call.split()[0], answer)
    assert pair.error == (answer if error is ... else error)
    told = [event for event in recorded(root, recorder.run_id) if event.type.startswith("tool.")]
    assert len(told) == 2
    (invoked,) = session[ToolInvoked].all()
    assert (invoked.result, invoked.success, invoked.duration_ms is not None) == (answer, pair.error is None, True)
    start = next(json.loads(line) for line in said.read_text("utf-8").splitlines() if '"thread/start"' in line)
    offered = {tool["name"]: tool for tool in start["params"]["dynamicTools"]}
    assert set(offered) == {"add", "shout", "fail"}
    assert offered["add"]["description"] == "Add two numbers."
    assert offered["add"]["inputSchema"]["required"] == ["left"]


def test_tools_run_side_by_side(config: Configure) -> None:
    """A slow tool does not keep a fast one from answering first."""
    is_fast_done = threading.Event()

    def slow() -> str:
        assert is_fast_done.wait(PATIENCE)
        return "slow"

    def fast() -> str:
        is_fast_done.set()
        return "fast"

    assert adapter(config()).evaluate(Prompt("two_tools", tools=(slow, fast))).text == "fast then slow"


def test_a_function_that_is_no_tool_is_refused(config: Configure, said: Path) -> None:
    """Before anything is run."""

    def grab(*anything: int) -> None:
        """No model can call this."""

    with pytest.raises(InvalidTool, match="grab cannot be a tool"):
        adapter(config()).evaluate(Prompt("work", tools=(grab,)))
    assert not said.exists()


def _only_ls(request: ApprovalRequest) -> bool:
    return bool(request.params["command"] == "ls")


async def _for_good(request: ApprovalRequest) -> str:
    await asyncio.sleep(0)
    return "acceptForSession"


@pytest.mark.parametrize(
    ("approvals", "method", "answer"),
    [
        ("accept", "item/commandExecution/requestApproval", {"decision": "accept"}),
        ("decline", "item/fileChange/requestApproval", {"decision": "decline"}),
        (_only_ls, "item/commandExecution/requestApproval", {"decision": "decline"}),
        (_for_good, "item/commandExecution/requestApproval", {"decision": "acceptForSession"}),
        (lambda _: {"decision": {"x": 1}}, "item/commandExecution/requestApproval", {"decision": {"x": 1}}),
        (
            "accept",
            "item/permissions/requestApproval",
            {"permissions": {"network": {"enabled": True}}, "scope": "turn"},
        ),
        ("decline", "item/permissions/requestApproval", {"permissions": {}, "scope": "turn"}),
        ("accept", "mcpServer/elicitation/request", {"action": "accept", "content": {}, "_meta": None}),
        ("decline", "mcpServer/elicitation/request", {"action": "decline", "content": None, "_meta": None}),
        ("accept", "item/tool/requestUserInput", {"answers": {}}),
    ],
)
def test_approvals_are_answered(config: Configure, approvals: Any, method: str, answer: dict[str, Any]) -> None:
    """By the one answer for all, or by what the function says of the request."""
    response = adapter(config(approvals=approvals)).evaluate(f"approval {method}")
    assert json.loads(response.text) == answer


@pytest.mark.parametrize("approvals", [lambda _: 1 / 0, lambda _: "maybe"])
def test_no_leave_is_given_where_approvals_fail(
    config: Configure, approvals: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A function that raises, or returns what is not a decision, declines, and the log says so."""
    response = adapter(config(approvals=approvals)).evaluate("approval item/commandExecution/requestApproval")
    assert json.loads(response.text) == {"decision": "decline"}
    assert [record.levelname for record in caplog.records if "approvals failed" in record.message] == ["WARNING"]


def test_a_request_that_nobody_knows_is_refused(config: Configure) -> None:
    """With the error that JSON-RPC has for it, so the server does not wait for ever."""
    error = json.loads(adapter(config()).evaluate("strange").text)
    assert error["code"] == -32601
    assert "strange/request" in error["message"]


def test_a_failed_turn_is_an_error(config: Configure, root: Path) -> None:
    """The caller gets the model's own reason, the journal one error, the session an execution that failed."""
    session = Session()
    with Recorder(root) as recorder, pytest.raises(AgentError, match=r"'prompt' failed: the model is out"):
        adapter(config()).evaluate("failing", session, recorder)
    (error,) = [event for event in recorded(root, recorder.run_id) if event.type == "error"]
    assert (error.payload.message, error.payload.code) == ("the model is out", "usageLimitExceeded")
    (executed,) = session[PromptExecuted].all()
    assert "the model is out" in executed.error


def test_a_refused_request_is_an_error(config: Configure, root: Path) -> None:
    """What the server answers to a request of ours is what the caller reads."""
    with Recorder(root) as recorder, pytest.raises(AgentError, match=r"codex refused thread/start: no such model"):
        adapter(config(model="nonsense")).evaluate("work", recorder=recorder)
    assert kinds(recorded(root, recorder.run_id)) == ["error"]


def test_a_server_that_dies_is_an_error_with_its_last_words(config: Configure, root: Path) -> None:
    """The exception has the end of its stderr; the journal has the call that was never answered, and an error."""
    with Recorder(root) as recorder, pytest.raises(AgentError, match=r"ended with code 3 .*out of luck"):
        adapter(config()).evaluate("dying", recorder=recorder)
    events = recorded(root, recorder.run_id)
    assert kinds(events) == ["message.user", "tool.call", "error"]
    assert "code 3" in events[-1].payload.message
    assert events[-1].payload.data == {"returncode": 3, "stderr": "thread 'main' panicked: out of luck"}


def test_an_end_is_noticed_although_the_pipe_stays_open(config: Configure, tmp_path: Path) -> None:
    """Something that the server started may hold its stdout; its own end counts, and ends that, too."""
    with pytest.raises(AgentError, match="code 4"):
        adapter(config()).evaluate("closing")
    orphan = int((tmp_path / "orphan").read_text("utf-8"))
    deadline = time.monotonic() + PATIENCE
    while _lives(orphan):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _lives(pid: int) -> bool:
    """Whether a process runs; one that nobody has reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text("utf-8").rpartition(")")[2].split()[0] != "Z"


def test_a_program_that_is_missing_is_named(config: Configure, root: Path) -> None:
    """With how to get it; the journal has the error, too."""
    with Recorder(root) as recorder, pytest.raises(AgentError, match=r"no-such-codex was not found; install Codex"):
        adapter(config(codex_bin="no-such-codex")).evaluate("work", recorder=recorder)
    assert kinds(recorded(root, recorder.run_id)) == ["error"]


def test_a_program_that_cannot_run_and_a_folder_that_is_none_are_named(config: Configure, tmp_path: Path) -> None:
    """Each foreseeable mistake has its own sentence."""
    plain = tmp_path / "plain"
    plain.write_text("not a program", "utf-8")
    with pytest.raises(AgentError, match="plain cannot be run"):
        adapter(config(codex_bin=str(plain))).evaluate("work")
    with pytest.raises(AgentError, match="nowhere is not a folder"):
        adapter(config(cwd=tmp_path / "nowhere")).evaluate("work")


@pytest.mark.parametrize("method", ["initialize", "thread/start", "turn/start"])
def test_a_server_that_does_not_answer_times_out(
    config: Configure, root: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every step of the beginning has its limit, and the server is gone afterwards."""
    call = AppServerClient.call

    def patient_before(self: AppServerClient, name: str, params: dict[str, Any], limit: float) -> dict[str, Any]:
        return call(self, name, params, limit if name == method else PATIENCE)

    monkeypatch.setattr(AppServerClient, "call", patient_before)
    settings = config(startup_timeout=0.5, env={"FAKE_CODEX_MUTE": method})
    with Recorder(root) as recorder, pytest.raises(AgentTimeout, match=f"did not answer to {method} within 0.5 s"):
        adapter(settings).evaluate("work", recorder=recorder)
    assert "did not answer" in recorded(root, recorder.run_id)[-1].payload.message


def _time_is_up_when(condition: Callable[[], object], monkeypatch: pytest.MonkeyPatch, grace: float) -> None:
    """Let no time pass in a turn until something has happened, and then more than any turn may take."""
    began = time.monotonic()

    def monotonic() -> float:
        return time.monotonic() + 3600 if condition() else began

    monkeypatch.setattr("stenograph.adapters.codex_app_server.turn.time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr("stenograph.adapters.codex_app_server.turn._INTERRUPT_GRACE", grace)


def test_a_turn_that_takes_too_long_is_interrupted(
    config: Configure, root: Path, said: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is asked to stop, and what was said until then is kept."""
    _time_is_up_when(lambda: said.exists() and "I was just" in said.read_text("utf-8"), monkeypatch, PATIENCE)
    with Recorder(root) as recorder, pytest.raises(AgentTimeout, match=r"longer than 0\.3 s"):
        adapter(config(turn_timeout=0.3)).evaluate("slow", recorder=recorder)
    events = recorded(root, recorder.run_id)
    assert '"turn/interrupt"' in said.read_text("utf-8")
    assert [event.payload.blocks[0].text for event in events if event.type == "message.assistant"] == ["I was just"]
    assert kinds(events)[-1] == "error"


def test_a_deaf_server_is_killed(config: Configure, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt that nobody hears is followed by a signal."""
    monkeypatch.setattr("stenograph.adapters.codex_app_server.turn._INTERRUPT_GRACE", 0.3)
    with pytest.raises(AgentTimeout):
        adapter(config(turn_timeout=0.3)).evaluate("deaf")


def _when_said(said: Path, words: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not said.exists() or words not in said.read_text("utf-8"):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_turn_is_interrupted_from_another_thread(config: Configure, said: Path) -> None:
    """`interrupt` ends the turn that runs; the evaluation says that it was."""
    codex = adapter(config())

    def stop() -> None:
        _when_said(said, "I was just")
        codex.interrupt()

    other = threading.Thread(target=stop)
    other.start()
    with pytest.raises(AgentError, match="was interrupted"):
        codex.evaluate("slow")
    other.join()


def test_cancelling_interrupts_the_turn(config: Configure, said: Path) -> None:
    """A cancelled task ends as one, when the turn has ended."""

    async def main() -> None:
        task = asyncio.create_task(adapter(config()).aevaluate("slow"))
        await asyncio.to_thread(_when_said, said, "I was just")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert '"turn/interrupt"' in said.read_text("utf-8")

    asyncio.run(main())


def test_a_tool_that_hangs_does_not_outlive_a_timeout(config: Configure, monkeypatch: pytest.MonkeyPatch) -> None:
    """The evaluation ends in time; an async tool is cancelled with it."""
    begun, ended = [], []

    async def hang() -> None:
        begun.append(True)
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            ended.append(True)
            raise

    async def main() -> None:
        with pytest.raises(AgentTimeout):
            await adapter(config(turn_timeout=0.5)).aevaluate(Prompt("tools hang {}", tools=(hang,)))
        async with asyncio.timeout(PATIENCE):
            while not ended:
                await asyncio.sleep(0.01)

    _time_is_up_when(lambda: begun, monkeypatch, grace=0.3)
    asyncio.run(main())
    assert ended == [True]


def test_what_is_no_message_is_kept_and_does_no_harm(config: Configure, root: Path) -> None:
    """Text, blank lines and other JSON on stdout are in the journal, and the answer arrives."""
    with Recorder(root) as recorder:
        assert adapter(config()).evaluate("chatter", recorder=recorder).text == "Done. 完了"
    raws = [event.raw for event in recorded(root, recorder.run_id) if event.type == "unknown"]
    assert "warning: not JSON" in raws
    assert "[1, 2]" in raws


def test_lines_of_megabytes_pass_both_ways(config: Configure, root: Path) -> None:
    """Neither side blocks the other, however long a line is."""
    text = "big " + "漢字" * 700_000
    with Recorder(root) as recorder:
        assert adapter(config()).evaluate(text, recorder=recorder).text == text


def test_a_line_that_never_ends_is_an_error(config: Configure, root: Path) -> None:
    """It costs a bounded amount of memory; the server is stopped, and the record says why."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Recorder(root) as recorder, pytest.raises(AgentError, match="more than 64 MiB without ending the line"):
        adapter(config()).evaluate("endless", recorder=recorder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 256 << 10
    events = recorded(root, recorder.run_id)
    assert "without ending the line" in [event for event in events if event.type == "error"][-1].payload.message
    assert verify_journal(recorder.path).ok


def test_a_subagent_is_a_child_run(config: Configure, root: Path) -> None:
    """Its thread has a journal of its own with its parent's id; its end does not end ours."""
    session = Session()
    with Recorder(root) as recorder:
        response = adapter(config(capture_transcript=True)).evaluate("family", session, recorder)
    assert response.text == "The child counted."
    child = recorded(root, CHILD)
    assert {event.parent_run_id for event in child} == {recorder.run_id}
    assert kinds(child) == ["message.assistant"]
    assert CHILD in {event.child_run_id for event in recorded(root, recorder.run_id)}
    entries = session[TranscriptEntry].all()
    assert [entry.sequence_number for entry in entries] == list(range(1, len(entries) + 1))
    assert [entry.content for entry in entries if entry.session_id == CHILD and entry.role == "assistant"] == [
        "42 files"
    ]
    assert {entry.source for entry in entries} == {"main"}


def test_a_step_of_a_run_gets_the_events_in_its_place(config: Configure, root: Path) -> None:
    """A run or a step of one may stand for the recorder."""
    with start_run("workflow", root=root) as run, run.step("ask") as step:
        response = adapter(config()).evaluate("work", recorder=step)
    assert response.run_id == run.run_id
    events = recorded(root, run.run_id)
    assert {event.path for event in events if event.type.startswith("message")} == {"ask"}


def test_a_thread_goes_on(config: Configure, said: Path) -> None:
    """With `thread_id` the thread is resumed instead of started."""
    codex = adapter(config())
    thread = codex.evaluate("work").session_id
    assert codex.evaluate("work", thread_id=thread).session_id == thread
    asked = [json.loads(line)["method"] for line in said.read_text("utf-8").splitlines() if '"thread/' in line]
    assert [method for method in asked if method in ("thread/start", "thread/resume")] == [
        "thread/start",
        "thread/resume",
    ]


def test_settings_reach_the_server(config: Configure, said: Path, tmp_path: Path) -> None:
    """As the protocol names them; what was not set is not sent."""
    adapter(
        config(
            model="m",
            model_provider="p",
            approval_policy="never",
            sandbox_mode="read-only",
            config={"a.b": 1},
            effort="low",
        )
    ).evaluate("work")
    sent = [json.loads(line) for line in said.read_text("utf-8").splitlines()]
    start = next(message["params"] for message in sent if message.get("method") == "thread/start")
    assert start == {
        "cwd": str(tmp_path.resolve()),
        "model": "m",
        "modelProvider": "p",
        "approvalPolicy": "never",
        "sandbox": "read-only",
        "config": {"a.b": 1},
    }
    turn = next(message["params"] for message in sent if message.get("method") == "turn/start")
    assert turn == {"threadId": THREAD, "input": [{"type": "text", "text": "work"}], "effort": "low"}


@pytest.mark.parametrize(
    "prompt",
    ["work", 'tools add {"left": 1}', "two_tools", "approval item/fileChange/requestApproval", "strange", "failing",
     "dying", "chatter", "family"],
)  # fmt: skip
def test_what_is_recorded_is_the_wire(config: Configure, root: Path, tmp_path: Path, prompt: str) -> None:
    """Entries and journals are those of the parser over every line that went over the connection."""
    session, wire = Session(), tmp_path / "wire.jsonl"
    codex = adapter(config(wire_log=wire, capture_transcript=True))
    with Recorder(root) as recorder, contextlib.suppress(AgentError):
        codex.evaluate(Prompt(prompt, name="look", tools=(add,)), session, recorder)
    events = codex_wire.events_of(wire, recorder.run_id, "look", session.session_id)
    assert list(session[TranscriptEntry].all()) == codex_wire.entries_of(events)
    for path in (root / "transcripts").glob("*.jsonl"):
        of_the_wire = [event.type for event in events if event.run_id == path.stem]
        assert [event.type for event in read_events(path)] == of_the_wire
    assert len(events) == sum(1 for path in (root / "transcripts").glob("*.jsonl") for _ in read_events(path))


def _entries(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [record.context for record in caplog.records if getattr(record, "event", "") == "transcript.entry"]


def test_entries_are_logged(config: Configure, caplog: pytest.LogCaptureFixture) -> None:
    """By default, with their lines; from `transcript.start` to `transcript.stop`."""
    caplog.set_level(logging.DEBUG, "stenograph")
    adapter(config()).evaluate("work")
    told = [record.event for record in caplog.records if hasattr(record, "event")]
    assert (told[0], told[-1]) == ("transcript.start", "transcript.stop")
    entries = _entries(caplog)
    assert [entry["sequence_number"] for entry in entries] == list(range(1, len(entries) + 1))
    required = {"prompt_name", "adapter", "entry_type", "sequence_number", "source", "timestamp"}
    assert all(required <= set(entry) for entry in entries)
    assert all("raw" in entry for entry in entries)
    assert {record.name for record in caplog.records} == {"stenograph.adapters.codex_app_server"}


def test_entries_are_not_logged_when_nobody_wants_them(config: Configure, caplog: pytest.LogCaptureFixture) -> None:
    """`transcript_emission` turns the log off, `transcript_emit_raw` the lines."""
    caplog.set_level(logging.DEBUG, "stenograph")
    adapter(config(transcript_emission=False)).evaluate("work")
    assert _entries(caplog) == []
    adapter(config(transcript_emit_raw=False)).evaluate("work")
    assert _entries(caplog)
    assert not any("raw" in entry for entry in _entries(caplog))


def test_stderr_is_passed_on_when_asked(config: Configure, capsys: pytest.CaptureFixture[str]) -> None:
    """And kept to ourselves otherwise."""
    for suppress in (True, False):
        with pytest.raises(AgentError):
            adapter(config(suppress_stderr=suppress)).evaluate("dying")
        assert ("out of luck" in capsys.readouterr().err) is not suppress


class _Broken(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise OSError("the log is full")


@pytest.mark.usefixtures("lenient")
def test_no_failure_of_ours_reaches_the_answer(
    config: Configure, root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A closed session, a closed recorder, a broken handler and an impossible wire log cost nothing but the record."""
    session, recorder = Session(), Recorder(root)
    session.close()
    recorder.close()
    logger = logging.Logger("broken", logging.DEBUG)
    logger.addHandler(_Broken())
    settings = config(wire_log=tmp_path / "no" / "folder", capture_transcript=True)
    codex = CodexAppServerAdapter(client_config=settings, logger=logger)
    plain = adapter(config()).evaluate("work")
    response = codex.evaluate(Prompt("work", name="prompt"), session, recorder)
    assert (response.text, response.usage, response.session_id) == (plain.text, plain.usage, plain.session_id)
    complaints = " ".join(record.getMessage() for record in caplog.records if record.name == "stenograph.guard")
    assert "wire log" in complaints
    assert "session" in complaints
    assert "is closed" in complaints


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.usefixtures("lenient")
def test_a_full_disk_costs_nothing_but_the_record(
    config: Configure, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the journal nor the wire log can be written: the answer arrives, the log tells, the end counts."""
    caplog.set_level(logging.DEBUG, "stenograph")
    with Recorder(root) as recorder:
        own = os.dup(recorder._file.fd)
        full = os.open(FULL, os.O_WRONLY)
        os.dup2(full, recorder._file.fd)
        try:
            response = adapter(config(wire_log=FULL)).evaluate("work", recorder=recorder)
        finally:
            os.dup2(own, recorder._file.fd)
            os.close(own)
            os.close(full)
    assert response.text == "Done. 完了"
    assert list(read_events(recorder.path)) == []
    (stop,) = [record.context for record in caplog.records if getattr(record, "event", "") == "transcript.stop"]
    assert stop["lost"] > 0
    assert stop["messages_lost"] > 0
    assert stop["summary"]["total_entries"] > 0
    assert "No space left" in caplog.text


def test_what_no_json_holds_is_told_in_words(config: Configure, root: Path) -> None:
    """A tool may give anything: the model gets its repr, and so does the journal."""

    def odd() -> object:
        return {1: {"a set"}, "when": Path("x")}

    with Recorder(root) as recorder:
        text = adapter(config()).evaluate(Prompt("tools odd {}", tools=(odd,)), recorder=recorder).text
    (pair,) = pair_calls(recorded(root, recorder.run_id))
    assert pair.result is not None
    assert pair.result.payload.output == text
    assert "a set" in text


def test_a_turn_is_written_as_plain_text(config: Configure, root: Path, tmp_path: Path) -> None:
    """When it has ended, as `steno text` writes the run; the chat is the thread of Codex."""
    texts = ThreadTranscripts(tmp_path / "texts")
    with Recorder(root) as recorder:
        adapter(config(text_transcripts=texts)).evaluate("work hard", None, recorder)
    assert texts_below(tmp_path / "texts") == texts_of(recorder.path)
    (text,) = texts_below(tmp_path / "texts").values()
    assert f"\nChat ID: {THREAD}\n" in text
    assert text.endswith("assistant:\nDone. 完了\n")
