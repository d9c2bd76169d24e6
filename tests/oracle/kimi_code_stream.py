"""Counts what Kimi Code prints: the lines are those of its predecessor."""

from __future__ import annotations

from oracle.kimi_cli_stream import count

__all__ = ["count"]
