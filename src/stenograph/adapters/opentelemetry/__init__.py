"""OpenTelemetry in the same process: the spans of an existing `TracerProvider` become runs, without a port."""

from stenograph.adapters.opentelemetry.processor import StenographSpanProcessor

__all__ = ["StenographSpanProcessor"]
