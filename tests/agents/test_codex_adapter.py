"""The Codex adapter drives the real `codex app-server`: what it recorded is what went over the wire and on disk."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import codex_wire
from agents import programs, scenario, session
from agents.reading import Reading, assert_counted, read
from agents.servers.loopback import Reply, serving
from agents.servers.responses_api import ResponsesApi
from agents.servers.script import Call, Scripts, Text, mark
from stenograph import Recorder, read_events, verify_journal
from stenograph.adapters.codex_app_server import (
    ApprovalRequest,
    CodexAppServerAdapter,
    CodexAppServerClientConfig,
    turn,
)
from stenograph.adapters.prompt import Prompt, Response
from stenograph.errors import AgentError, AgentTimeout
from stenograph.fold.usage import usage_totals
from stenograph.session import PromptExecuted, Session, ToolInvoked
from stenograph.transcript import TranscriptEntry

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the programs

NAMES = {
    "exec_command": "commandExecution",
    "apply_patch": "fileChange",
    "spawn_agent": "spawnAgent",
    "wait_agent": "wait",
    "close_agent": "closeAgent",
}
"""Tools as the rollout and as the protocol call them."""

ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "to see it"}
SCRIPTS: Scripts = {
    **scenario.codex(has_agents=True),
    "ticket": [
        [Text("I'll look it up."), Call("lookup", {"id": "ABC-1"})],
        [Call("lookup", {"id": "nothing"})],
        [Call("whisper", {"text": "静か"})],
        [Text("It is open.")],
    ],
    "leave": [
        [Call("exec_command", {"cmd": "echo escalated", **ESCALATED})],
        [Call("patch", {"patch": scenario.PATCH})],
        [Text("Asked twice.")],
    ],
}


class Model:
    """The fake model, with all that it was asked."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.api = ResponsesApi(SCRIPTS)

    def __call__(self, path: str, body: dict[str, Any]) -> Reply:
        self.requests.append(body)
        if mark("fail") not in str(body["input"]):
            return self.api(path, body)
        error = {"code": "context_length_exceeded", "message": "too long"}
        return iter([{"type": "response.failed", "response": {"id": "resp_1", "status": "failed", "error": error}}])

    def outputs(self) -> dict[str, Any]:
        """What the tools gave, as the model was told, by the ids of the calls."""
        items = [item for body in self.requests for item in body["input"] if item["type"].endswith("_output")]
        return {item["call_id"]: item["output"] for item in items}


@dataclass
class Codex:
    """A real Codex that is ready to be driven, and what came of it."""

    place: session.Session
    model: Model
    root: Path
    session: Session = field(default_factory=Session)
    response: Response | None = None
    run_id: str = ""

    @property
    def wire(self) -> Path:
        return self.place.place / "wire.jsonl"

    def adapter(self, **more: Any) -> CodexAppServerAdapter:
        config = CodexAppServerClientConfig(
            codex_bin=self.place.command[0],
            cwd=self.place.folder,
            env=self.place.environment,
            wire_log=self.wire,
            capture_transcript=True,
            startup_timeout=session.PATIENCE,
            **more,
        )
        return CodexAppServerAdapter(client_config=config)

    def ask(self, prompt: Prompt | str, adapter: CodexAppServerAdapter | None = None) -> Response:
        """Asks, recording everything that can be."""
        with Recorder(self.root) as recorder:
            self.run_id = recorder.run_id
            self.response = (adapter or self.adapter()).evaluate(prompt, self.session, recorder)
        return self.response

    @property
    def journals(self) -> list[Path]:
        return sorted((self.root / "transcripts").glob("*.jsonl"))

    def journal(self) -> Reading:
        return Reading([event for path in self.journals for event in read_events(path)], [])

    def thread(self) -> str:
        """The id of our thread, as the journal has it."""
        return next(
            event.origin.session_id
            for event in read_events(self.root / "transcripts" / f"{self.run_id}.jsonl")
            if event.origin is not None and event.origin.session_id not in (None, str(self.session.session_id))
        )


@pytest.fixture
def codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Codex]:
    """Codex 0.166 with a model of ours; after an interrupt it has all the time that it needs to end."""
    monkeypatch.setattr(turn, "_INTERRUPT_GRACE", session.PATIENCE)
    with _codex(tmp_path) as found:
        yield found


@contextmanager
def _codex(tmp_path: Path) -> Iterator[Codex]:
    model = Model()
    with session.codex(programs.CODEX[0], tmp_path / "codex") as place, serving(model) as url:
        config = place.home / "config.toml"
        config.write_text(re.sub('base_url = ".*"', f'base_url = "{url}/v1"', config.read_text("utf-8")), "utf-8")
        yield Codex(place, model, tmp_path / "storage")


# What must hold of every evaluation.


