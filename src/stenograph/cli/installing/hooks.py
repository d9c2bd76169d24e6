"""Our hooks in an agent's JSON settings: `hooks` by event, each a list of matchers with their commands."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from stenograph.cli.installing.settings_file import (
    Change,
    document,
    followed,
    gone_program,
    is_our_program,
    may_call_us,
    our_program,
    path_of,
    read_settings,
    refused,
    replace_file,
)
from stenograph.errors import SourceError
from stenograph.formats.base import FormatSpec
from stenograph.query.doctor.report import HookState

_LONGEST_ANSWER = 20.0
HOOK = "hook"
_CALLER = "$PPID"
"""The shell's variable for the process that started it."""
_QUIET = " 2>/dev/null || true"
"""If Stenograph was removed, the agent's shell must not print an error or fail at every step."""


def install_hooks(spec: FormatSpec, path: Path, *, remove: bool) -> Change:
    """Add our hooks, update them, or remove them. Raises `SourceError` and `StoreError`."""
    assert spec.hooks is not None
    text = read_settings(path)
    settings = _parse(path, text)
    ours = hook_command(spec)
    wanted = {} if remove else _wanted(spec, version_of(spec))
    before = _calling(settings)
    right = [name for name in before if _is_right(settings, name, wanted)]
    added = [name for name in wanted if name not in right]
    removed = [name for name in before if name not in right]
    if not added and not removed:
        return Change(settings=str(path), command=ours)
    for name in removed:
        _take_out(settings, name)
    for name in added:
        hooks = settings.setdefault("hooks", {}).setdefault(name, [])
        hooks.append({"hooks": [wanted[name]]})
    backup = replace_file(path, text, _text_of(path, settings, text))
    note = spec.hooks.note if added else None
    return Change(
        settings=str(path), command=ours, added=tuple(added), removed=tuple(removed), backup=backup, note=note or None
    )


def _text_of(path: Path, settings: dict[str, Any], before: str | None) -> str:
    """The settings as text. Where possible, what we do not change stays byte for byte.

    That is possible when all hooks are ours, or when a backup beside the file has exactly these settings.
    """
    if before is None or not before.strip():
        return document(settings, before)
    if "hooks" in settings and "hooks" not in (was := json.loads(before)):
        head, brace, tail = before.rpartition("}")
        comma = "," if was else ""
        hooks = document({"hooks": settings["hooks"]}, before)[1:].rpartition("}")[0].rstrip("\n")
        new = f"{head.rstrip()}{comma}{hooks}\n{brace}{tail}"
        if _is(new, settings):
            return new
    for backup in sorted(path.parent.glob(f"{path.name}.*.bak"), reverse=True):
        text = read_settings(backup)
        if text is not None and _is(text, settings):
            return text
    return document(settings, before)


def _is(text: str, settings: dict[str, Any]) -> bool:
    """Whether a text has these settings in this order."""
    try:
        return json.dumps(json.loads(text)) == json.dumps(settings)
    except ValueError:
        return False


def hook_state(spec: FormatSpec) -> HookState:
    """Whether an agent's hooks call us, and can. Reads the settings and changes nothing."""
    assert spec.hooks is not None
    agent, path = spec.agent.id, path_of(spec.hooks.settings)
    try:
        path = followed(path)
        settings = _parse(path, read_settings(path))
    except SourceError as error:
        problem = str(error).partition(";")[0] if may_call_us(path) else None
        return HookState(agent=agent, settings=str(path), problem=problem)
    installed = _calling(settings)
    wanted = _wanted(spec, version_of(spec)) if installed else {}
    missing = [name for name in wanted if not _calls_us(settings, name, wanted[name])]
    return HookState(
        agent=agent,
        settings=str(path),
        installed=tuple(installed),
        missing=tuple(missing),
        problem=_why_not_working(settings, installed, spec.hooks.turned_off_by, is_off=spec.hooks.turned_off_is),
    )


def hook_command(spec: FormatSpec) -> str:
    """The command that the agent must call at each step."""
    return shlex.join([*our_program(), HOOK, spec.agent.id])


def _calls_us(settings: dict[str, Any], name: str, wanted: dict[str, Any]) -> bool:
    """Whether an event calls us, by any command, and waits for us or not as it should."""
    found = _ours_of(settings, name) if name in settings.get("hooks", {}) else []
    return bool(found) and found[0].get("async", False) == wanted.get("async", False)


