"""`environment/`: the machine that a run ran on. Taken when the bundle is made.

Environment variables often hold secrets, so a value is kept only under a name that is known to be harmless, and even
then masked; of all others only the name is kept.
"""

from __future__ import annotations

import locale
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import msgspec

from stenograph.bundle.git import git_diff, git_facts
from stenograph.logs.formatter import as_json
from stenograph.redact.text import mask_value

_HARMLESS = re.compile(
    r"PATH|LANG|LC_\w+|TZ|TERM|COLORTERM|NO_COLOR|SHELL|HOME|PWD|TMPDIR|CI|EDITOR|HOSTTYPE|OSTYPE|VIRTUAL_ENV"
    r"|CONDA_(?:DEFAULT_ENV|PREFIX)|PYTHON(?:PATH|HOME|UTF8|HASHSEED|WARNINGS|UNBUFFERED|DONTWRITEBYTECODE|OPTIMIZE)"
    r"|STENOGRAPH_\w+|XDG_\w+|CLAUDE_CONFIG_DIR|CODEX_HOME|GEMINI_(?:CLI_HOME|MODEL)|COPILOT_HOME|ANTHROPIC_MODEL"
    r"|OPENAI_MODEL|NODE_ENV|NODE_VERSION"
)


def environment_files(cwd: Path, problems: list[str]) -> dict[str, bytes]:
    """The files of `environment/` by name; what cannot be determined is added to `problems`."""
    facts: dict[str, Callable[[], Any]] = {
        "system.json": system_facts,
        "python.json": python_facts,
        "packages.json": packages,
        "variables.json": lambda: variables(os.environ),
        "git.json": lambda: git_facts(cwd),
    }
    files: dict[str, bytes] = {}
    for name, find in facts.items():
        found = _attempted(name, find, problems)
        if found is not None:
            files[f"environment/{name}"] = _document(found)
    diff = _attempted("git.diff", lambda: git_diff(cwd), problems)
    if diff:
        files["environment/git.diff"] = diff
    return files


def system_facts() -> dict[str, Any]:
    """The machine, as far as it matters to a program."""
    return {
        "platform": platform.platform(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "file_system_encoding": sys.getfilesystemencoding(),
        "locale": ".".join(part for part in locale.getlocale() if part),
        "cwd": str(Path.cwd()),
    }


def python_facts() -> dict[str, Any]:
    """The interpreter."""
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "build": sys.version,
        "executable": sys.executable,
        "prefix": sys.prefix,
        "arguments": sys.argv[:1],
        "path": sys.path,
    }


def packages() -> dict[str, str]:
    """The installed distributions with their versions."""
    found = {str(each.metadata["Name"] or ""): each.version for each in distributions()}
    return {name: found[name] for name in sorted(found, key=str.lower) if name}


def variables(environ: Mapping[str, str]) -> dict[str, Any]:
    """Environment variables: harmless ones with their values, the others by name only."""
    kept = {name: mask_value(name, value) for name, value in sorted(environ.items()) if _HARMLESS.fullmatch(name)}
    return {"kept": kept, "others": sorted(name for name in environ if name not in kept)}


def _attempted(name: str, find: Callable[[], Any], problems: list[str]) -> Any:
    try:
        return find()
    except Exception as error:  # noqa: BLE001  # bundles are made on broken machines: a missing fact must not fail it
        problems.append(f"environment/{name} is missing: {error}")
        return None


def _document(value: Any) -> bytes:
    return msgspec.json.format(as_json(value).encode(), indent=2) + b"\n"
