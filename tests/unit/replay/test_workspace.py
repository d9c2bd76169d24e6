"""Which recorded calls would reach out of the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stenograph.fold.exchange import Call
from stenograph.replay.workspace import command_paths, describe, paths_outside


def _outside(tmp_path: Path, name: str, given: Any, *, adapter: str = "claude_code", **more: Any) -> list[str]:
    call = Call(seq=1, call_id="c", name=name, input=given)
    return [each.path for each in paths_outside([call], adapter, str(tmp_path), **more)]


@pytest.mark.parametrize(
    "command",
    [
        "ls -la src/a.py ./b",
        "sed -i 's/foo/bar/' a.txt",
        "make test 2>/dev/null >&2",
        "/usr/bin/python3 run.py; /bin/ls .",
        "curl https://example.org/a/b",
        "git diff HEAD~1..main",
        "cat src/../a.txt",
    ],
)
def test_commands_that_stay(tmp_path: Path, command: str) -> None:
    """Paths below the folder, programs, devices, addresses."""
    assert _outside(tmp_path, "Bash", {"command": command}) == []


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("cat /etc/passwd", "/etc/passwd"),
        ("echo x >/etc/x", "/etc/x"),
        ("rm -rf ~/src", "~/src"),
        ('rm -rf "$HOME/src"', "$HOME/src"),
        ("cd .. && rm x", ".."),
        ("cp a ../b", "../b"),
        ("cat src/../../x", "src/../../x"),
        ("tool --out=/var/x", "/var/x"),
        ("bash -c 'rm -rf /srv/data'", "/srv/data"),
        ("rm /usr/bin/python3", "/usr/bin/python3"),
    ],
)
def test_commands_that_leave(tmp_path: Path, command: str, path: str) -> None:
    """Absolute paths, the home folder, and upwards."""
    assert _outside(tmp_path, "Bash", {"command": command}) == [path]


def test_files_that_calls_name(tmp_path: Path) -> None:
    """By the table of the agent's tools, patches included."""
    assert _outside(tmp_path, "Write", {"file_path": str(tmp_path / "a"), "content": "/etc/x"}) == []
    assert _outside(tmp_path, "Write", {"file_path": "/etc/x", "content": ""}) == ["/etc/x"]
    patch = "*** Begin Patch\n*** Add File: ../x.txt\n+a\n*** End Patch\n"
    assert _outside(tmp_path, "apply_patch", patch, adapter="codex_rollout") == ["../x.txt"]
    given = {"cmd": "ls", "workdir": "/srv"}
    assert _outside(tmp_path, "exec_command", given, adapter="codex_rollout") == ["/srv"]


def test_a_link_out_of_the_workspace_leaves_it(tmp_path: Path) -> None:
    """Where a path really leads counts."""
    (tmp_path / "link").symlink_to("/etc")
    assert _outside(tmp_path, "Read", {"file_path": str(tmp_path / "link" / "passwd")}) == [
        str(tmp_path / "link" / "passwd")
    ]


def test_tools_that_no_table_knows(tmp_path: Path) -> None:
    """Every value that looks like a path out of the workspace is one."""
    assert _outside(tmp_path, "mcp__x__put", {"where": ["/srv/x"], "text": "a / b"}) == ["/srv/x"]


def test_folders_that_are_allowed(tmp_path: Path) -> None:
    """What the user maps to may be used."""
    other = tmp_path / "other"
    inside = tmp_path / "inside"
    given = {"command": f"ls {other}/x"}
    assert _outside(inside, "Bash", given) == [f"{other}/x"]
    assert _outside(inside, "Bash", given, allowed=[str(other)]) == []


@pytest.mark.parametrize(
    ("command", "outside"),
    [
        ("cat W\\ X/a.txt; cat 'W X/b c.txt' \"W X\"", []),
        (r"bash -c 'cat W\ X/a.txt'", []),
        (r"cat W\ X/../a.txt", ["W X/../a.txt"]),
        (r"cat W\ X/a.txt W\ Xs/b.txt", ["W Xs/b.txt"]),
        ("cat W X/a.txt", ["W"]),
        ("ssh host 'rm -r W X/a.txt'", ["W"]),
        (["cat", "W X/a.txt"], []),
        (["bash", "-lc", r"cat W\ X/a.txt /etc/x"], ["/etc/x"]),
        (["ssh", "host", "rm -r W X/a.txt"], ["W"]),
    ],
)
def test_a_workspace_whose_name_has_blanks(tmp_path: Path, command: str | list[str], outside: list[str]) -> None:
    """Its paths are recognized as a shell reads them, and others are not taken for them."""
    begin = str(tmp_path / "my")

    def here(text: str) -> str:
        return text.replace("W", begin).replace("X", "work")

    given = here(command) if isinstance(command, str) else [here(word) for word in command]
    found = _outside(tmp_path / "my work", "shell", {"command": given}, adapter="codex_rollout")
    assert found == [here(path) for path in outside]


def test_a_call_on_one_line() -> None:
    """For a person who decides."""
    bash = Call(seq=1, call_id="c", name="Bash", input={"command": "ls\nrm -rf x"})
    assert "\n" not in describe(bash, "claude_code")
    assert describe(bash, "claude_code").startswith("Bash: ls")
    read = Call(seq=1, call_id="c", name="Read", input={"file_path": "/a"})
    assert describe(read, "claude_code") == "Read: /a"


@pytest.mark.parametrize("tool_input", [{}, {"command": "ls"}, {"file_path": "/a"}])
def test_a_name_cannot_hide_what_would_run(tool_input: dict[str, str]) -> None:
    """A terminal obeys nothing in a question, or the list of calls could be wiped out by one of them."""
    call = Call(seq=1, call_id="c", name="\x1b[2J\x9bRead\u202e\r\n", input=tool_input)
    assert describe(call, "claude_code").startswith("␛[2J\\x9bRead\\u202e␊")


def test_texts_of_programs_are_read_as_far_as_they_can_be() -> None:
    """An absolute path in any text counts: it is better to ask once more."""
    assert list(command_paths("python -c 'open(\"/etc/x\")'")) == ["/etc/x"]
