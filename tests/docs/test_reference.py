"""The reference is complete: what the code has, the pages name, and what the pages name, the code has."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
import msgspec
import pytest

import stenograph
import stenograph.errors
import stenograph.journal
import stenograph.model
import stenograph.transcript
from stenograph.cli import COMMANDS, cli
from stenograph.fold import RunNode, StepNode
from stenograph.journal import verify
from stenograph.model import EVENT_TYPES, Block, Event, Origin, Payload, UnknownBlock, decode, encode
from stenograph.model.event import PAYLOAD_TYPES
from stenograph.transcript import EntryType, Role, TranscriptEntry

REPO = Path(__file__).parents[2]
REFERENCE = REPO / "docs" / "reference"


def _page(name: str) -> str:
    return (REFERENCE / name).read_text()


def _section(page: str, heading: str) -> str:
    """What stands under a heading, up to the next one of its rank or above."""
    found = re.search(rf"^(#+) {re.escape(heading)}$", page, re.MULTILINE)
    assert found is not None, f"there is no heading {heading!r}"
    rest = page[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest if end is None else rest[: end.start()]


def _first_cells(section: str) -> set[str]:
    """Every word in backticks in the first cell of a table's rows."""
    return {
        word for row in re.findall(r"^\|([^|]+)\|", section, re.MULTILINE) for word in re.findall(r"`([^`]+)`", row)
    }


def _fields(kind: Any) -> set[str]:
    return {field.name for field in msgspec.structs.fields(kind)} - {"extra"}


# The command line


def _commands() -> list[tuple[str, click.Command]]:
    context = click.Context(cli)
    found = [(name, cli.get_command(context, name)) for name in cli.list_commands(context)]
    return [(name, command) for name, command in found if command is not None]


