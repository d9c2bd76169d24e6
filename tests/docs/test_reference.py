"""The reference is complete: what the code has, the pages name, and what the pages name, the code has."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import io
import json
import logging
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
import msgspec
import pytest

import stenograph
import stenograph.bundle
import stenograph.errors
import stenograph.formats
import stenograph.model
import stenograph.session
import stenograph.transcript
from stenograph.cli import COMMANDS
from stenograph.cli.program import cli
from stenograph.fold.tree import RunNode, StepNode
from stenograph.formats.registry import formats
from stenograph.journal import fanout, follow, reader, recorder, repair, tool_call, verify
from stenograph.logs import JsonFormatter, TranscriptEmitter
from stenograph.model import EVENT_TYPES, Block, Event, Origin, Payload, UnknownBlock, decode, encode
from stenograph.model.event import PAYLOAD_TYPES
from stenograph.runs.following import Following
from stenograph.runs.problem import Problem
from stenograph.transcript import EntryType, Role, TranscriptEntry, reconstruct_transcript

REPO = Path(__file__).parents[2]
REFERENCE = REPO / "docs" / "reference"
SOURCE = REPO / "src" / "stenograph"


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


def _commands() -> dict[str, click.Command]:
    """Every command by what a person types after `steno`, those inside a group included."""
    return dict(_inside(cli, ""))


def _inside(group: click.Group, before: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from _inside(command, f"{before}{name} ")


NAMES = sorted(_commands())


def _spellings(command: click.Command) -> set[str]:
    context = click.Context(command, help_option_names=["-h", "--help"])  # click keeps the option that is made first
    options = [param for param in command.get_params(context) if isinstance(param, click.Option)]
    return {spelling for option in options for spelling in option.opts + option.secondary_opts}


def _command_section(name: str) -> str:
    """What the page says of a command itself, without the commands inside it."""
    return re.split(r"^### steno ", _section(_page("cli.md"), f"steno {name}"), maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_option_of_a_command_is_documented_and_no_other(name: str) -> None:
    """The table of a command lists its options, each spelling of them, and nothing that does not exist."""
    listed = {cell.split()[0] for cell in _first_cells(_command_section(name)) if cell[0] == "-"}
    assert listed == _spellings(_commands()[name])


@pytest.mark.parametrize("name", NAMES)
def test_every_command_documents_its_exit_codes(name: str) -> None:
    """A script relies on exit codes, so each command says which ones it has."""
    is_group = isinstance(_commands()[name], click.Group)  # those inside have them
    assert is_group or re.search(r"^Exit codes: 0 ok", _command_section(name), re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_the_values_of_a_choice_are_documented(name: str) -> None:
    """Where an option takes one of a few words, the page has all of them."""
    section = _command_section(name)
    for param in _commands()[name].params:
        for choice in param.type.choices if isinstance(param.type, click.Choice) else ():
            assert f"`{choice}`" in section


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_an_example_in_its_help(name: str) -> None:
    """`--help` ends with a line that one can copy."""
    assert (_commands()[name].epilog or "").startswith(f"Example: steno {name}")


def test_the_page_has_no_command_that_does_not_exist() -> None:
    """A command that was removed leaves the page, too, and every one that can be typed is there."""
    assert sorted(re.findall(r"^#{2,3} steno (.+)$", _page("cli.md"), re.MULTILINE)) == NAMES
    assert {name for name in NAMES if " " not in name} == set(COMMANDS)


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


MODULES = [stenograph, stenograph.bundle, stenograph.model, stenograph.transcript]
RESULTS = [
    stenograph.bundle.BundleFile,
    stenograph.bundle.BundleFinding,
    stenograph.bundle.BundleOptions,
    stenograph.bundle.BundleReport,
    stenograph.bundle.Counts,
    stenograph.bundle.Manifest,
    stenograph.bundle.Retention,
    verify.Finding,
    verify.JournalReport,
    recorder.RecorderStats,
    repair.Repair,
    fanout.SubscriberStats,
    RunNode,
    StepNode,
    stenograph.RunInfo,
    Problem,
]
GIVEN = {
    stenograph.Export,
    stenograph.Archive,
    stenograph.RunReader,
    Following,
    stenograph.bundle.BundleFile,
    stenograph.bundle.BundleFinding,
    stenograph.bundle.BundleRecording,
    stenograph.bundle.BundleReport,
    stenograph.bundle.Counts,
    stenograph.bundle.DebugBundle,
    stenograph.bundle.Manifest,
    stenograph.Run,
    stenograph.Step,
    stenograph.Subscription,
    follow.Follower,
    reader.JournalReader,
    tool_call.ToolCall,
}
"""Classes whose values we hand out; nobody calls their constructors."""


LIVE = {
    "stenograph.logs": None,
    "stenograph.session": None,
    "stenograph.session.slices": None,
    "stenograph.adapters.claude_agent_sdk": None,
    "stenograph.adapters.codex_app_server": None,
    "stenograph.adapters.openai": None,
    "stenograph.adapters.litellm": None,
    "stenograph.adapters.opentelemetry": None,
    "stenograph.adapters.capture": ["Capture"],
    "stenograph.adapters.outputs": ["Outputs"],
    "stenograph.adapters.prompt": ["Prompt", "Response", "prompt_of"],
    "stenograph.adapters.tool": ["Tool", "result_text", "tool_of", "tools_of"],
    "stenograph.text_transcripts": ["ThreadTranscripts"],
}
"""The rooms of live.md, with what a user takes from those that have no `__all__`."""
NOT_CALLED = {"JsonFormatter", "Slice", "SliceAccessor", "SliceFactory", "SlicePolicy", "SliceView"}
"""Classes of live.md that nobody builds with arguments of ours: protocols, an enum, what is handed out."""


def _api() -> str:
    """Both pages of the Python API."""
    return _page("api.md") + _page("live.md")


def _live() -> dict[str, Any]:
    """Every name of live.md with its value."""
    found: dict[str, Any] = {}
    for room, names in LIVE.items():
        module = importlib.import_module(room)
        found |= {name: getattr(module, name) for name in names or module.__all__}
    return found


@pytest.fixture(scope="module")
def live() -> dict[str, Any]:
    """What live.md must describe; made when a test asks for it, since an SDK is loaded with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks the internet for prices
        return _live()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_name_is_documented(module: Any) -> None:
    """Each name of `__all__` has a heading, or stands in backticks as a value or an exception."""
    page = _api()
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
        if parameter.kind is parameter.VAR_KEYWORD:
            parts.append(f"**{parameter.name}")
        elif parameter.default is parameter.empty:
            parts.append(parameter.name)
        else:
            default = repr(parameter.default)
            default = _made_by_default(function, parameter.name) if default == "<factory>" else default
            parts.append(f"{parameter.name}={default}".replace("'", '"'))
    return f"{name}({', '.join(parts)})"