def assert_faithful(codex: Codex, *, is_whole: bool = True) -> None:
    """The entries are those of the parser over the wire; the journals are sound and hold the same; so does the disk."""
    events = codex_wire.events_of(codex.wire, codex.run_id, "prompt")
    expected, taken = codex_wire.entries_of(events), codex.session[TranscriptEntry].all()
    assert len(taken) == len(expected)
    for ours, theirs in zip(taken, expected, strict=True):
        assert ours == replace(theirs, session_id=theirs.session_id or str(codex.session.session_id))
    for path in codex.journals:
        problems = {finding.kind for finding in verify_journal(path).findings}
        assert problems <= (set() if is_whole else {"open_call"})
        stored = [(event.type, event.timestamp) for event in read_events(path)]
        assert stored == [(event.type, event.timestamp) for event in events if event.run_id == path.stem]
    assert len(codex.journals) == len({event.run_id for event in events})
    assert_counted(codex.wire, "codex_app_server")
    if is_whole:
        _assert_like_the_rollouts(codex)


def _assert_like_the_rollouts(codex: Codex) -> None:
    """What Codex wrote to disk about the same threads."""
    journal, rollouts = codex.journal(), read(codex.place.transcripts)
    thread = codex.thread()
    for native in {event.run_id for event in rollouts.events}:
        run_id = codex.run_id if native == thread else native
        ours, theirs = journal.calls(run_id), rollouts.calls(native)
        assert [(pair.call_id, pair.name) for pair in ours] == [
            (pair.call_id, NAMES.get(pair.name, pair.name)) for pair in theirs
        ]
        for pair, other in zip(ours, theirs, strict=True):
            # A rollout does not mark a command that was declined, and tells of a patch in other words.
            assert pair.error in (other.error, "declined")
        assert journal.prompts(run_id) == rollouts.prompts(native)
        assert journal.texts(run_id) == rollouts.texts(native)
        assert journal.thoughts(run_id) == rollouts.thoughts(native)
    ours, theirs = usage_totals(journal.events).total, usage_totals(rollouts.events).total
    assert (ours.input_tokens, ours.output_tokens) == (theirs.input_tokens, theirs.output_tokens)


# The tests.


def test_a_turn_with_commands_a_patch_and_a_subagent(codex: Codex) -> None:
    """Everything that the model said and did is in the journals: its own, and its child's."""
    response = codex.ask(scenario.PROMPT)
    assert_faithful(codex)
    assert (response.text, response.run_id) == (scenario.FINAL_TEXT, codex.run_id)
    journal = codex.journal()
    assert journal.prompts(codex.run_id) == [scenario.PROMPT]
    assert journal.texts(codex.run_id) == [
        scenario.FIRST_TEXT, scenario.SECOND_TEXT, scenario.SPAWN_TEXT, scenario.FINAL_TEXT,
    ]  # fmt: skip
    for words, output in [(scenario.OUTPUT, scenario.OUTPUT), ("cat notes.txt", "第二行"), ("新しい.txt", None)]:
        result = journal.call(words).result
        assert result is not None
        assert output is None or output in result.payload.output
    assert (codex.place.folder / "新しい.txt").read_text("utf-8") == "hello 你好\n"
    child = journal.call(scenario.CHILD_COMMAND)
    assert {event.parent_run_id for event in journal.events if event.run_id == child.run_id} == {codex.run_id}
    assert journal.texts(child.run_id) == [scenario.CHILD_TEXT, scenario.CHILD_ANSWER]
    assert set(codex.model.outputs()) == {pair.call_id for pair in journal.calls()}
    assert response.usage["output_tokens"] == sum(codex.model.api.answers.values())
    assert len(codex.session[ToolInvoked].all()) == len(journal.calls())


def lookup(id: str) -> dict[str, str]:
    """Look up a ticket."""
    if id != "ABC-1":
        raise LookupError(f"there is no ticket {id}")
    return {"id": id, "status": "open 你好"}


async def whisper(text: str) -> str:
    """Say it quietly."""
    return text.lower()


def test_python_functions_are_dynamic_tools(codex: Codex) -> None:
    """The model is offered them, calls them, and is told what they gave; each call is recorded once, by us."""
    response = codex.ask(Prompt(f"Check the ticket. {mark('ticket')}", tools=(lookup, whisper)))
    assert response.text == "It is open."
    assert_faithful(codex)
    offered = {tool.get("name"): tool for tool in codex.model.requests[0]["tools"]}
    assert offered["lookup"]["description"] == "Look up a ticket."
    calls = codex.journal().calls()
    assert [(pair.name, pair.error) for pair in calls] == [
        ("lookup", None), ("lookup", "LookupError: there is no ticket nothing"), ("whisper", None),
    ]  # fmt: skip
    told = codex.model.outputs()
    for pair in calls:
        assert pair.call is not None
        assert pair.result is not None
        assert (pair.call.payload.fidelity, pair.result.payload.fidelity) == ("router", "router")
        assert pair.result.payload.output in str(told[pair.call_id])
    events = [event for event in codex.journal().events if event.type.startswith("tool.")]
    assert len(events) == 2 * len(calls)
    plain = read(codex.wire)  # as somebody reads it who does not own the tools
    assert [(pair.name, pair.error) for pair in plain.calls()] == [(pair.name, pair.error) for pair in calls]


