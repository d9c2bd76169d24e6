"""Where Gemini CLI keeps its chats: files by project, those of subagents in a folder named by their session.

A resume continues in the session's first file. If it happens in a later minute, the CLI leaves a second file beside it
that holds only a header and the session's context.
"""

from __future__ import annotations

import hashlib
import re

from stenograph.formats.base import later
from stenograph.formats.layout import Home, Layout, Links, folder_of, last_name

_PARKED = re.compile(r"tool-outputs/(session-[\w-]+)/([\w-]+\.txt)")
_SHORT_ID = 8
"""The number of characters of a session's id that are in the name of its file."""


def _short(session_id: str) -> str:
    return re.sub(r"[^\w-]", "_", session_id)[:_SHORT_ID]


def _stored_output(main: str, session_id: str, name: str) -> str | None:
    """The path of a stored output, in the session's project."""
    folder = folder_of(main)
    chats = folder if last_name(folder) == "chats" else folder_of(folder)
    found = _PARKED.fullmatch(name)
    return None if found is None else f"{folder_of(chats)}/tool-outputs/{found[1]}/{found[2]}"


def _project_hash(folder: str) -> bytes:
    """A chat file names its folder by a digest."""
    return hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest().encode()


LAYOUT = Layout(
    homes=(Home(variable="GEMINI_CLI_HOME", folder=".gemini/tmp"),),
    sessions=("{project}/chats/session-{time}-{session}.jsonl", "{project}/chats/session-{time}-{session}.json"),
    session_in_name=_short,
    continues_in="first",
    replaced_by={".json": ".jsonl"},  # a resume has replaced the old file by a new one
    members=("{session}/{agent}.jsonl",),
    links=Links(mark=b'"agentId"', of=later("stenograph.formats.gemini_cli.identity", "agent_links"), are_nested=True),
    side_file=_stored_output,
    names_folder=_project_hash,
)
