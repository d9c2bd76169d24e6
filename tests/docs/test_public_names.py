"""What a user may import from `stenograph`, and nothing by accident."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import stenograph
import stenograph.adapters.claude_agent_sdk
import stenograph.adapters.codex_app_server
import stenograph.adapters.openai
import stenograph.bundle
import stenograph.logs
import stenograph.model
import stenograph.session
import stenograph.session.slices
import stenograph.transcript

MODULES = [
    stenograph,
    stenograph.adapters.claude_agent_sdk,
    stenograph.adapters.codex_app_server,
    stenograph.adapters.openai,
    stenograph.bundle,
    stenograph.logs,
    stenograph.model,
    stenograph.session,
    stenograph.session.slices,
    stenograph.transcript,
]
NOT_OURS = {"TYPE_CHECKING"}
"""Python's own words, visible because a module has no other way to use them."""


def test_the_public_names_are_sorted_and_unique() -> None:
    """A sorted list is one that two people can extend."""
    assert stenograph.__all__ == sorted(set(stenograph.__all__))


def test_the_public_names_are_what_is_visible() -> None:
    """`dir(stenograph)` shows `__all__` and its rooms, no helper that somebody might come to rely on."""
    visible = {name for name in dir(stenograph) if not name.startswith("_")} - NOT_OURS
    rooms = {name for name in visible if isinstance(getattr(stenograph, name), ModuleType)}
    assert visible - rooms == set(stenograph.__all__)


@pytest.mark.parametrize("name", stenograph.__all__)
def test_a_public_name_can_be_imported_and_says_what_it_is(name: str) -> None:
    """Each public name exists and has a docstring of its own."""
    assert getattr(stenograph, name).__doc__


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_names_of_a_room_say_what_they_are(module: ModuleType) -> None:
    """Each is there once, and each class and function has a docstring."""
    assert len(module.__all__) == len(set(module.__all__))
    found = [getattr(module, name) for name in module.__all__]
    assert all(value.__doc__ for value in found if isinstance(value, type | FunctionType))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_star_import_gives_exactly_the_public_names(module: ModuleType) -> None:
    """`__all__` names nothing that is not there."""
    names: dict[str, object] = {}
    exec(f"from {module.__name__} import *", names)
    assert set(names) - {"__builtins__"} == set(module.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    """The lazy door refuses what it does not know, by name."""
    with pytest.raises(AttributeError, match="no attribute 'nothing_like_it'"):
        _ = stenograph.nothing_like_it  # type: ignore[attr-defined]


@pytest.mark.parametrize("module", [stenograph, stenograph.bundle], ids=lambda module: module.__name__)
def test_type_checkers_see_the_same_names(module: ModuleType) -> None:
    """The imports under `TYPE_CHECKING` name what the lazy door opens, from the same rooms."""
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    homes = {name.name: node.module for node in guarded.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert homes == {name: f"{module.__name__}.{home}" for name, home in module._HOMES.items()}
    assert sorted(homes) == sorted(module.__all__)


def test_importing_the_package_loads_no_room() -> None:
    """Public names are loaded at first use, so that starting up costs next to nothing."""
    program = "import sys, stenograph; print(sorted(name for name in sys.modules if name.startswith('stenograph.')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['stenograph.lazy', 'stenograph.version']"


@pytest.mark.parametrize("adapter", ["claude_agent_sdk", "codex_app_server", "litellm", "openai"])
def test_importing_an_adapter_loads_no_sdk(adapter: str) -> None:
    """An SDK is loaded when it is used: importing the adapter and our public names needs none of them."""
    program = (
        f"import sys; from stenograph import TranscriptCollector; import stenograph.adapters.{adapter}; "
        "print([name for name in ('openai', 'litellm', 'claude_agent_sdk', 'mcp', 'httpx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
