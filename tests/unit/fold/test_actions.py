"""What a call does, by the tables that the formats bring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from golden_cases import CASES, name_of
from stenograph.fold.actions import KINDS, Action, Change, InputPlace, action, patch_changes, shell_texts
from stenograph.fold.agent_tables import tables_of
from stenograph.fold.calls import pair_calls
from stenograph.formats.registry import formats
from stenograph.model import Event, Origin, ToolPayload, decode

HOSTS_OWN = ("mcp__", "tiny__")
"""Tools of MCP servers: nobody's table can name them."""
TITLES = {"list files", "task", "missing_read", "no_such_tool"}
"""A title that the Agent Client Protocol tells for a name, a tool that a program of the OTLP cases made itself, and
tools that models asked for although there are none."""


def call(name: str, given: Any, adapter: str = "claude_code") -> Event:
    payload = ToolPayload(name=name, call_id="c", input=given, output=None, fidelity="agent_emitted")
    return _event("tool.call", payload, adapter)


def done(
    name: str, given: Any, output: Any = None, *, error: str | None = None, adapter: str = "claude_code"
) -> Action:
    result = ToolPayload(name="", call_id="c", input=None, output=output, error=error, fidelity="agent_emitted")
    (pair,) = pair_calls([call(name, given, adapter), _event("tool.result", result, adapter)])
    return action(pair)


def _event(type: str, payload: ToolPayload, adapter: str) -> Event:
    return Event(
        seq=1,
        run_id="r",
        type=type,
        path="",
        iteration=0,
        timestamp="",
        origin=Origin(adapter=adapter),
        payload=payload,
    )


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_every_tool_that_was_seen_is_in_a_table(case: Path) -> None:
    """With its kind, or as `other` on purpose; and whatever kind needs a command or a path finds it."""
    for pair in pair_calls(map(decode, (case / "expected.jsonl").read_bytes().splitlines())):
        if pair.call is None or pair.name.startswith(HOSTS_OWN) or pair.name in TITLES:
            continue
        origin = pair.call.origin
        assert pair.name in tables_of(None if origin is None else origin.adapter).tools, pair.name
        does = action(pair)
        assert does.kind in KINDS
        given = pair.call.payload.input
        if does.kind == "shell":
            assert does.command or not given or "wrong_param" in given
        if does.kind in ("write", "edit"):
            assert does.changes or not given
            assert all(change.path for change in does.changes)
            assert {change.path for change in does.changes} <= set(does.paths)


def test_every_format_brings_tools_of_known_kinds() -> None:
    """Also those that others install."""
    for spec in formats().values():
        assert {tool.kind for tool in spec.tools.values()} <= set(KINDS)


def test_a_tool_that_no_table_names_is_other() -> None:
    """Nothing is guessed from what it was given."""
    assert action(call("mystery", {"command": "rm -rf /", "path": "/"})) == Action(kind="other")
    assert action(_event("system.event", call("Bash", {}).payload, "nobody")).kind == "shell"


@pytest.mark.parametrize(
    ("adapter", "name", "given", "command"),
    [
        ("claude_code", "Bash", {"command": "ls"}, "ls"),
        ("claude_agent_sdk", "Bash", {"command": "ls"}, "ls"),
        ("codex_rollout", "shell", {"command": ["bash", "-lc", "ls | wc"]}, "ls | wc"),
        ("codex_rollout", "exec_command", {"cmd": "ls"}, "ls"),
        ("codex_rollout", "exec", "await run()", "await run()"),
        ("gemini_cli", "run_shell_command", {"command": "ls"}, "ls"),
        ("copilot_cli", "bash", {"command": "ls"}, "ls"),
        ("opencode", "bash", {"command": "ls"}, "ls"),
        ("acp", "execute", {"command": "ls"}, "ls"),
        ("stenograph", "command", {"command": "ls"}, "ls"),
    ],
)
def test_commands(adapter: str, name: str, given: Any, command: str) -> None:
    """By the name that each agent gives them."""
    does = action(call(name, given, adapter))
    assert (does.kind, does.command, does.paths) == ("shell", command, ())


