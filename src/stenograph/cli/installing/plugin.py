"""A plugin file of ours in the folder from which an agent loads plugins."""

from __future__ import annotations

import json
from pathlib import Path

from stenograph.cli.installing.hooks import HOOK
from stenograph.cli.installing.settings_file import (
    Change,
    followed,
    gone_program,
    our_program,
    path_of,
    read_settings,
    refused,
    replace_file,
)
from stenograph.errors import SourceError, StoreError
from stenograph.formats.base import FormatSpec
from stenograph.query.doctor.report import HookState

PLUGIN = "plugin"
_MARK = "// Written by `steno install"
_COMMAND = "const COMMAND = "


def install_plugin(spec: FormatSpec, path: Path, *, remove: bool) -> Change:
    """Write our file, update it, or delete it. Raises `SourceError` if another file has its name."""
    assert spec.plugin is not None
    before = read_settings(path)
    command = " ".join(_words(spec))
    if before is not None and not before.startswith(_MARK):
        raise refused(path, "it is not a file of ours")
    wanted = None if remove else _text(spec)
    if before == wanted:
        return Change(settings=str(path), command=command)
    if wanted is None:
        try:
            path.unlink()
        except OSError as error:
            raise StoreError(f"cannot delete {path}: {error.strerror}; nothing was changed", str(path)) from error
        return Change(settings=str(path), command=command, removed=(PLUGIN,))
    replace_file(path, None, wanted)  # what was there is ours, and needs no copy
    note = spec.plugin.note or None
    removed = () if before is None else (PLUGIN,)
    return Change(settings=str(path), command=command, added=(PLUGIN,), removed=removed, note=note)


def plugin_state(spec: FormatSpec) -> HookState:
    """Whether our file exists, is of this version, and can call us."""
    assert spec.plugin is not None
    agent, path = spec.agent.id, path_of(spec.plugin.file)
    try:
        path = followed(path)
        text = read_settings(path)
    except SourceError as error:
        return HookState(agent=agent, settings=str(path), problem=str(error).partition(";")[0])
    if text is None or not text.startswith(_MARK):
        return HookState(agent=agent, settings=str(path))
    gone = gone_program(_called(text))
    problem = None if gone is None else f"the plugin calls {gone}, which does not exist any more"
    missing = () if text == _text(spec) else (PLUGIN,)
    return HookState(agent=agent, settings=str(path), installed=(PLUGIN,), missing=missing, problem=problem)


def _text(spec: FormatSpec) -> str:
    assert spec.plugin is not None
    head = f"{_MARK} {spec.agent.id}`, and deleted by `steno install {spec.agent.id} --remove`.\n"
    return f"{head}{_COMMAND}{json.dumps(_words(spec))};\n{spec.plugin.text}"


def _words(spec: FormatSpec) -> list[str]:
    return [*our_program(), HOOK, spec.agent.id]


def _called(text: str) -> list[str]:
    """The words of the command that our file calls."""
    line = next((line for line in text.splitlines() if line.startswith(_COMMAND)), "")
    try:
        words = json.loads(line.removeprefix(_COMMAND).rstrip(";"))
    except ValueError:
        return []
    return [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
