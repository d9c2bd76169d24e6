"""Nothing outside `formats/<name>` knows an agent: no name of one, and no field that only one writes."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from stenograph.formats.registry import formats

SOURCE = Path(__file__).parents[2] / "src" / "stenograph"
ROOMS = ("sources", "archive", "adapters", "cli", "transcript", "render", "query", "server", "fold")
_WORDS = {"stenograph", "acp", "atif", "chat", "continue", "cursor", "inspect", "otlp", "pi"}
"""Ids that are words of our own: of the field, of protocols, and of formats that we write, too."""
AGENTS = sorted({spec.agent.id for spec in formats().values()} - _WORDS | {"anthropic", "litellm"})
FIELDS = (
    *("sessionId", "parentUuid", "toolUseResult", "isSidechain", "agentId", "leafUuid", "requestShape", "toolUseId"),
    *("session_meta", "forked_from_id", "parent_thread_id", "projectHash", "copilotVersion", "callID", "modelID"),
    *("task_started", "turn_aborted", r"\.meta\.json", "disableAllHooks"),
)
"""Words that only one agent writes into its files."""
_NAMED = re.compile("|".join([*(each.replace("-", "[-_]") for each in AGENTS), *FIELDS]), re.IGNORECASE)
"""Ids of agents, also as modules and formats are named after them, and their fields."""
_FOR_PEOPLE = ("help", "epilog", "short_help", "metavar")
PROMISED = {
    "adapters/claude_agent_sdk": "an SDK's own adapter",
    "adapters/codex_app_server": "an SDK's own adapter",
    "adapters/litellm": "an SDK's own adapter",
    "adapters/openai": "an SDK's own adapter",
    "cli/commands/replay.py": "the variables by which clients of two model APIs find another server",
    "transcript/project.py": "metadata.claude_session_id, detail.sdk_entry and detail.notification",
    "fold/prices.py": "names of models and of the vendors in them",
}
"""Where the contract promises a name, and why."""


def _files() -> Iterator[Path]:
    for room in ROOMS:
        yield from sorted((SOURCE / room).rglob("*.py"))


def _is_promised(path: Path) -> bool:
    place = path.relative_to(SOURCE).as_posix()
    return any(place == each or place.startswith(f"{each}/") for each in PROMISED)


def _said(path: Path) -> set[str]:
    """The words of a module that name an agent: identifiers and texts, without what is only for people to read."""
    source = path.read_text("utf-8")
    if _NAMED.search(source) is None:
        return set()
    tree = ast.parse(source)
    for_people = {id(node) for node in _for_people(tree)}
    words: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in for_people:
            words.add(node.value if isinstance(node.value, str) else node.value.decode("utf-8", "replace"))
        elif not isinstance(node, ast.Constant):
            words |= _identifiers(node)
    return {word for word in words if _NAMED.search(word)}


def _identifiers(node: ast.AST) -> set[str]:
    """The names that a node gives or uses: of functions of any kind, arguments, modules, patterns, …"""
    values = (value for _, field in ast.iter_fields(node) for value in (field if isinstance(field, list) else [field]))
    return {value for value in values if isinstance(value, str)}


def _for_people(tree: ast.Module) -> Iterator[ast.AST]:
    """Docstrings, and the texts of help."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.keyword) and node.arg in _FOR_PEOPLE:
            yield from ast.walk(node.value)


def test_no_room_names_an_agent() -> None:
    """But where the contract promises one, by name."""
    named = {path.relative_to(SOURCE).as_posix(): _said(path) for path in _files() if not _is_promised(path)}
    assert len(named) > 150
    assert {place: words for place, words in named.items() if words} == {}


NAMING = {
    "a text": 'x = "claude"',
    "bytes": 'x = b"sessionId"',
    "a format": 'x = "kimi_cli"',
    "a module": "import stenograph.formats.qwen_code",
    "a part of a module": "from stenograph.formats import codex_rollout",
    "a name of our own": "import x as codex",
    "a function": "async def gemini(): ...",
    "an argument": "call(opencode=1)",
    "a pattern": "match x:\n    case {'isSidechain': copilot}: ...",
}


@pytest.mark.parametrize("source", NAMING.values(), ids=list(NAMING))
def test_whatever_names_an_agent_is_found(source: str, tmp_path: Path) -> None:
    """The search can fail: it finds names in every kind of word that a module has."""
    module = tmp_path / "module.py"
    module.write_text(source)
    assert _said(module)


@pytest.mark.parametrize("place", PROMISED)
def test_a_promised_place_names_one(place: str) -> None:
    """An exception that is not needed any more is taken off the list."""
    found = SOURCE / place
    files = [found] if found.is_file() else sorted(found.rglob("*.py"))
    assert any(_said(path) for path in files)


ONE_EACH = ("Message", "Layout", "Known", "Member", "Place")


def test_a_word_names_one_shape() -> None:
    """Of classes and named types, across all rooms."""
    found = Counter(name for name in _definitions() if name in ONE_EACH)
    assert found == dict.fromkeys(ONE_EACH, 1)


def _definitions() -> Iterator[str]:
    """The classes and named types of every module."""
    for path in SOURCE.rglob("*.py"):
        yield from (one or other for one, other in _DEFINITION.findall(path.read_text("utf-8")))


_DEFINITION = re.compile(r"^class (\w+)|^([A-Z]\w*) = ", re.MULTILINE)


def test_formats_have_one_vocabulary_of_loose_json() -> None:
    """What reads JSON of any shape as the shape one hopes for is in one module, and so is the JSON-RPC envelope."""
    values = {"formats/shared/loose.py": [], "formats/shared/jsonrpc.py": []}
    for path in sorted((SOURCE / "formats").rglob("*.py")):
        source = path.read_text("utf-8")
        for node in ast.walk(ast.parse(source)) if " else " in source or "params" in source else ():
            place = path.relative_to(SOURCE).as_posix()
            if isinstance(node, ast.FunctionDef) and _is_loose(node):
                values.setdefault(place, []).append(node.name)
            if isinstance(node, ast.ClassDef) and {"method", "params", "result"} <= _fields(node):
                values.setdefault(place, []).append(node.name)
    assert set(values["formats/shared/loose.py"]) >= {"a_dict", "a_list", "a_str", "string"}
    assert values.pop("formats/shared/jsonrpc.py") == ["RpcMessage"]
    assert {place: names for place, names in values.items() if names and "shared/loose" not in place} == {}


def _is_loose(node: ast.FunctionDef) -> bool:
    """Whether a function only gives its one argument back when it is of a plain type."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    if len(node.args.args) != 1 or len(body) != 1:
        return False
    pattern = r"return (\w+) if isinstance\(\1, (str|dict|list)\)( and \1)? else ('\w*'|None|\{\}|\[\])"
    found = re.fullmatch(pattern, ast.unparse(body[0]))
    return found is not None and found[1] == node.args.args[0].arg


def _fields(node: ast.ClassDef) -> set[str]:
    return {
        each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
