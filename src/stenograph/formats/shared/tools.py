"""Tables of tools, `FormatSpec.tools`, by the names under which they are called.

A table also names tools of kind `other`: each was seen, and has none of the other kinds.
"""

from __future__ import annotations

from stenograph.fold import actions
from stenograph.fold.agent_tables import Tool

Tools = dict[str, Tool]


def tools(kind: str, names: str) -> Tools:
    """Tools of one kind, by their names with blanks between."""
    return dict.fromkeys(names.split(), Tool(kind=kind))


def editors(names: str) -> Tools:
    """Tools of these names, separated by blanks, that show a file when their command is `view`, and change it else."""
    return dict.fromkeys(names.split(), Tool(kind=actions.EDIT, reads_if=("command", "view")))


def shells(names: str, exit_code: str) -> Tools:
    """Tools that run a command, with the regular expression that finds the exit code in a result."""
    return {name: Tool(kind=actions.SHELL, exit_code=exit_code) for name in names.split()}
