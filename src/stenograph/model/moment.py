"""The moment that a timestamp names."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_of(text: str) -> datetime | None:
    """The moment, always aware: without a zone it is UTC. None when Python cannot read the text as one."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def milliseconds_of(text: str) -> int | None:
    """The moment in milliseconds since 1970; None when Python cannot read the text as one."""
    moment = moment_of(text)
    return None if moment is None else int(moment.timestamp() * 1000)
