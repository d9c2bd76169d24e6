"""The public surface: every public name with its signature, as it stands in `public_surface.txt`.

A change of it fails here. When it is meant, write the list anew and say in CHANGELOG.md what moved:

    python tests/docs/test_public_surface.py
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

import stenograph

LIST = Path(__file__).with_name("public_surface.txt")


def surface() -> Iterator[str]:
    """One line for each public name, and for each public member of a class."""
    for name in stenograph.__all__:
        value = getattr(stenograph, name)
        if not inspect.isclass(value):
            yield f"{name}{_signature(value)}"
            continue
        yield f"class {name}{_bases(value)}"
        if not issubclass(value, Exception):  # whose members are mostly Python's own
            yield from sorted(f"{name}.{line}" for line in _members(value))


def _bases(kind: type) -> str:
    named = [base.__name__ for base in kind.__bases__ if base not in (object, msgspec.Struct)]
    return f"({', '.join(named)})" if issubclass(kind, Exception) else ""


def _members(kind: type) -> Iterator[str]:
    is_struct = issubclass(kind, msgspec.Struct)
    yield f"__init__{_signature(kind)}"
    for member in dir(kind):
        if member.startswith("_"):
            continue
        value = inspect.getattr_static(kind, member)
        if isinstance(value, classmethod | staticmethod):
            yield f"{member}{_signature(getattr(kind, member))}"
        elif inspect.isfunction(value):
            yield f"{member}{_signature(value)}"
        elif isinstance(value, property) or (hasattr(value, "__get__") and not is_struct):
            yield member


def _signature(value: Any) -> str:
    """Names, order and kinds of the parameters, and their defaults; without annotations."""
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in inspect.signature(value).parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    return str(inspect.Signature(parameters)).replace("<factory>", "…")


def test_the_public_surface_is_the_one_that_is_written_down() -> None:
    """Names, members, parameters and defaults."""
    assert list(surface()) == LIST.read_text("utf-8").splitlines()


if __name__ == "__main__":
    LIST.write_text("\n".join(surface()) + "\n", "utf-8")
