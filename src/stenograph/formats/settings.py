"""An agent's settings, as far as `steno install` changes them, so that it calls us or can ask us: data of a format."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from stenograph.formats.layout import Home


class Hooks(Struct, frozen=True, kw_only=True):
    """How an agent calls a command at each step: JSON settings with `hooks`, by event, each a list of matchers."""

    settings: Home
    """The settings file: the folder of this home is the file's name."""
    events: tuple[str, ...]
    """When it may call us."""
    in_background: str = ""
    """The event that comes so often that the agent must not wait for us."""
    background_since: tuple[int, ...] = ()
    """The version from which on the agent need not wait for a hook."""
    turned_off_by: str = ""
    """The setting that turns all hooks off."""


class McpSettings(Struct, frozen=True, kw_only=True):
    """Where an agent looks for MCP servers of the user."""

    settings: Home
    """The settings file: the folder of this home is the file's name."""
    syntax: Literal["json", "toml"]
    """JSON with `mcpServers`, or TOML with `[mcp_servers.<name>]`."""
