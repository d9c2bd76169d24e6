"""Fields by which a session file of an agent is told from calls to an API and from a plain chat, which read alike."""

from __future__ import annotations

SESSION_FIELDS = frozenset({"sessionId", "session_start", "last_updated", "taskType"})
"""A file whose records have one of these is for a format of its agent, or for none."""
