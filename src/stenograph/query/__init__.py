"""Asking questions: SQL over a bundle, read-only and within limits."""

from stenograph.errors import InvalidQuery
from stenograph.query.sql import Limits, Result, open_readonly, run_sql

__all__ = ["InvalidQuery", "Limits", "Result", "open_readonly", "run_sql"]
