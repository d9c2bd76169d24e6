"""The description of this format."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stenograph.fold.agent_tables import Turns
from stenograph.formats.base import LIKELY, SURE, FormatSpec, Identity
from stenograph.formats.layout import Home
from stenograph.formats.pi.agent import AGENT
from stenograph.formats.pi.layout import FORKS, LAYOUT
from stenograph.formats.pi.tools import TOOLS
from stenograph.formats.settings import Plugin
from stenograph.formats.shared.loose import a_dict, a_str
from stenograph.formats.shared.pi_entries.detection import header_of, identity_of
from stenograph.formats.shared.pi_entries.format import ABORTED, PiEntryFormat
from stenograph.formats.shared.plugin_text import EXTENSION

_NEWEST = 3
"""The version of the entries that pi writes."""


class PiFormat(PiEntryFormat):
    """One session file."""

    name = "pi"


def detect(records: Sequence[Any], path: str) -> int:
    """How surely these are a header and entries; those of a newer version may be of another program."""
    header = header_of(records)
    if not header:
        return 0
    version = header.get("version", 1)
    return SURE if version.__class__ is int and version <= _NEWEST else LIKELY


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session, and which fork wrote it, by its place or by what only that one writes."""
    names = re.split(r"[/\\]", path)
    fork = next((FORKS[name] for name in names if name in FORKS), None)
    return identity_of(records, path, fork or ("openclaw" if any(map(_is_openclaws, records)) else None))


def _is_openclaws(record: Any) -> bool:
    record = a_dict(record)
    return "__openclaw" in a_dict(record.get("message")) or a_str(record.get("customType")).startswith("openclaw")


SPEC = FormatSpec(
    name="pi",
    what="pi's session files, and those of its forks oh-my-pi and Prime and of older OpenClaw",
    versions="0.87.1",
    agent=AGENT,
    kind="file",
    layout=LAYOUT,
    detect=detect,
    identify=identify,
    open=PiFormat,
    programs=("pi", "omp"),
    turns=Turns(interrupting_errors=(ABORTED,)),
    tools=TOOLS,
    plugin=Plugin(
        file=Home(variable="PI_CODING_AGENT_DIR", default=".pi/agent", folder="extensions/stenograph.ts"),
        text=EXTENSION,
    ),
    fork=("session", "forked_from"),
    labels={"context_edit": "Context edited", "branch": "Another branch"},
    tokens=("call",),
    sample=(
        b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}\n'
        b'{"type":"model_change","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","modelId":"m"}\n'
    ),
)