@pytest.mark.parametrize(
    ("adapter", "name", "output", "error", "code"),
    [
        ("claude_code", "Bash", "Exit code 3\nout", "Exit code 3\nout", 3),
        ("claude_code", "Bash", "fine", None, None),
        ("claude_code", "Bash", "it said: Exit code 3", None, None),
        ("codex_rollout", "exec_command", "Chunk ID: 1\nProcess exited with code 0\nOutput:\n", None, 0),
        ("codex_rollout", "shell", '{"output": "x", "metadata": {"exit_code": 2}}', None, 2),
        ("codex_app_server", "commandExecution", "oops", "exit code 3", 3),
        ("copilot_cli", "bash", "out\n<shellId: 0 completed with exit code 4>", None, 4),
        ("opencode", "bash", {"output": "x", "exit": 3}, None, 3),
        ("acp", "execute", {"contents": [{"type": "shell_exit", "exitCode": 3}]}, None, 3),
        ("gemini_cli", "run_shell_command", "Output: x\nExit Code: 5\n", None, 5),
    ],
)
def test_exit_codes(adapter: str, name: str, output: Any, error: str | None, code: int | None) -> None:
    """As the result tells them; never guessed."""
    assert done(name, {"command": "x"}, output, error=error, adapter=adapter).exit_code == code


@pytest.mark.parametrize(
    ("adapter", "name", "given", "places"),
    [
        ("claude_code", "Bash", {"command": "ls", "description": "list"}, {("command",)}),
        ("claude_code", "Read", {"command": "ls"}, set()),
        ("codex_rollout", "shell", {"command": ["bash", "-lc", "ls"]}, {("command", 2)}),
        ("codex_rollout", "shell", {"command": ["/bin/sh", "-c", "ls"]}, {("command", 2)}),
        ("codex_rollout", "shell", {"command": ["python3", "-c", "1"]}, set()),
        ("codex_rollout", "shell", {"command": ["ls", "-l"]}, set()),
        ("codex_rollout", "shell", "ls", {()}),
        ("cline", "run_commands", {"commands": ["ls", {"command": "ls", "args": []}]}, {("commands", 0)}),
        ("cline", "run_commands", {"commands": 1}, set()),
    ],
)
def test_what_a_shell_reads(adapter: str, name: str, given: Any, places: set[InputPlace]) -> None:
    """A command line, and the script of a shell that is called with words; other words it does not read."""
    assert shell_texts(tables_of(adapter).tools[name], given) == places


def test_changes_of_one_file() -> None:
    """The old and the new text, with how many lines they differ by."""
    edit = done("Edit", {"file_path": "a.py", "old_string": "one\ntwo\n", "new_string": "one\n2\n3\n"})
    assert edit.changes == (Change(path="a.py", kind="edit", old="one\ntwo\n", new="one\n2\n3\n"),)
    assert edit.changes[0].lines == (2, 1)
    write = done("Write", {"file_path": "a.py", "content": "x\ny\n"})
    assert (write.kind, write.changes[0].kind, write.changes[0].lines) == ("write", "write", (2, 0))
    several = done("MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}] * 2})
    assert (len(several.changes), several.paths) == (2, ("a",))


def test_a_patch_changes_several_files() -> None:
    """In Codex' own form and in unified diffs."""
    patch = (
        "*** Begin Patch\n*** Add File: a\n+x\n+y\n*** Update File: b\n*** Move to: c\n@@\n-old\n+new\n"
        "*** Delete File: d\n*** End Patch\n"
    )
    changes = done("apply_patch", patch, adapter="codex_rollout").changes
    assert [(each.path, each.kind, each.lines) for each in changes] == [
        ("a", "write", (2, 0)),
        ("c", "move", (1, 1)),
        ("d", "delete", (0, 0)),
    ]
    diff = (
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-1\n+1\n+2\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
    )
    assert [
        (each.path, each.kind) for each in patch_changes(diff.replace("--- a/y", "diff --git a/y b/y\n--- a/y"))
    ] == [
        ("x", "edit"),
        ("y", "delete"),
    ]
    listed = {"changes": [{"path": "a", "kind": {"type": "add"}, "diff": "x\n"}, {"path": "b", "kind": "update"}]}
    changes = done("fileChange", listed, adapter="codex_app_server").changes
    assert [(each.path, each.kind) for each in changes] == [("a", "write"), ("b", "edit")]


@pytest.mark.parametrize("given", [None, [], "text", 3, {"edits": 4}, {"file_path": 7}, {"changes": [None, {}]}])
def test_garbage_never_raises(given: Any) -> None:
    """An agent may write anything."""
    for name in ("Bash", "Edit", "Write", "Read", "apply_patch"):
        assert done(name, given, given).kind in KINDS