def _yes(request: ApprovalRequest) -> bool:
    return True


@pytest.mark.parametrize("approvals", ["decline", _yes])
def test_approvals(codex: Codex, approvals: Any) -> None:
    """Codex does what it got leave for, and tells what it did not; questions and answers are in the journal."""
    adapter = codex.adapter(approval_policy="on-request", sandbox_mode="read-only", approvals=approvals)
    codex.ask(f"Do both. {mark('leave')}", adapter)
    assert_faithful(codex)
    is_allowed = approvals is _yes
    command, patch = codex.journal().calls()
    assert (command.error is None, patch.error is None) == (is_allowed, is_allowed)
    assert (codex.place.folder / "新しい.txt").exists() is is_allowed
    events = [event for event in codex.journal().events if event.type == "system.event"]
    answers = [event.payload for event in events if event.payload.subtype.endswith("requestApproval/response")]
    assert [answer.text for answer in answers] == ["accept" if is_allowed else "decline"] * 2


def test_a_failed_turn(codex: Codex) -> None:
    """The caller gets Codex's own words, the journal one error."""
    with pytest.raises(AgentError, match="ran out of room"):
        codex.ask(f"Too much. {mark('fail')}")
    assert_faithful(codex)
    (error,) = [event.payload for event in codex.journal().events if event.type == "error"]
    assert error.code == "contextWindowExceeded"
    (executed,) = codex.session[PromptExecuted].all()
    assert "ran out of room" in executed.error


def _interrupt(codex: Codex, adapter: CodexAppServerAdapter) -> None:
    adapter.interrupt()


def _kill(codex: Codex, adapter: CodexAppServerAdapter) -> None:
    pid = re.search(rb'"proc":(\d+)', codex.wire.read_bytes())
    assert pid is not None
    os.killpg(int(pid[1]), signal.SIGKILL)


@pytest.mark.parametrize(
    ("act", "words"), [(_interrupt, "was interrupted"), (_kill, "ended with code -9"), (None, "longer than 3 s")]
)
def test_a_turn_that_does_not_get_to_its_end(
    codex: Codex,
    act: Callable[[Codex, CodexAppServerAdapter], None] | None,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Interrupted, killed or too slow: what was said is kept, the command that ran is told, and nothing is left."""
    started = codex.place.folder / "started"
    adapter = codex.adapter(turn_timeout=None if act else 3)
    begun, runs = time.monotonic(), threading.Event()
    # The three seconds are over as soon as the command runs, and not before, however slow the machine is.
    monkeypatch.setattr(
        turn, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + 3 if runs.is_set() else begun)
    )

    def wait_and_act() -> None:
        deadline = time.monotonic() + session.PATIENCE
        while not (started.exists() and b'"type":"commandExecution"' in codex.wire.read_bytes()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        runs.set()
        if act is not None:
            act(codex, adapter)

    other = threading.Thread(target=wait_and_act)
    other.start()
    with pytest.raises(AgentTimeout if act is None else AgentError, match=words):
        codex.ask(scenario.SLOW_PROMPT, adapter)
    other.join()
    with suppress(FileNotFoundError):
        started.unlink()  # which ends the command, should it have outlived the agent
    assert_faithful(codex, is_whole=False)
    journal = codex.journal()
    assert journal.prompts(codex.run_id) == [scenario.SLOW_PROMPT]
    assert journal.texts(codex.run_id) == [scenario.SLOW_TEXT]
    assert scenario.SLOW_COMMAND in str(journal.call(scenario.SLOW_COMMAND).call)
    errors = [event.payload.message for event in journal.events if event.type == "error"]
    assert len(errors) == (0 if act is _interrupt else 1)


def test_a_thread_goes_on(codex: Codex) -> None:
    """A thread that is resumed knows what was said; the answer counts its own tokens only."""
    first = codex.ask(scenario.PROMPT)
    spent = sum(codex.model.api.answers.values())
    with Recorder(codex.root) as recorder:
        again = codex.adapter().evaluate(scenario.NEXT_PROMPT, recorder=recorder, thread_id=first.session_id)
    assert (again.text, again.session_id) == (scenario.NEXT_TEXT, first.session_id)
    assert scenario.FINAL_TEXT in str(codex.model.requests[-1]["input"])
    assert again.usage["output_tokens"] == sum(codex.model.api.answers.values()) - spent


def test_the_system_prompt_reaches_the_model(codex: Codex) -> None:
    """And stands beside the prompt in the journal."""
    codex.ask(Prompt(scenario.NEXT_PROMPT, system="Answer like a pirate."))
    assert "Answer like a pirate." in str(codex.model.requests[0]["input"])
    (prompt,) = [event.payload for event in codex.journal().events if event.type == "message.user"]
    assert (prompt.system_prompt, prompt.blocks[0].text) == ("Answer like a pirate.", scenario.NEXT_PROMPT)
