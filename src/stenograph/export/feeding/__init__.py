"""Sends runs to a collector as they grow: `steno watch --otlp`."""
