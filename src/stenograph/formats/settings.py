"""The settings of an agent that `steno install` changes, so that it calls `steno hook` or finds `steno mcp`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from stenograph.formats.layout import Home


class Hooks(Struct, frozen=True, kw_only=True):
    """How an agent calls a command at each step: JSON settings with `hooks`, by event, each a list of matchers."""

    settings: Home
    """The settings file: the folder of this home is the file's name."""
    events: tuple[str, ...]
    """The events at which it can call a hook."""
    in_background: str = ""
    """The event that is so frequent that the agent must not wait for the hook."""
    background_since: tuple[int, ...] = ()
    """The first version in which the agent need not wait for a hook."""
    is_parent: bool = False
    """Whether the agent's own process starts the shell that runs a hook. The hook then names that process, so that a
    session is over when its process is, even if no event reported it."""
    turned_off_by: str = ""
    """The setting that turns all hooks off; dots lead into objects."""
    turned_off_is: bool = True
    """The value that turns them off."""
    note: str = ""
    """What a person has to do before the agent calls them."""


class Notify(Struct, frozen=True, kw_only=True):
    """A program that an agent calls after each turn: `notify` in TOML settings, with JSON as its last argument."""

    settings: Home
    """The settings file: the folder of this home is the file's name."""
    session: str
    """The field of that JSON with the id of the session."""


class Plugin(Struct, frozen=True, kw_only=True):
    """A file that an agent loads and that calls `steno hook` from inside the agent."""

    file: Home
    """The file: the folder of this home is the file's name."""
    text: str
    """Its content, in the language of the agent's plugins, after a line `const COMMAND = [...];`."""
    note: str = ""
    """What a person should know about it."""


class McpSettings(Struct, frozen=True, kw_only=True):
    """Where an agent looks for MCP servers of the user."""

    settings: Home
    """The settings file: the folder of this home is the file's name."""
    syntax: Literal["json", "toml"]
    """JSON with `mcpServers`, or TOML with `[mcp_servers.<name>]`."""
