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
    is_parent: bool = False
    """Whether the shell that runs a hook is started by the agent's own process, and no event tells its end."""
    turned_off_by: str = ""
    """The setting that turns all hooks off; dots lead into objects."""
    turned_off_is: bool = True
    """The value with which it does."""
    note: str = ""
    """What a person has to do before the agent calls them."""


class Notify(Struct, frozen=True, kw_only=True):
    """A program that an agent calls after each turn: `notify` in TOML settings, with JSON as its last argument."""

    settings: Home
    """The settings file: the folder of this home is the file's name."""
    session: str
    """The field of that JSON which has the id of the session."""


class Plugin(Struct, frozen=True, kw_only=True):
    """A file that an agent loads, and that calls us from inside."""

    file: Home
    """The file: the folder of this home is the file's name."""
    text: str
    """What stands in it, in the language of the agent's plugins, after a line `const COMMAND = [...];`."""
    note: str = ""
    """What a person should know about it."""


class McpSettings(Struct, frozen=True, kw_only=True):
    """Where an agent looks for MCP servers of the user."""

    settings: Home
    """The settings file: the folder of this home is the file's name."""
    syntax: Literal["json", "toml"]
    """JSON with `mcpServers`, or TOML with `[mcp_servers.<name>]`."""
