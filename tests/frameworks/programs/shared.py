"""What the programs have in common: the model's address, the tool, and OpenTelemetry as its guide sets it up."""

import os
import subprocess

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

URL = os.environ["MODEL_URL"]
PROMPTS = [os.environ[name] for name in ("PROMPT", "NEXT_PROMPT", "FAILING_PROMPT")]

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)


def run_shell(command: str) -> str:
    """Run a shell command."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {done.stdout}")
    return done.stdout


def send_all() -> None:
    """Send every span and wait for it, however long it takes: a shutdown by itself gives up after half a minute."""
    provider.force_flush(300_000)
    provider.shutdown()
