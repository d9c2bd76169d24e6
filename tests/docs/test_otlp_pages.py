"""The pages of frameworks: each that is run for real has one."""

from __future__ import annotations

from pathlib import Path

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PROGRAMS = Path(__file__).parents[1] / "frameworks" / "programs"


def test_every_framework_has_a_page_that_the_others_lead_to() -> None:
    """With the variable that points it here, and the lines that its program in the tests has, too."""
    names = {path.stem.removesuffix("_agent").replace("_", "-") for path in PROGRAMS.glob("*_agent.py")}
    assert len(names) == 7
    index = (HOW_TO / "receive-opentelemetry.md").read_text("utf-8")
    for name in names:
        page = (HOW_TO / f"otel-{name}.md").read_text("utf-8")
        assert f"(otel-{name}.md)" in index
        assert "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318" in page
