"""Counts Kilo's rows, which are OpenCode's, by the same naive counter. Knows nothing of stenograph."""

from __future__ import annotations

from oracle.opencode import count, count_database

__all__ = ["count", "count_database"]
