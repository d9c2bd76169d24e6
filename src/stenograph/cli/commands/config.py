"""`steno config`: what is in force, and where each value comes from."""

from __future__ import annotations

from typing import Any

import click

from stenograph import config
from stenograph.cli.options import json_option, print_json, write_text
from stenograph.config import Setting
from stenograph.evidence.settings import default_key
from stenograph.journal.place import DEFAULT_ROOT, archive_home
from stenograph.render.control_chars import on_one_line, visible


@click.command(
    "config",
    epilog="Example: steno config --json",
)
@json_option
def command(as_json: bool) -> None:
    """Print every setting with its value and where it comes from.

    An option overrides the environment, which overrides the file: config.toml in the user's configuration folder, or
    $STENOGRAPH_CONFIG. An unknown key or an invalid value is an error, exit code 2.
    """
    path, found = config.config_path(), config.settings()
    if as_json:
        settings = {each.key.name: _as_json(each) for each in found}
        print_json({"file": str(path), "exists": path.exists(), "settings": settings})
        return
    state = "" if path.exists() else " (not there)"
    rows = [(each.key.name, _shown(_in_force(each)), _origin(each)) for each in found]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{name:<{widths[0]}}  {value:<{widths[1]}}  {origin}" for name, value, origin in rows]
    write_text("\n".join([f"file: {visible(str(path))}{state}", "", *lines]) + "\n")


def _in_force(each: Setting) -> Any:
    """The value, or the default."""
    if each.value is not None:
        return each.value
    return {
        "archive.home": str(archive_home()),
        "archive.storage": DEFAULT_ROOT,
        "redact.names": (),
        "redact.keep": (),
        "redact.warn": False,
        "evidence.key": str(default_key()),
        "evidence.to": (),
        "evidence.witnesses": (),
    }.get(each.key.name)


def _as_json(each: Setting) -> dict[str, Any]:
    return {
        "value": _in_force(each),
        "from": each.source,
        "variable": each.key.variable,
        "option": each.key.option or None,
    }


def _shown(value: Any) -> str:
    if value is None or value == ():
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return on_one_line(", ".join(value) if isinstance(value, tuple) else value)


def _origin(each: Setting) -> str:
    return f"${each.key.variable}" if each.source == "environment" else each.source