def _made_by_default(kind: Any, name: str) -> str:
    """What a field is when it is not given and something is made for it."""
    fields = msgspec.structs.fields(kind) if issubclass(kind, msgspec.Struct) else dataclasses.fields(kind)
    factory = next(field.default_factory for field in fields if field.name == name)
    return "{}" if factory is dict else f"{factory.__name__}()"


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
    assert f"`{_signature(name, value)}`" in _api()


def test_every_extra_is_documented_with_what_it_installs() -> None:
    """The table of extras is that of the package, the one for developers aside."""
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    extras = {name: needs for name, needs in project["optional-dependencies"].items() if name != "dev"}
    rows = re.findall(r"^\| `stenograph\[(\w+)\]` \|[^|]*\| (.*) \|$", _page("live.md"), re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(extras)
    for name, installs in rows:
        packages = {re.split(r"[<>=!~\[ ]", need)[0] for need in extras[name]}
        assert packages == set(re.findall(r"`([\w-]+)`", installs))


def test_live_capture_has_a_heading_for_every_public_name(live: dict[str, Any]) -> None:
    """The page of live capture describes what its rooms offer, each name once, and nothing else."""
    headings = re.findall(r"^### (\w+)$", _page("live.md"), re.MULTILINE)
    assert sorted(headings) == sorted(live)


def test_the_signatures_of_live_capture_are_shown_as_they_are(live: dict[str, Any]) -> None:
    """Functions and constructors, each in its own section."""
    page = _page("live.md")
    for name, value in live.items():
        if name not in NOT_CALLED and (inspect.isfunction(value) or inspect.isclass(value)):
            assert f"`{_signature(name, value)}`" in _section(page, name), name


def test_every_member_and_field_of_live_capture_is_documented(live: dict[str, Any]) -> None:
    """Methods stand in the section of their class with their signature, properties and fields with their name."""
    page = _page("live.md")
    for name, kind in live.items():
        if not inspect.isclass(kind):
            continue
        section = _section(page, name)
        for field in _plain_names(kind):
            assert re.search(rf"`(?:{name}\.)?{field}`", section), f"{name}.{field}"
        for method, member in inspect.getmembers(kind, inspect.isfunction):
            if not method.startswith("_") and _is_ours(member):
                assert f"`{_signature(method, member)}`" in section, f"{name}.{method}"


def _plain_names(kind: type) -> list[str]:
    """Fields, properties and the words of an enum."""
    properties = [name for name, member in inspect.getmembers(kind) if isinstance(member, property) and name[0] != "_"]
    if issubclass(kind, msgspec.Struct):
        return [*properties, *kind.__struct_fields__]
    if dataclasses.is_dataclass(kind):
        return [*properties, *(field.name for field in dataclasses.fields(kind))]
    return [word.name for word in kind] if issubclass(kind, enum.Enum) else properties


def _is_ours(function: Any) -> bool:
    """Whether a user calls it; what LiteLLM calls by its own names is not for people."""
    return function.__module__.startswith("stenograph") and not re.match(r"(async_)?log_", function.__name__)


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


_GIVEN = ("Context", "Report")
"""What a parser is given, and what it counts: not part of a description."""
FORMAT_VALUES = [
    kind
    for name, kind in inspect.getmembers(stenograph.formats, inspect.isclass)
    if issubclass(kind, msgspec.Struct) and name not in _GIVEN
]


@pytest.mark.parametrize("kind", FORMAT_VALUES, ids=lambda kind: kind.__name__)
def test_every_field_of_a_format_is_documented(kind: type[msgspec.Struct]) -> None:
    """The table of each value that a format is made of is its fields."""
    assert _first_cells(_section(_page("format-spec.md"), kind.__name__)) == set(kind.__struct_fields__)


def test_every_value_of_a_format_can_be_imported() -> None:
    """The page says where its names are; the exports of that package are its sections."""
    page = _page("format-spec.md").partition("## stenograph.testing")[0]
    assert set(re.findall(r"^### (\w+)$", page, re.MULTILINE)) <= set(stenograph.formats.__all__)


# Logs


def _log_examples() -> list[str]:
    found = re.search(r"^```json\n(.*?)^```$", _page("logs.md"), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1].splitlines()


@pytest.mark.parametrize("line", _log_examples(), ids=lambda line: json.loads(line)["context"]["adapter"])
def test_an_example_of_a_log_record_is_as_we_write_it(line: str) -> None:
    """Read back and logged again, the entry gives the very line, its moment of capture aside."""
    record = json.loads(line)
    (entry,) = reconstruct_transcript([line])
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonFormatter())
    logger = logging.Logger(record["logger"], logging.DEBUG)
    logger.addHandler(handler)
    emitter = TranscriptEmitter(prompt_name=entry.prompt_name, adapter=entry.adapter, logger=logger)
    emitter.evaluation_id = record["context"]["evaluation_id"]
    for _ in range(entry.sequence_number):
        emitter.emit_entry(entry)
    written = out.getvalue().splitlines()[-1]
    assert written.partition(",")[2] == line.partition(",")[2]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", record["timestamp"])


