"""What each format says about its agent's turns and tools, for the folds that need it.

A format brings these tables in its `FormatSpec`, which is in the entry-point group `stenograph.formats`. Folds are
below formats, so they look the tables up by the adapter's name, and load only the format that an event names.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "stenograph.formats"
_OURS = "exchange"
_OUR_MODULES = "stenograph."

Mark = str
"""What a system event says about a turn: one of the constants below."""
MARKS = BEGINS, ENDS, INTERRUPTS, ASKS, ANSWERS = "begins", "ends", "interrupts", "asks", "answers"


class Agent(Struct, frozen=True):
    """The agent that writes a format."""

    id: str
    """As commands and rows name it: `claude`."""
    name: str
    """As people call it: `Claude Code`."""
    resume: tuple[str, ...] = ()
    """The words of the command that continues a session; `{session}` stands for its id."""
    begin: tuple[str, ...] = ()
    """The words of the command that begins a session with a prompt; `{prompt}` stands for it."""


class Turns(Struct, frozen=True, kw_only=True):
    """Which records of a format begin, end or interrupt a turn, and which ask a person something."""

    marks: Mapping[str, Mark | tuple[str, Mapping[str, Mark]]] = {}
    """By subtype of a `system.event`: a mark, or a field of its data with the mark for each of its values."""
    announced: tuple[str, ...] = ()
    """Subtypes of beginnings whose end is reported, too: within such a turn an answer alone is not the end."""
    interruptions: tuple[str, ...] = ()
    """How a message begins that only says that the user interrupted the agent."""
    interrupting_errors: tuple[str, ...] = ()
    """Codes of errors that are interruptions."""

    def mark(self, subtype: str, data: object) -> Mark | None:
        """What a system event says; None when it says nothing about a turn."""
        found = self.marks.get(subtype)
        if not isinstance(found, tuple):
            return found
        field, by_value = found
        value = data.get(field) if isinstance(data, dict) else None
        return by_value.get(value) if isinstance(value, str) else None


class Tool(Struct, frozen=True, kw_only=True):
    """What a tool does, and the names of its arguments."""

    kind: str
    """One of `fold.actions.KINDS`."""
    command: tuple[str, ...] = ("command", "cmd")
    commands: tuple[str, ...] = ()
    """Arguments that hold a list of command lines, each run by itself."""
    paths: tuple[str, ...] = (
        "file_path",
        "path",
        "filePath",
        "absolute_path",
        "notebook_path",
        "filename",
        "paths",
        "dir_path",
    )
    cwd: tuple[str, ...] = ("workdir", "cwd", "directory")
    old: tuple[str, ...] = ("old_string", "old_str", "oldString", "oldText")
    new: tuple[str, ...] = ("new_string", "new_str", "newString", "newText")
    content: tuple[str, ...] = ("content", "contents", "file_text", "new_source")
    patch: tuple[str, ...] = ("patch", "patchText", "input", "diff")
    exit_code: str = r"\A[Ee]xit code:? (-?\d+)"
    """A regular expression for the exit code in an error or output, of kind `shell`."""
    reads_if: tuple[str, str] | None = None
    """The argument and its value with which an editor only shows a file."""


class AgentTables(Struct, frozen=True, kw_only=True):
    """The tables of one format."""

    turns: Turns = Turns()
    tools: Mapping[str, Tool] = {}
    fork: tuple[str, str] | None = None
    labels: Mapping[str, str] = {}
    notices: frozenset[str] = frozenset()
    volatile: tuple[str, ...] = ()
    """What differs in results at each run: regular expressions."""


@cache
def tables_of(adapter: str | None) -> AgentTables:
    """The tables of the format or adapter of that name; those of our own journals for an unknown name."""
    spec = _spec_of(adapter or _OURS) or _spec_of(_OURS)
    if spec is None:
        return AgentTables()
    return AgentTables(
        turns=spec.turns,
        tools=spec.tools,
        fork=spec.fork,
        labels=spec.labels,
        notices=spec.notices,
        volatile=spec.volatile,
    )


@cache
def name_of_agent(name: str) -> str:
    """An agent's name for people, by its id, its format, or the adapter that recorded it; else the name as given."""
    spec = _spec_of(name)
    if spec is None:
        agents = (each.agent for each in _specs())
        return next((agent.name for agent in agents if agent.id == name), name)
    return str(spec.adapters.get(name, spec.agent.name))


@cache
def format_points() -> Mapping[str, tuple[EntryPoint, ...]]:
    """The entry points of all formats, by name in alphabetical order: read once, because that takes a while."""
    from importlib.metadata import entry_points  # slow to import, and not every command looks for a format

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=GROUP), key=_order):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


def _order(point: EntryPoint) -> tuple[str, bool, str]:
    """By name; of several with one name ours is first, so that no package can replace a format of ours."""
    return point.name, not is_ours(point), point.value


def is_ours(point: EntryPoint) -> bool:
    """Whether a format is part of Stenograph."""
    return point.value.startswith(_OUR_MODULES)


def _spec_of(name: str) -> Any:
    """The format of that name, else the one that an adapter of that name records."""
    spec = _loaded(name)
    return spec if spec is not None else next((each for each in _specs() if name in each.adapters), None)


@cache
def _specs() -> tuple[Any, ...]:
    """Every format: needed only for a name that is not a format's."""
    return tuple(spec for name in format_points() if (spec := _loaded(name)) is not None)


def _loaded(name: str) -> Any:
    """The first entry point of that name that provides a format; None where none does."""
    for point in format_points().get(name, ()):
        with suppress(Exception, SystemExit):  # whatever another package does when it is imported
            spec = point.load()
            if getattr(spec, "name", None) == name and isinstance(spec.agent, Agent):
                return spec
    return None
