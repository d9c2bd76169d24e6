"""Which agent a command is, and which of its sessions is the command's own."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from stenograph.adapters.following.collection import session_in
from stenograph.formats.base import Identity
from stenograph.formats.registry import formats
from stenograph.sources.detection import Detection
from stenograph.sources.layouts import LAYOUTS

STREAMS = {
    "claude_stream": "claude_code",
    "codex_exec": "codex_rollout",
    "copilot_stream": "copilot_cli",
    "gemini_stream": "gemini_cli",
    "opencode_stream": "opencode",
}
"""What agents print, and the format in which the same agent keeps its sessions."""
PROGRAMS = {
    "claude": "claude_code",
    "codex": "codex_rollout",
    "copilot": "copilot_cli",
    "gemini": "gemini_cli",
    "opencode": "opencode",
}
"""Agents' programs, and the format in which each keeps its sessions."""
LAUNCHERS = frozenset(
    {
        *("bash", "bun", "bunx", "deno", "env", "node", "nohup", "npx", "pnpm", "python", "python3", "sh", "sudo"),
        *("uv", "uvx", "yarn"),
    }
)
"""Programs that run another one, which is named somewhere after them."""

_PEEK = 1 << 18
_SLACK = 0.02  # the clock of a file system lags behind
_PAUSE = 20.0  # a search pauses for so many times what it took


def agent_of(command: Sequence[str]) -> str | None:
    """The format in which the command keeps its sessions, when it is an agent that we know by its name."""
    words = [command[0]]
    if _name(command[0]) in LAUNCHERS:
        words = [part for word in command[1:] for part in _split(word)]
    return next((PROGRAMS[name] for word in words if (name := _name(word)) in PROGRAMS), None)


def _name(word: str) -> str:
    name = os.path.basename(word)  # noqa: PTH119  # any text, and not a path of ours
    return name.removesuffix(".js").removesuffix("-code")  # @anthropic-ai/claude-code, @google/gemini-cli


def _split(word: str) -> list[str]:
    try:
        return shlex.split(word)
    except ValueError:
        return [word]


class SessionSearch:
    """Looks for the sessions that a command writes: by the id that it printed, or by the folder it works in."""

    def __init__(self, environment: Mapping[str, str], folder: Path, began: datetime) -> None:
        """`began` is when the command was started: a session that was not written since is not its."""
        self.found: dict[str, Detection] = {}
        """The sessions by their main files, the first one first."""
        self._environment = environment
        self._home = Path(environment.get("HOME") or "/")
        self._signs = _signs(folder)
        self._began = began.timestamp() - _SLACK
        self._searched = 0.0
        self._next = 0.0

    def by_id(self, format_name: str, printed: Identity) -> None:
        """Look for the session that was printed, and for those that it started."""
        if not self.found:
            for root in self._roots(format_name):
                path = LAYOUTS[format_name].find(root, printed.session_id or printed.native_id)
                if path is not None and self._is_new(path):
                    self._add(path, format_name, printed)
        if self.found and self._is_due():
            self._add_children(format_name)

    def by_folder(self, format_name: str) -> None:
        """Look for sessions that were written since the command began and name its folder."""
        if self._is_due():
            for path in self._new_files(format_name):
                if str(path) not in self.found and self._names_folder(path):
                    self._add(path, format_name)
            self._pause()

    def hurry(self) -> None:
        """Look at once the next time: it is the last."""
        self._next = 0.0

    def _add(self, path: Path, format_name: str, printed: Identity | None = None) -> None:
        found = session_in(path, formats()[format_name])
        if found is None:
            return
        if LAYOUTS[format_name].stored(path) is not None:  # it holds many: only what was printed says which
            if printed is None:
                return
            found = replace(found, identity=printed)
        self.found[str(path)] = found

    def _add_children(self, format_name: str) -> None:
        parents = {found.identity.native_id for found in self.found.values()}
        for path in self._new_files(format_name):
            if str(path) in self.found:
                continue
            found = session_in(path, formats()[format_name])
            if found is not None and found.identity.parent_native_id in parents:
                self.found[str(path)] = found
                parents.add(found.identity.native_id)
        self._pause()

    def _new_files(self, format_name: str) -> Iterator[Path]:
        self._searched = time.monotonic()
        for root in self._roots(format_name):
            yield from (path for path in LAYOUTS[format_name].sessions(root) if self._is_new(path))

    def _roots(self, format_name: str) -> list[Path]:
        if format_name not in LAYOUTS:
            return []
        return LAYOUTS[format_name].roots(self._environment, self._home)

    def _is_new(self, path: Path) -> bool:
        for each in (path, path.with_name(f"{path.name}-wal")):  # a database is written beside itself first
            with suppress(OSError):
                if each.stat().st_mtime >= self._began:
                    return True
        return False

    def _names_folder(self, path: Path) -> bool:
        """Whether the beginning or the end of a session names the folder; a resumed one may have begun elsewhere."""
        try:
            with path.open("rb") as file:
                text = file.read(_PEEK)
                end = file.seek(0, os.SEEK_END)
                if end > _PEEK:
                    file.seek(max(_PEEK, end - _PEEK))
                    text += file.read()
        except OSError:
            return False
        return any(sign in text for sign in self._signs)

    def _is_due(self) -> bool:
        return time.monotonic() >= self._next

    def _pause(self) -> None:
        """A home with ten thousand sessions is not searched all the time."""
        now = time.monotonic()
        self._next = now + (now - self._searched) * _PAUSE


def _signs(folder: Path) -> list[bytes]:
    """What a session of an agent at work in a folder holds: its name, or (Gemini) the digest of its name."""
    names = dict.fromkeys([str(folder), os.path.realpath(folder)])
    told = [f'"cwd":{json.dumps(name, ensure_ascii=False)}'.encode("utf-8", "replace") for name in names]
    return told + [hashlib.sha256(os.fsencode(name)).hexdigest().encode() for name in names]