def test_every_field_of_a_log_record_is_documented() -> None:
    """The table of the record is what the formatter writes."""
    failure = (ValueError, ValueError("x"), None)
    record = logging.LogRecord("host", logging.ERROR, "file", 1, "message", (), failure, sinfo="stack")
    rows = re.findall(r"^\|([^|]+)\|", _section(_page("logs.md"), "A record"), re.MULTILINE)
    listed = [word for row in rows for word in re.findall(r"`(\w+)`", row)]
    assert listed == list(json.loads(JsonFormatter().format(record)))


def test_every_event_of_the_log_is_documented() -> None:
    """The table of events is what the source logs, with their levels."""
    sources = [path.read_text() for folder in ("logs", "adapters") for path in (SOURCE / folder).rglob("*.py")]
    logged = {name for text in sources for name in re.findall(r"""["'](transcript\.[a-z_.]+)["']""", text)}
    rows = re.findall(r"^\| `(transcript\.[\w.]+)` \| (\w+) \|", _section(_page("logs.md"), "Events"), re.MULTILINE)
    assert {name for name, _ in rows} == logged
    assert {name for name, level in rows if level != "DEBUG"} == {"transcript.error"}


def test_every_key_of_an_entrys_context_is_documented() -> None:
    """The table of the context is what an entry with everything set has in its record."""
    facts = dict.fromkeys(("session_id", "raw", "tool_name", "tool_call_id"), "x")
    entry = dataclasses.replace(
        reconstruct_transcript(_log_examples())[0], detail={"a": 1}, tool_input={}, metadata={"a": 1}, **facts
    )
    section = _section(_page("logs.md"), "The context of an entry")
    rows = re.findall(r"^\|([^|]+)\|", section, re.MULTILINE)
    assert {word for row in rows for word in re.findall(r"`(\w+)`", row)} == {*entry.as_dict(), "evaluation_id"}


# Environment and errors


def test_every_environment_variable_is_documented() -> None:
    """A variable that the source reads has a row, and a row has a variable that the source reads."""
    sources = [path.read_text() for path in (REPO / "src").rglob("*.py")]
    read = {name for text in sources for name in re.findall(r"\bSTENOGRAPH_[A-Z]+(?:_[A-Z]+)*\b", text)}
    listed = _first_cells(_page("environment.md"))
    assert {name for name in listed if name.startswith("STENOGRAPH_")} == read
    assert {"NO_COLOR", "TERM"} <= listed


def test_every_variable_of_an_agent_is_documented() -> None:
    """Where an agent keeps its files is told by its own variables, and the page names each that we look at."""
    homes = [home for spec in formats().values() if spec.layout is not None for home in spec.layout.homes]
    read = {name for home in homes for name in (home.variable, home.file_variable) if name}
    listed = _first_cells(_section(_page("environment.md"), "Variables of agents"))
    assert len(read) > 5
    assert listed == read


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
