"""Registers `steno mcp` in an agent's settings, JSON or TOML. Everything else in them stays."""

from __future__ import annotations

import json
import os
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

from stenograph.cli.installing.settings_file import (
    Change,
    document,
    our_program,
    read_settings,
    refused,
    replace_file,
)
from stenograph.formats.settings import McpSettings

NAME = "stenograph"
"""The server's name in the settings."""
_SECTION = re.compile(rf"^\s*\[\s*mcp_servers\s*\.\s*[\"']?{NAME}[\"']?\s*(?:\.[^\]]*)?\]")
_ANY_SECTION = re.compile(r"^\s*\[")


def register(mcp: McpSettings, path: Path, *, remove: bool) -> Change:
    """Register or remove the server; raises `SourceError` for settings that cannot be changed safely."""
    text = read_settings(path)
    words = [*our_program(), "mcp", *_archive()]
    program, rest = words[0], words[1:]
    wanted = None if remove else {"command": program, "args": rest}
    change = _in_toml(path, text, wanted) if mcp.syntax == "toml" else _in_json(path, text, wanted)
    ours = shlex.join([program, *rest])
    if change is None:
        return Change(settings=str(path), command=ours)
    new, had = change
    backup = replace_file(path, text, new)
    names = ("mcp",)
    return Change(
        settings=str(path),
        command=ours,
        added=() if remove else names,
        removed=names if had else (),
        backup=backup,
    )


def _archive() -> list[str]:
    """`--archive`, if the environment names one: agents do not pass their environment on to servers."""
    home = os.environ.get("STENOGRAPH_HOME")
    return ["--archive", os.path.abspath(home)] if home else []  # noqa: PTH100  # keeps links


def _in_json(path: Path, text: str | None, wanted: dict[str, Any] | None) -> tuple[str, bool] | None:
    try:
        settings = json.loads(text) if text is not None and text.strip() else {}
        json.dumps(settings, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise refused(path, f"it is not JSON ({error})") from error
    servers = settings.get("mcpServers", {}) if isinstance(settings, dict) else None
    if not isinstance(servers, dict):
        raise refused(path, "it is not a JSON object with mcpServers by name")
    server = None if wanted is None else {"type": "stdio", **wanted}
    before = servers.get(NAME)
    if before == server:
        return None
    if server is None:
        del servers[NAME]
        if not servers:
            del settings["mcpServers"]
    else:
        settings.setdefault("mcpServers", {})[NAME] = server
    return document(settings, text), before is not None


def _in_toml(path: Path, text: str | None, wanted: dict[str, Any] | None) -> tuple[str, bool] | None:
    """TOML is changed as text, so that comments and order stay; the result is parsed again and compared."""
    text = text or ""
    settings = _toml(path, text)
    servers = settings.get("mcp_servers", {})
    if not isinstance(servers, dict):
        raise refused(path, "mcp_servers is not a table")
    before = servers.get(NAME)
    if before == wanted:
        return None
    kept = _without_section(text)
    new = kept if wanted is None else _with_section(kept, wanted)
    expected = {name: server for name, server in servers.items() if name != NAME}
    if wanted is not None:
        expected[NAME] = wanted
    after = _toml(path, new)
    if after.pop("mcp_servers", {}) != expected or after != {k: v for k, v in settings.items() if k != "mcp_servers"}:
        raise refused(path, f"its server {NAME} is not written as a table of its own")
    return new, before is not None


def _toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise refused(path, f"it is not TOML ({error})") from error


def _without_section(text: str) -> str:
    kept: list[str] = []
    is_ours = False
    for line in text.splitlines(keepends=True):
        if _ANY_SECTION.match(line):
            is_ours = _SECTION.match(line) is not None
        if not is_ours:
            kept.append(line)
    return "".join(kept)


def _with_section(text: str, wanted: dict[str, Any]) -> str:
    values = "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in wanted.items())
    head = text.rstrip("\r\n")
    return (f"{head}\n\n" if head else "") + f"[mcp_servers.{NAME}]\n{values}"
