"""pi's entries, loosely typed: the fields we read, with values of any type.

Fields that are not declared are skipped while decoding: details for the screen, signatures, raw reasons.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from stenograph.formats.shared.typed import Other, fitted


class Cost(Struct, gc=False):
    """Dollars, by the program's own price table."""

    total: Any = None


class Usage(Struct, gc=False, rename="camel"):
    """The tokens of one model call."""

    input: Any = None
    output: Any = None
    cache_read: Any = None
    cache_write: Any = None
    reasoning: Any = None
    reasoning_tokens: Any = None
    cost: Cost | Other = None


class Details(Struct, gc=False, rename="camel"):
    """What a tool returns besides its content."""

    duration_ms: Any = None
    exit_code: Any = None


class EntryMessage(Struct, gc=False, rename="camel"):
    """The message of an entry, of any role."""

    role: Any = None
    content: Any = None
    sections: Any = None
    model: Any = None
    usage: Usage | Other = None
    stop_reason: Any = None
    error_message: Any = None
    tool_call_id: Any = None
    tool_name: Any = None
    is_error: Any = None
    details: Details | Other = None
    command: Any = None
    output: Any = None
    exit_code: Any = None
    cancelled: Any = None
    custom_type: Any = None
    display: Any = None
    summary: Any = None
    from_id: Any = None
    tokens_before: Any = None


class Entry(Struct, gc=False, rename="camel"):
    """One line: the header, or an entry of the tree."""

    type: Any = None
    id: Any = None
    parent_id: Any = None
    timestamp: Any = None
    message: EntryMessage | Other = None
    version: Any = None
    cwd: Any = None
    parent_session: Any = None
    branched_from: Any = None
    provider: Any = None
    model_id: Any = None
    model: Any = None
    thinking_level: Any = None
    kind: Any = None
    note: Any = None
    usage: Usage | Other = None
    summary: Any = None
    tokens_before: Any = None
    first_kept_entry_id: Any = None
    from_id: Any = None
    custom_type: Any = None
    content: Any = None
    display: Any = None
    target_id: Any = None
    label: Any = None
    name: Any = None
    # What our database reader writes about a session before its first entry.
    session_key: Any = field(default=None, name="session_key")
    reason: Any = None
    forked_from: Any = field(default=None, name="forked_from")


def entry_from(value: Any) -> Entry | None:
    """A decoded JSON value as an entry; None when it is not an object."""
    return fitted(value, Entry) if isinstance(value, dict) else None
