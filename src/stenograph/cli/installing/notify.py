"""Our program as the one an agent calls after each turn: `notify = [...]` at the top of a TOML file.

TOML is changed as text, so that comments and order stay; the result is parsed again and compared.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from stenograph.cli.installing.hooks import HOOK
from stenograph.cli.installing.settings_file import (
    Change,
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

KEY = "notify"
_LINE = re.compile(rf"^{KEY}[ \t]*=[ \t]*\[[^\[\]\n]*\][ \t]*\r?\n", re.MULTILINE)


def install_notify(spec: FormatSpec, path: Path, *, remove: bool) -> Change:
    """Make the agent call us after each turn, or stop it; another program that it calls is left alone."""
    text = read_settings(path)
    settings = _toml(path, text or "")
    words = notify_command(spec)
    command, before = " ".join(words), settings.get(KEY)
    wanted = None if remove else words
    if before is not None and not _is_ours(before):
        note = None if remove else f"{KEY} in {path} calls another program and was not changed"
        return Change(settings=str(path), command=command, note=note)
    if before == wanted:
        return Change(settings=str(path), command=command)
    kept = _LINE.sub("", text or "", count=1) if before is not None else text or ""
    new = kept if wanted is None else f"{KEY} = {json.dumps(wanted, ensure_ascii=False)}\n{kept}"
    expected = {name: value for name, value in settings.items() if name != KEY}
    if _toml(path, new) != (expected if wanted is None else {KEY: wanted, **expected}):
        raise refused(path, f"its {KEY} is not written on a line of its own")
    backup = replace_file(path, text, new)
    names = (KEY,)
    return Change(
        settings=str(path),
        command=command,
        added=() if remove else names,
        removed=names if before is not None else (),
        backup=backup,
    )


def notify_state(spec: FormatSpec) -> HookState:
    """Whether the agent calls us after each turn, and can."""
    assert spec.notify is not None
    agent, path = spec.agent.id, path_of(spec.notify.settings)
    try:
        path = followed(path)
        value = _toml(path, read_settings(path) or "").get(KEY)
    except SourceError as error:
        problem = str(error).partition(";")[0] if may_call_us(path) else None
        return HookState(agent=agent, settings=str(path), problem=problem)
    if value is None or not _is_ours(value):
        return HookState(agent=agent, settings=str(path))
    gone = gone_program(value)
    problem = None if gone is None else f"{KEY} calls {gone}, which does not exist any more"
    return HookState(agent=agent, settings=str(path), installed=(KEY,), problem=problem)


def notify_command(spec: FormatSpec) -> list[str]:
    """What the agent must call; it adds the call as one more argument. An agent that cannot start it goes on."""
    assert spec.notify is not None
    return [*our_program(), HOOK, spec.agent.id, spec.notify.session]


def _is_ours(value: Any) -> bool:
    words = value if isinstance(value, list) and all(isinstance(word, str) for word in value) else []
    return words[-3:-2] == [HOOK] and is_our_program(words[:-3])


def _toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise refused(path, f"it is not TOML ({error})") from error