def _spellings(command: click.Command) -> set[str]:
    options = [param for param in command.get_params(click.Context(command)) if isinstance(param, click.Option)]
    return {spelling for option in options for spelling in option.opts + option.secondary_opts} | {"-h"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_documented_and_no_other(name: str) -> None:
    """The table of a command lists its options, each spelling of them, and nothing that does not exist."""
    command = dict(_commands())[name]
    listed = {cell.split()[0] for cell in _first_cells(_section(_page("cli.md"), f"steno {name}")) if cell[0] == "-"}
    assert listed == _spellings(command)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_documents_its_exit_codes(name: str) -> None:
    """A script relies on exit codes, so each command says which ones it has."""
    assert re.search(r"^Exit codes: 0 ok", _section(_page("cli.md"), f"steno {name}"), re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_values_of_a_choice_are_documented(name: str) -> None:
    """Where an option takes one of a few words, the page has all of them."""
    section = _section(_page("cli.md"), f"steno {name}")
    for param in dict(_commands())[name].params:
        for choice in param.type.choices if isinstance(param.type, click.Choice) else ():
            assert f"`{choice}`" in section


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_in_its_help(name: str) -> None:
    """`--help` ends with a line that one can copy."""
    assert (dict(_commands())[name].epilog or "").startswith(f"Example: steno {name}")


def test_the_page_has_no_command_that_does_not_exist() -> None:
    """A command that was removed leaves the page, too."""
    assert set(re.findall(r"^## steno (\S+)$", _page("cli.md"), re.MULTILINE)) == set(COMMANDS)


def test_the_options_of_steno_itself_are_documented() -> None:
    """`--version` and help stand before the commands."""
    head = _page("cli.md").partition("\n## ")[0]
    assert _first_cells(head) == _spellings(cli)


def test_every_kind_of_finding_is_documented() -> None:
    """What `steno verify` can say, its page explains, and nothing else."""
    source = Path(verify.__file__).read_text()
    kinds = set(re.findall(r'(?:_note\(\s*|yield )"(\w+)"', source)) | set(verify._END_TEXTS)
    listed = {cell for cell in _first_cells(_section(_page("cli.md"), "steno verify")) if cell[0] != "-"}
    assert len(kinds) > 10
    assert listed == kinds


# Events


def test_every_field_of_the_envelope_is_documented() -> None:
    """The table of the envelope is the fields of `Event`, in the order in which they are written."""
    rows = re.findall(r"^\| `(\w+)` \|", _section(_page("events.md"), "The envelope"), re.MULTILINE)
    assert rows == [field.name for field in msgspec.structs.fields(Event) if field.name != "extra"]


def test_every_field_of_an_origin_is_documented() -> None:
    """The table of the origin is the fields of `Origin`, in their order."""
    rows = re.findall(r"^\| `(\w+)` \|", _section(_page("events.md"), "Origin"), re.MULTILINE)
    assert rows == [field.name for field in msgspec.structs.fields(Origin) if field.name != "extra"]


def test_every_event_type_is_documented_with_its_payload() -> None:
    """The table of types is the closed vocabulary, each with the payload that it carries."""
    rows = re.findall(r"^\| `([\w.]+)` \|.*\| \[(\w+)\]", _section(_page("events.md"), "Types"), re.MULTILINE)
    assert rows == [(name, kind.__name__) for name, kind in PAYLOAD_TYPES.items()]


@pytest.mark.parametrize("kind", get_args(Payload), ids=lambda kind: kind.__name__)
def test_every_field_of_a_payload_is_documented(kind: type[msgspec.Struct]) -> None:
    """The table of a payload is its fields, in their order, and says which are always written."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+)", _section(_page("events.md"), kind.__name__), re.MULTILINE)
    fields = [field for field in msgspec.structs.fields(kind) if field.name != "extra"]
    assert rows == [(field.name, "always" if field.required else "when") for field in fields]


@pytest.mark.parametrize(
    "kind", [kind for kind in get_args(Block) if kind is not UnknownBlock], ids=lambda kind: kind.__name__
)
def test_every_field_of_a_block_is_documented(kind: type[msgspec.Struct]) -> None:
    """The row of a block names its tag and its fields, in their order."""
    section = _section(_page("events.md"), "Blocks")
    row = re.search(rf"^\| `{kind.__struct_config__.tag}` \| ([^|]+) \|", section, re.MULTILINE)
    assert row is not None
    assert re.findall(r"`(\w+)`", row[1]) == [
        field.name for field in msgspec.structs.fields(kind) if field.name not in ("extra", "fidelity")
    ]


def _examples() -> list[bytes]:
    blocks = re.findall(r"^```json\n(.*?)^```$", _page("events.md"), re.MULTILINE | re.DOTALL)
    return [line.encode() for block in blocks for line in block.splitlines()]


def test_every_event_type_has_an_example() -> None:
    """Whoever writes a reader finds one line of each type to try it on."""
    assert {json.loads(line)["type"] for line in _examples()} == set(EVENT_TYPES)


def test_the_examples_are_events_as_we_write_them() -> None:
    """Each line on the page is, byte for byte, what the codec makes of it, and nothing in it is foreign."""
    for line in _examples():
        event = decode(line)
        assert encode(event) == line
        assert event.extra is None
        assert event.payload.extra is None
        assert event.seq > 0


def test_every_entry_type_and_field_is_documented() -> None:
    """The section on entries has the nine types, the four roles and every field that an entry has in JSON."""
    section = _section(_page("events.md"), "Entries")
    for word in get_args(EntryType):
        assert f"`{word}`" in section
    for word in get_args(Role):
        assert re.search(rf"\b{word}\b", section)
    internal = {"timestamp_text", "run_id", "given_id"}
    assert {field.name for field in dataclasses.fields(TranscriptEntry)} - internal <= _first_cells(section)


# The Python API


MODULES = [stenograph, stenograph.model, stenograph.transcript]
RESULTS = [
    stenograph.journal.Finding,
    stenograph.journal.JournalReport,
    stenograph.journal.RecorderStats,
    stenograph.journal.Repair,
    stenograph.journal.SubscriberStats,
    RunNode,
    StepNode,
]
GIVEN = {
    stenograph.Run,
    stenograph.Step,
    stenograph.Subscription,
    stenograph.journal.Follower,
    stenograph.journal.JournalReader,
    stenograph.journal.ToolCall,
}
"""Classes whose values we hand out; nobody calls their constructors."""


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_is_documented(module: Any) -> None:
    """Each name of `__all__` has a heading, or stands in backticks as a value or an exception."""
    page = _page("api.md")
    for name in module.__all__:
        assert re.search(rf"^### {name}$|`{name}[(`]", page, re.MULTILINE), name


def _signature(name: str, function: Any) -> str:
    parts: list[str] = []
    is_struct = isinstance(function, type) and issubclass(function, msgspec.Struct)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in ("self", "cls") or (is_struct and parameter.name == "extra"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts and not is_struct:
            parts.append("*")
        if parameter.default is parameter.empty:
            parts.append(parameter.name)
        else:
            default = repr(parameter.default)
            default = "{}" if default == "<factory>" else default
            parts.append(f"{parameter.name}={default}".replace("'", '"'))
    return f"{name}({', '.join(parts)})"


def _callables() -> Iterator[tuple[str, Any]]:
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            is_error = inspect.isclass(value) and issubclass(value, Exception)
            if inspect.isfunction(value) or (inspect.isclass(value) and not is_error and value not in GIVEN):
                yield name, value


@pytest.mark.parametrize(("name", "value"), [pytest.param(*pair, id=pair[0]) for pair in dict(_callables()).items()])
def test_every_signature_is_shown_as_it_is(name: str, value: Any) -> None:
    """Names, order and defaults of the parameters on the page are those of the code."""
    if value is stenograph.model.Value:
        return  # a base; nobody builds one
    assert f"`{_signature(name, value)}`" in _page("api.md")


CLASSES = [*sorted(GIVEN, key=lambda kind: kind.__name__), stenograph.Recorder, stenograph.TranscriptEntry]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_public_member_of_a_class_is_documented(kind: type) -> None:
    """Methods stand in the section of their class with their signature, properties with their name."""
    page = _page("api.md")
    section = _section(page, kind.__name__)
    if kind is stenograph.Step:
        section += _section(page, "Run")  # they share their methods
    internal = {"placed"}
    for name, member in inspect.getmembers(kind):
        if name.startswith("_") or name in internal:
            continue
        if inspect.isfunction(member) or inspect.ismethod(member):
            assert f"`{_signature(name, member)}`" in section
        elif isinstance(member, property):
            assert f"`{name}`" in section


@pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)
def test_every_field_of_a_result_is_documented(kind: type) -> None:
    """The table of a result is its fields."""
    assert _first_cells(_section(_page("api.md"), kind.__name__)) == _fields(kind)


# Environment and errors


def test_every_environment_variable_is_documented() -> None:
    """A variable that the source reads has a row, and a row has a variable that the source reads."""
    sources = [path.read_text() for path in (REPO / "src").rglob("*.py")]
    read = {name for text in sources for name in re.findall(r"\bSTENOGRAPH_[A-Z]+\b", text)}
    listed = _first_cells(_page("environment.md"))
    assert {name for name in listed if name.startswith("STENOGRAPH_")} == read
    assert "NO_COLOR" in listed


def _exceptions() -> list[type[Exception]]:
    return [getattr(stenograph.errors, name) for name in stenograph.errors.__all__]


def test_every_exception_is_documented_with_its_exit_code() -> None:
    """The table has each exception once, with the code that the command line returns for it."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| (\d+) \|", _page("errors.md"), re.MULTILINE)
    assert sorted(rows) == sorted((kind.__name__, str(kind.exit_code)) for kind in _exceptions())  # type: ignore[attr-defined]


def test_the_tree_of_exceptions_is_the_one_in_the_code() -> None:
    """The page shows the tree that stands at the top of the module."""
    drawn = re.search(r"^```text\n(.*?)^```$", _page("errors.md"), re.MULTILINE | re.DOTALL)
    assert drawn is not None
    assert inspect.cleandoc(drawn[1]) in inspect.cleandoc(stenograph.errors.__doc__ or "").replace("\n    ", "\n")


def test_the_drawn_tree_is_true() -> None:
    """Parents and builtins in the drawing are the bases of the classes."""
    parents: list[str] = []
    for line in (stenograph.errors.__doc__ or "").splitlines():
        found = re.match(r" {4}([│ ├└─]*)(\w+)(?: \((\w+)\))?(?: {2,}|$)", line)
        if found is None or not hasattr(stenograph.errors, found[2]):
            continue
        kind = getattr(stenograph.errors, found[2])
        depth = len(found[1]) // 4
        parents[depth:] = [found[2]]
        bases = [base.__name__ for base in kind.__bases__]
        assert bases == [parents[depth - 1] if depth else "Exception", *([found[3]] if found[3] else [])]
