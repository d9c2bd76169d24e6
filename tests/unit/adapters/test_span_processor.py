"""`StenographSpanProcessor`: spans of the real SDK become runs without a port."""

from __future__ import annotations

from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider

from stenograph import open_archive
from stenograph.adapters.opentelemetry import StenographSpanProcessor

CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.conversation.id": "talk",
    "gen_ai.usage.input_tokens": 7,
    "gen_ai.response.finish_reasons": ("stop",),
    "gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "漢字"}]}]',
    "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "Hi"}]}]',
}


def test_spans_of_a_provider_are_a_run(tmp_path: Path) -> None:
    """Model call, tool and failure, as the SDK ends them; the next sync has the run."""
    provider = TracerProvider()
    processor = StenographSpanProcessor(tmp_path)
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("my-framework", "1.2")
    with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
        with tracer.start_as_current_span("chat", attributes=CHAT):
            pass
        with (
            pytest.raises(RuntimeError),
            tracer.start_as_current_span("execute_tool shell", attributes={"gen_ai.tool.name": "shell"}),
        ):
            raise RuntimeError("no such thing")
    assert provider.force_flush()
    with open_archive(tmp_path) as archive:
        archive.sync(agents=("otlp",))
        (info,) = archive.runs()
    assert (info.agent, info.agent_version, info.title, info.input_tokens) == ("my-framework", "1.2", "漢字", 7)
    assert (info.tool_calls, info.failed_calls) == (1, 1)
    provider.shutdown()
    assert processor.dropped == 0
    assert processor.force_flush()


def test_a_host_is_never_hurt(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What cannot be read, written or taken is counted and said, and no exception reaches the host."""
    processor = StenographSpanProcessor(tmp_path)
    processor.on_end(object())
    assert processor.force_flush()
    assert processor.dropped == 1
    provider = TracerProvider()
    provider.add_span_processor(processor)
    (tmp_path / "received" / "runs").rmdir()
    with provider.get_tracer("x").start_as_current_span("chat", attributes=CHAT):
        pass
    assert provider.force_flush()
    assert processor.dropped == 2
    assert "could not be written" in caplog.text
    provider.shutdown()
    processor.on_end(object())
    assert processor.dropped == 2
