"""`steno receive`: real requests over HTTP, refused and accepted, and what is left after a kill."""

from __future__ import annotations

import gzip
import http.client
import json
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from otlp_spans import CASES, bare, joined, requests_in, routed, whole
from receiving import Receiving, receiving
from stenograph import open_archive
from stenograph.archive.received.receiver import BODY_BYTES, CONTENT_BYTES
from stenograph.cli.program import cli
from stenograph.formats.base import run_id_of
from stenograph.formats.otlp.conversation import native_id_of


def _runs(archive: Path) -> dict[str, list[str]]:
    """What each run of an archive says, without what the archive adds."""
    with open_archive(archive) as opened:
        told = {}
        for info in opened.runs():
            with opened.run(info.run_id) as run:
                told[info.run_id] = _plain(bare(run.events()))
        return told


def _expected(cases: list[str]) -> dict[str, list[str]]:
    found = {key: lines for case in cases for key, lines in routed(requests_in(case)).items()}
    return {run_id_of("otlp", native_id_of(key)): _plain(whole(lines, key)) for key, lines in found.items()}


def _plain(lines: list[bytes]) -> list[str]:
    return [json.dumps(json.loads(line) | {"seq": 0, "run_id": ""}, sort_keys=True) for line in lines]


def _sent(process: Receiving, request: dict[str, Any]) -> bool:
    """Whether the spans and the log records of a request were both accepted."""
    halves = [{name: items} for name, items in request.items()]
    return all(process.send_gzip(half) == (200, b"{}") for half in halves)


def _wait_for(archive: Path, wanted: dict[str, list[str]]) -> None:
    end = time.monotonic() + 240
    while time.monotonic() < end:
        if (archive / "index.db").exists() and _runs(archive).items() >= wanted.items():
            return
        time.sleep(0.1)
    assert _runs(archive).items() >= wanted.items()


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiving]:
    with receiving(tmp_path_factory.mktemp("received")) as process:
        yield process


def test_agents_become_runs_while_they_work(door: Receiving) -> None:
    """Every framework's spans, as JSON and packed: the runs are in the archive while the receiver works."""
    for case in CASES:
        requests = requests_in(case)
        for request in (joined(requests[:3]), joined(requests[3:-1]), requests[-1]):
            assert _sent(door, request)
    _wait_for(door.archive, _expected(CASES))
    listed = CliRunner().invoke(cli, ["ls", "--json", "--archive", str(door.archive)])
    agents = {run["agent"] for run in json.loads(listed.stdout)}
    assert agents >= {"pydantic-ai", "openai-agents", "langchain", "smolagents", "crewai", "autogen", "google-adk"}


