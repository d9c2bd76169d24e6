"""Spans and log records of OpenTelemetry that agents and their frameworks send, as OTLP JSON."""

from stenograph.formats.otlp.spec import SPEC

__all__ = ["SPEC"]
