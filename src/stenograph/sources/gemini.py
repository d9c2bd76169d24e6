"""Gemini CLI's layout: chat files by project, those of subagents in a folder named by their session.

A resume goes on in the session's first file; in another minute than that file was made, the CLI leaves a second one
beside it that holds nothing but a header and the session's context.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import msgspec

from stenograph.formats.gemini_cli.identity import agent_links
from stenograph.model.codec import REFUSALS
from stenograph.sources.detection import Detection
from stenograph.sources.files import Open, open_regular
from stenograph.sources.layout import Detect, Layout, Member, is_name

_SIDE_FILE = re.compile(r"tool-outputs/(session-[\w-]+)/([\w-]+\.txt)")
_SHORT_ID = 8
"""So many characters of its id are in the name of a session's file."""


class GeminiLayout(Layout):
    """`$GEMINI_CLI_HOME/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl` and `<session>/<subagent>.jsonl`."""

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """The folder of all projects."""
        return [Path(environment.get("GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"]

    def sessions(self, root: Path) -> Iterator[Path]:
        """Every session of every project; files of old only where no resume has made new ones of them."""
        yield from (path for path in sorted(root.glob("*/chats/session-*.json*")) if self.is_session(root, path))

    def is_session(self, root: Path, path: Path) -> bool:
        """In the folder of a project's chats."""
        if path.parent.name != "chats" or path.parents[2] != root or not path.name.startswith("session-"):
            return False
        return path.suffix == ".jsonl" or (path.suffix == ".json" and not path.with_suffix(".jsonl").exists())

    def find(self, root: Path, session_id: str) -> Path | None:
        """The session's first file, in whichever project it is."""
        paths = root.glob(f"*/chats/session-*-{_short(session_id)}.jsonl")
        return next(_files_of(paths, session_id, open_regular), None)

    def members(
        self, session: Detection, detect: Detect, open: Open = open_regular, only: Collection[Path] | None = None
    ) -> list[Member]:
        """The files of the session's subagents, each with the call that spawned it as soon as that has ended."""
        session_id = session.identity.native_id
        if session.identity.source != "main" or not is_name(session_id):
            return []
        main = Path(session.path)
        paths = sorted((main.parent / session_id).glob("*.jsonl"))
        if not paths or next(_files_of(_beside(main, session_id), session_id, open), main) != main:
            return []
        links = _links(main, "main", open)
        for path in paths:
            links |= _links(path, f"subagent:{path.stem}", open)
        return [_member(path, links.get(path.stem)) for path in paths if only is None or path in only]

    def parent_of(self, path: Path, open: Open = open_regular) -> tuple[str | None, str | None]:
        """What the session's own file tells, when the subagent's file is where the CLI put it."""
        session_id = path.parent.name
        if path.parent.parent.name != "chats":
            return None, None
        for main in _files_of(_beside(path.parent, session_id), session_id, open):
            if (parent := _links(main, "main", open).get(path.stem)) is not None:
                return parent
        return None, None

    def side_path(self, session: Path, session_id: str, name: str) -> Path | None:
        """In the project that the session belongs to."""
        chats = session.parent if session.parent.name == "chats" else session.parent.parent
        found = _SIDE_FILE.fullmatch(name)
        return None if found is None else chats.parent / "tool-outputs" / found[1] / found[2]


def _short(session_id: str) -> str:
    """The piece of an id that a file is named by, with nothing in it that a pattern could take for its own."""
    return re.sub(r"[^\w-]", "_", session_id)[:_SHORT_ID]


def _beside(path: Path, session_id: str) -> Iterator[Path]:
    return path.parent.glob(f"session-*-{_short(session_id)}.jsonl")


def _files_of(paths: Iterator[Path], session_id: str, open: Open) -> Iterator[Path]:
    """Those files whose header names the session, the oldest first."""
    for path in sorted(paths, key=lambda path: path.name):
        try:
            with open(path) as file:
                header = msgspec.json.decode(file.readline())
        except (OSError, *REFUSALS):
            continue
        if isinstance(header, dict) and header.get("sessionId") == session_id:
            yield path


def _member(path: Path, parent: tuple[str, str] | None) -> Member:
    source, call_id = parent or (None, None)
    return Member(path=path, parent_source=source, parent_call_id=call_id)


def _links(path: Path, source: str, open: Open) -> dict[str, tuple[str, str]]:
    """The subagents that a file's calls spawned: whose they are, and by which call."""
    links: dict[str, tuple[str, str]] = {}
    try:
        with open(path) as file:
            for line in file:
                if b'"agentId"' not in line:
                    continue
                try:
                    record = msgspec.json.decode(line)
                except REFUSALS:
                    continue
                for agent_id, call_id in agent_links(record):
                    links.setdefault(agent_id, (source, call_id))
    except OSError:  # it has just been deleted; whoever reads it will say so
        return links
    return links
