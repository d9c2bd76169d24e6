"""Fields that distinguish an agent's session file from calls to an API and from a plain chat."""

from __future__ import annotations

SESSION_FIELDS = frozenset({"sessionId", "session_start", "last_updated", "taskType"})
"""A file whose records have one of these belongs to an agent's own format, or to none."""
