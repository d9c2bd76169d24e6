"""Names of a package that are loaded when they are first used: nobody waits for what they do not need."""

from __future__ import annotations

import sys

NOT_ON_WINDOWS = "Stenograph does not run on Windows; use it inside WSL"
"""It locks, forks and follows files as POSIX has it."""

TYPE_CHECKING = False  # see `stenograph`
if TYPE_CHECKING:
    from collections.abc import Callable


def on_use(
    package: dict[str, object], homes: dict[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package, given by its globals, whose names live in those modules of it."""

    def load(name: str) -> object:
        from importlib import import_module

        if name not in homes:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        if sys.platform == "win32":
            raise ImportError(NOT_ON_WINDOWS)
        value = package[name] = getattr(import_module(f"{package['__name__']}.{homes[name]}"), name)
        return value

    def names() -> list[str]:
        return sorted({*package, *homes} - {"TYPE_CHECKING", "on_use"})

    return load, names
