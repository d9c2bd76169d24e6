"""Real frameworks against a fake model: what is recorded is what they sent, and what the model saw."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents.servers.loopback import serving
from comparison import count, different, oracle, parsed
from frameworks import model as script
from frameworks.model import Model
from more_agents.installing import Pip, installed
from receiving import Receiving
from stenograph import open_archive
from stenograph.formats.registry import formats
from stenograph.model import Event, MessagePayload, TextBlock, ThinkingBlock

pytestmark = [pytest.mark.more_agents, pytest.mark.timeout(1800)]
PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Framework:
    """What a framework sends when it sends most."""

    name: str
    program: Pip
    has_content: bool = True
    has_thinking: bool = False
    has_reasoning_tokens: bool = True
    has_conversation: bool = False
    """Two turns are one run."""
    has_failure: bool = True
    """A request that the model refuses is an error."""
    has_arguments: bool = True
    has_results: bool = True


def _installed(package: str, version: str, *more: str) -> Pip:
    """The Python that a framework is run with."""
    telemetry = ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http")
    return Pip(package, version, "python", more=(*more, *telemetry))


FRAMEWORKS = [
    Framework(
        "pydantic-ai", _installed("pydantic-ai-slim[openai]", "2.66.0"), has_thinking=True, has_conversation=True
    ),
    Framework(
        "openai-agents",
        _installed("openai-agents", "0.24.0", "openinference-instrumentation-openai-agents"),
        has_thinking=True,
    ),
    Framework(
        "langchain",
        _installed("langchain", "1.4.7", "langchain-openai", "langgraph", "openinference-instrumentation-langchain"),
        has_conversation=True,
    ),
    Framework(
        "smolagents",
        _installed("smolagents[openai]", "1.26.0", "openinference-instrumentation-smolagents"),
        has_thinking=True,
    ),
    Framework(
        "crewai",
        _installed("crewai", "1.15.30", "openinference-instrumentation-crewai"),
        has_content=False,
        has_failure=False,
    ),
    Framework(
        "autogen",
        _installed("autogen-agentchat", "0.7.5", "autogen-ext[openai]"),
        has_content=False,
        has_failure=False,
        has_arguments=False,
        has_results=False,
    ),
    Framework("google-adk", _installed("google-adk", "2.13.0"), has_conversation=True),
]


class Recording:
    """One framework's work: the model that it asked, and the runs that were made of it."""

    def __init__(self, framework: Framework, model: Model, archive: Path) -> None:
        self.framework = framework
        self.model = model
        with open_archive(archive) as opened:
            infos = sorted(opened.runs(), key=lambda info: info.started_at or "")
            self.infos = infos
            self.runs: list[list[Event]] = []
            for info in infos:
                with opened.run(info.run_id) as run:
                    self.runs.append(list(run.events()))
        self.files = sorted((archive / "received" / "runs").glob("*.jsonl"))

    @property
    def events(self) -> list[Event]:
        """Of all runs, the oldest first."""
        return [event for run in self.runs for event in run]

    def payloads(self, type: str) -> list[Any]:
        """Of all events of a type."""
        return [event.payload for event in self.events if event.type == type]


@pytest.fixture(scope="module", params=FRAMEWORKS, ids=lambda framework: framework.name)
def recording(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    framework: Framework = request.param
    (python,) = installed(framework.program)
    program = PROGRAMS / f"{framework.name.replace('-', '_')}_agent.py"
    model, folder = Model(), tmp_path_factory.mktemp(framework.name)
    process = Receiving(folder / "archive")
    with serving(model) as url:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "MODEL_URL": url,
            "PROMPT": script.PROMPT,
            "NEXT_PROMPT": script.NEXT_PROMPT,
            "FAILING_PROMPT": script.FAILING_PROMPT,
            "OTEL_EXPORTER_OTLP_ENDPOINT": process.address,
            "OPENAI_AGENTS_DISABLE_TRACING": "0",
            "OPENAI_API_KEY": "none",
            "GOOGLE_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": url,
            "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "300",  # seconds; nothing is measured by it, and what is late would be lost
            "OTEL_BSP_EXPORT_TIMEOUT": "300000",  # milliseconds
        }
        done = subprocess.run(
            [python, program], env=environment, capture_output=True, text=True, cwd=folder, timeout=1200
        )
    assert done.returncode == 0, done.stdout + done.stderr
    process.stop()
    return Recording(framework, model, folder / "archive")


def test_what_is_recorded_is_what_the_framework_sent(recording: Recording) -> None:
    """An independent count of the spans finds the same words, thoughts and tokens."""
    assert recording.files
    for path in recording.files:
        events, report = parsed(formats()["otlp"], path)
        ours, theirs = count(events, report), oracle("otlp").count(path)
        assert {key: (ours[key], theirs[key]) for key in different(ours, theirs)} == {}


def test_what_the_model_said_is_recorded_where_it_is_sent(recording: Recording) -> None:
    """Prompts, answers and thoughts, each in order."""
    framework = recording.framework
    prompts = [block.text for each in recording.payloads("message.user") for block in each.said]
    texts = [block.text for each in _answers(recording) for block in each.blocks if isinstance(block, TextBlock)]
    thoughts = [each for answer in _answers(recording) for each in answer.blocks if isinstance(each, ThinkingBlock)]
    if not framework.has_content:
        assert (prompts, texts) == ([], [])
        return
    assert script.PROMPT in prompts[0]
    wanted = [script.FIRST_TEXT, script.FAILING_TEXT, script.FINAL_TEXT]
    found = [text for text in texts if text in wanted]
    assert found[:2] == wanted[:2]
    assert [each.thinking for each in thoughts][:1] == ([script.THOUGHT] if framework.has_thinking else [])


def _answers(recording: Recording) -> list[MessagePayload]:
    return recording.payloads("message.assistant")


def test_tools_are_recorded_with_what_they_were_given_and_gave(recording: Recording) -> None:
    """Both commands, the one that failed too; what the model was told is what is recorded."""
    framework = recording.framework
    calls, results = recording.payloads("tool.call"), recording.payloads("tool.result")
    own = [call for call in calls if call.name == "shell"]
    assert len(own) >= 2
    answered = {result.call_id for result in results}
    assert {call.call_id for call in own[:2]} <= answered <= {call.call_id for call in calls}
    if framework.has_arguments:
        assert [call.input["command"] for call in own][:2] == [script.COMMAND, script.FAILING_COMMAND]
    if framework.has_results:
        assert script.OUTPUT in str(results[0].output)
        said = " ".join(f"{result.output} {result.error}" for result in results)
        assert "exit 3" in said or framework.name == "openai-agents"  # which tells nobody what went wrong


def test_tokens_are_those_that_the_model_counted(recording: Recording) -> None:
    """Every call of the model once, and no sum of an agent."""
    usage = recording.payloads("token.usage")
    if not recording.framework.has_content:
        assert usage == []
        return
    assert sum(each.output_tokens for each in usage) == recording.model.tokens
    assert {each.scope for each in usage} == {"call"}


def test_turns_of_one_conversation_are_one_run_where_it_has_a_name(recording: Recording) -> None:
    """And a request that the model refused is an error of its run."""
    framework = recording.framework
    prompts = [
        [block.text for each in run if each.type == "message.user" for block in each.payload.said]
        for run in recording.runs
    ]
    if framework.has_conversation:
        assert any(script.PROMPT in run and script.NEXT_PROMPT in run for run in prompts)
    if framework.has_failure:
        errors = recording.payloads("error")
        assert any(script.REASON in error.message for error in errors)
        assert recording.infos[-1].status == "failed"
