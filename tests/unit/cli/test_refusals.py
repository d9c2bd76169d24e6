"""A file that no agent we know wrote is refused by every command that takes RUN|PATH, in the same words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from stenograph.cli.program import cli
from stenograph.runs.target import is_bundle, is_journal
from stenograph.sources.detection import detect_file
from strategies import RUN_ID, examples

TARGET = "RUN|PATH"
NEEDED = {"export": ["--to", "atif"], "restore": ["restored"], "diff": [TARGET]}
"""What a command must be given beside a target."""
NAMES = (f"{RUN_ID}.jsonl", "session.json", "events.jsonl", "chat.md", "store.db", "stdout", "rollout-1.jsonl")


def _commands() -> Iterator[list[str]]:
    """The words of every command that takes a run or a path, as the program itself lists them."""
    context = click.Context(cli)
    pending: list[tuple[list[str], click.Command]] = [([], cli)]
    while pending:
        words, command = pending.pop()
        if isinstance(command, click.Group):
            names = command.list_commands(context)
            pending += [([*words, name], found) for name in names if (found := command.get_command(context, name))]
        elif any(isinstance(each, click.Argument) and TARGET in (each.metavar or "") for each in command.params):
            yield words


COMMANDS = sorted(_commands())


def _unknown() -> st.SearchStrategy[bytes]:
    """Contents of files: records of an agent that nobody knows, prose, bytes."""
    names = st.sampled_from(["type", "role", "message", "uuid", "sessionId", "parts", "timestamp", "id", "seq", "kind"])
    values = st.one_of(st.none(), st.integers(), st.sampled_from(["user", "system", "hi", RUN_ID]), st.just({"a": [1]}))
    records = st.lists(st.dictionaries(names, values, max_size=5), min_size=1, max_size=4)
    lines = records.map(lambda each: "".join(json.dumps(record) + "\n" for record in each).encode())
    documents = records.map(lambda each: json.dumps(each[0] | {"more": each}, indent=2).encode())
    prose = st.text(min_size=1, max_size=60).map(str.encode)
    return st.one_of(lines, lines, documents, prose, st.binary(min_size=1, max_size=80))


def test_the_commands_are_found() -> None:
    """The list is made by the program, so a new command is held to it, too; it has those that everybody knows."""
    names = {" ".join(words) for words in COMMANDS}
    assert {"show", "tail", "tree", "convert", "verify", "export", "bundle create", "diff", "explain", "files"} <= names


@settings(examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture, *examples(1).suppress_health_check])
@given(data=_unknown(), name=st.sampled_from(NAMES))
def test_an_unknown_file_is_refused_by_every_command_alike(steno: Any, data: bytes, name: str) -> None:
    """Whatever is in it and whatever it is called: one line that names it, exit code 3, nothing printed or made."""
    with TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        folder = Path(scratch)
        patch.chdir(folder)
        patch.setenv("STENOGRAPH_HOME", str(folder / "archive"))
        path = folder / name
        path.write_bytes(data)
        assume(detect_file(path).spec is None and not is_journal(path) and not is_bundle(path))
        refusal = f"steno: {path} is not in a known format; steno formats lists them\n"
        for words in COMMANDS:
            more = [str(path) if word == TARGET else word for word in NEEDED.get(words[-1], [])]
            done = steno(*words, path, *more)
            assert (words, done.code, done.out, done.err) == (words, 3, "", refusal)
        assert list(folder.iterdir()) == [path]


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_file_is_not_waited_for(steno: Any, tmp_path: Path, name: str) -> None:
    """`steno collect` waits for a file that is not there yet, and not for lines that no format knows."""
    path = tmp_path / name
    path.write_text('{"type":"user","content":"hi"}\n', "utf-8")
    done = steno("collect", path, "--root", tmp_path / "storage")
    assert (done.code, done.out) == (3, "")
    assert done.err == f"steno: {path} is not in a known format; steno formats lists them\n"


def test_detect_says_that_it_is_unknown(steno: Any, tmp_path: Path) -> None:
    """The one command whose answer this is prints it, with exit code 1."""
    path = tmp_path / NAMES[0]
    path.write_text('{"type":"user","content":"hi"}\n', "utf-8")
    done = steno("detect", path)
    assert (done.code, done.out) == (1, f"{path}: unknown\n")
