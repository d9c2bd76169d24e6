"""`steno receive`: model spans with long histories until their runs are in the archive, and how long a sender waits."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.measure import Row
from stenograph import open_archive

CONVERSATIONS, CALLS, HISTORY = 100, 20, 20
TOGETHER = 50
_WORDS = "The quick brown fox jumps over the lazy dog. " * 4
_HEADERS = {"content-type": "application/x-protobuf"}


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    archive = folder / "received"
    bodies = _bodies()
    spans = CONVERSATIONS * CALLS
    idle = _measured(folder / "idle", [])
    used = _measured(archive, bodies)
    with open_archive(archive) as opened:
        found = sum(1 for _ in opened.runs())
    seconds = used["cpu"] - idle["cpu"]
    speed = spans / seconds
    latency = statistics.quantiles(used["waits"], n=100)
    shutil.rmtree(archive)
    shutil.rmtree(folder / "idle")
    return [
        Row(
            f"`steno receive`: {spans} model spans with histories of {HISTORY} messages and more, until they are runs",
            "≥ 1,000 spans/s of processor time",
            f"{speed:,.0f} spans/s of processor time, {spans / used['seconds']:,.0f} by the clock; {found} runs",
            "",
            speed >= 1000 and found == CONVERSATIONS,
        ),
        Row("its memory", "≤ 300 MB RSS", f"{used['peak']:.0f} MB", "", used["peak"] <= 300),
        Row(
            f"answer a request of {TOGETHER} spans, on disk, while it is busy",
            "p50 ≤ 100 ms",
            f"p50 {latency[49] * 1000:.1f} ms, p99 {latency[98] * 1000:.1f} ms",
            "",
            latency[49] <= 0.1,
        ),
    ]


def _bodies() -> list[bytes]:
    """The requests: each conversation's calls in order, those of all conversations mixed."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    bodies = []
    numbers = [(talk, call) for call in range(CALLS) for talk in range(CONVERSATIONS)]
    for start in range(0, len(numbers), TOGETHER):
        request = ExportTraceServiceRequest()
        scope = request.resource_spans.add().scope_spans.add()
        scope.scope.name = "bench"
        for talk, call in numbers[start : start + TOGETHER]:
            span = scope.spans.add()
            span.trace_id, span.span_id = talk.to_bytes(15) + b"\1", (talk * CALLS + call + 1).to_bytes(8)
            span.name = "chat"
            span.start_time_unix_nano = 1_700_000_000_000_000_000 + call * 1_000_000_000
            span.end_time_unix_nano = span.start_time_unix_nano + 500_000_000
            for key, value in _facts(talk, call).items():
                span.attributes.add(key=key).value.string_value = value
        bodies.append(request.SerializeToString())
    return bodies


def _facts(talk: int, call: int) -> dict[str, str]:
    messages = [_message(talk, number) for number in range(HISTORY + 2 * call)]
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": f"talk {talk}",
        "gen_ai.request.model": "bench-model",
        "gen_ai.input.messages": json.dumps(messages),
        "gen_ai.output.messages": json.dumps([_message(talk, len(messages))]),
    }


def _message(talk: int, number: int) -> dict[str, Any]:
    role = "user" if number % 2 else "assistant"
    return {"role": role, "parts": [{"type": "text", "content": f"{talk} {number} {_WORDS}"}]}


def _measured(archive: Path, bodies: list[bytes]) -> dict[str, Any]:
    """What receiving these takes until all of it is in the archive."""
    process = subprocess.Popen(
        [sys.executable, "-m", "stenograph", "receive", "--port", "0", "--archive", str(archive)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    address = urlsplit(process.stdout.readline().decode().strip())
    connection = http.client.HTTPConnection(address.netloc)
    waits = []
    began = time.perf_counter()
    for body in bodies:
        sent = time.perf_counter()
        connection.request("POST", "/v1/traces", body, _HEADERS)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200
        waits.append(time.perf_counter() - sent)
    process.send_signal(signal.SIGINT)  # it ends when everything is in the archive
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    process.stdout.close()
    connection.close()
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024, "waits": waits}
