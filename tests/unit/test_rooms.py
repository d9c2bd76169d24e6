"""Nothing outside `formats/<name>` knows an agent: no name of one, and no field that only one writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stenograph.formats.registry import formats

SOURCE = Path(__file__).parents[2] / "src" / "stenograph"
ROOMS = ("sources", "archive", "adapters", "cli", "transcript", "render", "query", "server", "fold")
AGENTS = sorted({spec.agent.id for spec in formats().values()} - {"stenograph"} | {"anthropic", "litellm"})
FIELDS = (
    *("sessionId", "parentUuid", "toolUseResult", "isSidechain", "agentId", "leafUuid", "requestShape", "toolUseId"),
    *("session_meta", "forked_from_id", "parent_thread_id", "projectHash", "copilotVersion", "callID", "modelID"),
    *("task_started", "turn_aborted", r"\.meta\.json", "disableAllHooks"),
)
"""Words that only one agent writes into its files."""
_NAMED = re.compile("|".join([*AGENTS, *FIELDS]), re.IGNORECASE)
_FOR_PEOPLE = ("help", "epilog", "short_help", "metavar")
PROMISED = {
    "adapters/claude_agent_sdk": "an SDK's own adapter",
    "adapters/codex_app_server": "an SDK's own adapter",
    "adapters/litellm": "an SDK's own adapter",
    "adapters/openai": "an SDK's own adapter",
    "adapters/following/collector.py": "TranscriptCollector, which the contract promises for the Claude Agent SDK",
    "adapters/following/sdk_hooks.py": "the hooks of the Claude Agent SDK, for TranscriptCollector",
    "adapters/following/unparsed.py": "TranscriptCollector without parsing",
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
    tree = ast.parse(path.read_text("utf-8"))
    for_people = {id(node) for node in _for_people(tree)}
    words: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in for_people:
            words.add(node.value if isinstance(node.value, str) else node.value.decode("utf-8", "replace"))
        elif isinstance(node, ast.Name | ast.Attribute | ast.arg | ast.FunctionDef | ast.ClassDef | ast.alias):
            words.add(getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "arg", "") or "")
            words.add(getattr(node, "name", "") or "")
        elif isinstance(node, ast.ImportFrom):
            words.add(node.module or "")
    return {word for word in words if _NAMED.search(word)}


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


@pytest.mark.parametrize("place", PROMISED)
def test_a_promised_place_names_one(place: str) -> None:
    """An exception that is not needed any more is taken off the list."""
    found = SOURCE / place
    files = [found] if found.is_file() else sorted(found.rglob("*.py"))
    assert any(_said(path) for path in files)