def test_the_exporter_of_opentelemetry_sends_here(door: Receiving) -> None:
    """Its protobuf, packed: a model call that the SDK sends is a run."""
    program = """
import os, sys
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
facts = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": sys.argv[1], "gen_ai.usage.input_tokens": 7,
    "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "漢字 🎉"}]}]',
    "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "はい"}]}]'}
with provider.get_tracer("my-framework").start_as_current_span("chat", attributes=facts):
    pass
provider.force_flush()
provider.shutdown()
"""
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": door.address,
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "120",  # seconds: a receiver on a busy machine may take long
    }
    done = subprocess.run(
        [sys.executable, "-c", program, "sdk"], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    run_id = run_id_of("otlp", native_id_of("sdk"))
    end = time.monotonic() + 240
    while time.monotonic() < end and not _has_run(door.archive, run_id):
        time.sleep(0.05)
    with open_archive(door.archive) as archive, archive.run(run_id) as run:
        info = run.info
    assert (info.agent, info.title, info.input_tokens, info.status) == ("my-framework", "漢字 🎉", 7, "finished")


def _has_run(archive: Path, run_id: str) -> bool:
    if not (archive / "index.db").exists():
        return False
    with open_archive(archive) as opened:
        return any(info.run_id == run_id for info in opened.runs())


@pytest.mark.parametrize("header", ["Origin", "Sec-Fetch-Site"])
def test_no_web_page_may_write(door: Receiving, header: str) -> None:
    """A browser names the page that sends, and that is refused."""
    status, answer = door.send_json({"resourceSpans": []}, **{header: "null"})
    assert status == 403
    assert json.loads(answer) == {"message": "web pages may not send here"}


def test_what_is_malformed_or_too_large_is_refused(door: Receiving) -> None:
    """400, 413, 415 and 404, each with one line that says why; and the next request is taken."""
    json_type = {"content_type": "application/json"}
    packed = {**json_type, "content_encoding": "gzip"}
    large = gzip.compress(bytes(CONTENT_BYTES + 1))
    assert door.send("/v1/traces", b"{", **json_type)[0] == 400
    assert door.send("/v1/traces", b'{"resourceSpans": 1}', **json_type)[0] == 400
    assert door.send("/v1/traces", b"[" * 100_000, **json_type)[0] == 400
    assert door.send("/v1/traces", b"\xff\xff", content_type="application/x-protobuf")[0] == 400
    assert door.send("/v1/traces", b"no gzip", **packed)[0] == 400
    assert door.send("/v1/traces", gzip.compress(b"{}")[:-4], **packed)[0] == 400
    assert door.send("/v1/traces", large, **packed)[0] == 413
    assert door.send("/v1/traces", b"", **json_type, content_length=str(BODY_BYTES + 1))[0] == 413
    assert door.send("/v1/traces", b"{}", content_type="text/plain")[0] == 415
    assert door.send("/v1/traces", b"{}", **json_type, content_encoding="br")[0] == 415
    assert door.send("/v1/metrics", b"{}", **json_type)[0] == 404
    assert door.send("/v1/traces", b"{}", **json_type) == (200, b"{}")


def test_a_token_is_asked_for_where_one_was_given(tmp_path: Path) -> None:
    """Only a sender that has it is heard; and others may not reach us at all without one."""
    with receiving(tmp_path, "--token", "secret-1") as process:
        assert process.send_json({})[0] == 401
        assert process.send_json({}, authorization="Bearer secret-2")[0] == 401
        assert process.send_json({}, authorization="Bearer secret-1")[0] == 200
    refused = CliRunner().invoke(cli, ["receive", "--host", "0.0.0.0", "--archive", str(tmp_path)])
    assert refused.exit_code == 2
    assert "add --token" in refused.output


def test_the_page_receives_too(tmp_path: Path) -> None:
    """`steno serve --otlp`: what is sent to its second port is a run that its API has."""
    command = ["-m", "stenograph", "serve", "--port", "0", "--otlp", "--otlp-port", "0", "--no-sync", "--no-open"]
    process = subprocess.Popen(
        [sys.executable, *command, "--archive", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        page = process.stdout.readline().strip()
        address = process.stderr.readline().strip().rpartition(" ")[2]
        body = json.dumps(joined(requests_in("pydantic_ai"))).encode()
        request = urllib.request.Request(f"{address}/v1/traces", body, {"content-type": "application/json"})
        assert urllib.request.urlopen(request).status == 200
        _wait_for(tmp_path, _expected(["pydantic_ai"]))
        base, _, token = page.partition("?token=")
        runs = urllib.request.Request(f"{base}api/v1/runs", headers={"authorization": f"Bearer {token}"})
        listed = json.loads(urllib.request.urlopen(runs).read())["runs"]
        assert {run["agent"] for run in listed} == {"pydantic-ai"}
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=240)
    assert process.returncode == 0


def kill_at_random_moments(archive: Path, kills: int, seed: int, cases: list[str]) -> None:
    """Send every span until it is acknowledged, over kills; then nothing may be lost or doubled."""
    chance = random.Random(seed)
    requests = [request for case in cases for request in requests_in(case)]
    batches = [joined(requests[at : at + 4]) for at in range(0, len(requests), 4)]
    chance.shuffle(batches)
    left = list(batches) * (1 + kills // len(batches))
    process = Receiving(archive)
    for _ in range(kills):
        timer = threading.Timer(chance.uniform(0.0, 0.25), process.kill)
        timer.start()
        while left:
            try:
                status, _ = process.send_json(left[0])
            except (OSError, http.client.HTTPException):
                break
            assert status == 200
            left.pop(0)
        timer.join()
        process = Receiving(archive)
    for request in left:
        assert process.send_json(request)[0] == 200
    process.stop()
    assert _runs(archive) == _expected(cases)


def test_nothing_acknowledged_is_lost_or_doubled_by_a_kill(tmp_path: Path) -> None:
    """Killed at a random moment, with a client that sends again what was not acknowledged."""
    kill_at_random_moments(tmp_path, 1, seed=1, cases=["pydantic_ai"])


@pytest.mark.scale
@pytest.mark.timeout(1200)
def test_nothing_acknowledged_is_lost_or_doubled_by_a_hundred_kills(tmp_path: Path) -> None:
    """The same a hundred times."""
    for seed in range(10):
        kill_at_random_moments(tmp_path / str(seed), 10, seed, ["pydantic_ai", "openai_agents", "crewai"])