def _why_not_working(settings: dict[str, Any], installed: list[str], turned_off_by: str, *, is_off: bool) -> str | None:
    """Why installed hooks cannot work; None if they can."""
    if not installed:
        return None
    value: Any = settings
    for name in turned_off_by.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if value is is_off:
        return f"hooks are installed, but `{turned_off_by}` in the settings turns them off"
    commands = [_words(hook) for name in installed for hook in _ours_of(settings, name)]
    gone = sorted({program for words in commands if (program := gone_program(words)) is not None})
    return f"the hooks call {gone[0]}, which does not exist any more" if gone else None


def version_of(spec: FormatSpec) -> tuple[int, ...] | None:
    """The version of the agent's program on the PATH; None if there is none, or it does not print one."""
    program = next(filter(None, map(shutil.which, spec.programs)), None)
    if program is None or spec.hooks is None or not spec.hooks.in_background:
        return None
    import subprocess

    try:
        done = subprocess.run([program, "--version"], capture_output=True, timeout=_LONGEST_ANSWER, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(rb"(\d+)\.(\d+)\.(\d+)", done.stdout)
    return None if found is None else tuple(map(int, found.groups()))


def _wanted(spec: FormatSpec, version: tuple[int, ...] | None) -> dict[str, dict[str, Any]]:
    """Our hook of each event, for this version of the agent."""
    assert spec.hooks is not None
    caller = f" {_CALLER}" if spec.hooks.is_parent else ""
    hook: dict[str, Any] = {"type": "command", "command": f"{hook_command(spec)}{caller}{_QUIET}"}
    hooks = {name: hook for name in spec.hooks.events if name != spec.hooks.in_background}
    if version is not None and version >= spec.hooks.background_since:
        hooks[spec.hooks.in_background] = {**hook, "async": True}
    return {name: hooks[name] for name in spec.hooks.events if name in hooks}


def _parse(path: Path, text: str | None) -> dict[str, Any]:
    """The settings, if the agent would accept them; the order of keys is kept."""
    problem = "it is not a JSON object"
    try:
        settings = json.loads(text) if text is not None and text.strip() else {}
        json.dumps(settings, allow_nan=False)  # Python reads numbers that JSON cannot hold, and would also write them
        if isinstance(settings, dict):
            hooks = settings.get("hooks", {})
            if isinstance(hooks, dict) and all(isinstance(matchers, list) for matchers in hooks.values()):
                return settings
            problem = "its hooks are not lists by event"
    except (ValueError, RecursionError) as error:
        problem = f"it is not JSON ({error})"
    raise refused(path, problem)


def _calling(settings: dict[str, Any]) -> list[str]:
    """The events whose hooks call us."""
    return [name for name in settings.get("hooks", {}) if _ours_of(settings, name)]


def _is_right(settings: dict[str, Any], name: str, wanted: dict[str, dict[str, Any]]) -> bool:
    """Whether an event calls us once, by the wanted command, and waits or not as wanted; a timeout may be added."""
    if name not in wanted:
        return False
    found = [(hook["command"], hook.get("async", False)) for hook in _ours_of(settings, name)]
    return found == [(wanted[name]["command"], wanted[name].get("async", False))]


def _ours_of(settings: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [hook for matcher in settings["hooks"][name] for hook in _hooks(matcher) if _is_ours(hook)]


def _take_out(settings: dict[str, Any], name: str) -> None:
    """Remove our hooks of an event, and lists that are empty then."""
    kept = []
    for matcher in settings["hooks"][name]:
        hooks = _hooks(matcher)
        theirs = [hook for hook in hooks if not _is_ours(hook)]
        if len(theirs) != len(hooks):
            matcher["hooks"] = theirs
        if theirs or theirs == hooks:
            kept.append(matcher)
    settings["hooks"][name] = kept
    if not kept:
        del settings["hooks"][name]
    if not settings["hooks"]:
        del settings["hooks"]


def _hooks(matcher: Any) -> list[Any]:
    hooks = matcher.get("hooks") if isinstance(matcher, dict) else None
    return hooks if isinstance(hooks, list) else []


def _words(hook: Any) -> list[str]:
    """The words of a hook's command; empty if it has none, or a shell could not split it."""
    command = hook.get("command") if isinstance(hook, dict) else None
    try:
        return shlex.split(command.removesuffix(_QUIET)) if isinstance(command, str) else []
    except ValueError:
        return []


def _is_ours(hook: Any) -> bool:
    words = _words(hook)
    words = words[:-1] if words[-1:] == [_CALLER] else words
    return words[-2:-1] == [HOOK] and is_our_program(words[:-2])
