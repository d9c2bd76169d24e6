"""Names of a package that are loaded when they are first used, so that a program loads only what it needs."""

from __future__ import annotations

import sys

NOT_ON_WINDOWS = "Stenograph does not run on Windows; use it inside WSL"
"""Locks, forks and file descriptors are used as POSIX defines them."""

TYPE_CHECKING = False  # see `stenograph`
if TYPE_CHECKING:
    from collections.abc import Callable


def on_use(
    package: dict[str, object], homes: dict[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package, given its globals, and for each name the module that defines it."""

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
