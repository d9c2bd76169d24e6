"""`steno install`: an agent's settings, so that it calls `steno hook`, or can ask `steno mcp`."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from stenograph.cli.options import json_option, print_json, write_text
from stenograph.errors import SourceError, StoreError, unreadable
from stenograph.formats.base import FormatSpec
from stenograph.formats.layout import Home
from stenograph.formats.registry import formats
from stenograph.query.doctor.report import HookState

_LONGEST_ANSWER = 20.0
_HOOK = "hook"


class Change(Struct, frozen=True, kw_only=True):
    """What was done to a settings file."""

    settings: str
    command: str
    """What the agent calls."""
    added: tuple[str, ...] = ()
    """Hooks, or the server, that call us now and did not before, or not by this command."""
    removed: tuple[str, ...] = ()
    """Hooks, or the server, that called us and do not any more, or not by that command."""
    backup: str | None = None
    """The file as it was; None when nothing was changed or nothing was there."""


def _agents() -> dict[str, FormatSpec]:
    """The agents whose settings we know, by their ids."""
    return {spec.agent.id: spec for spec in formats().values() if spec.hooks is not None or spec.mcp is not None}


def agents_with(*, hooks: bool = False, mcp: bool = False) -> list[str]:
    """The agents that can call us by hooks, or ask us by MCP."""
    agents = _agents().items()
    return [name for name, spec in agents if (hooks and spec.hooks is not None) or (mcp and spec.mcp is not None)]


@click.command(
    "install",
    epilog="Example: steno install claude",
    short_help="Make an agent tell us of its sessions, or no longer.",
)
@click.argument("agent", type=click.Choice(agents_with(hooks=True, mcp=True)))
@click.option("--mcp", is_flag=True, help="Register steno mcp, so that the agent can ask for its own history.")
@click.option(
    "--settings",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="The settings to change.  [default: those of the agent]",
)
@click.option("--remove", is_flag=True, help="Take our hooks, or with --mcp our server, out again.")
@json_option
def command(agent: str, mcp: bool, settings: Path | None, remove: bool, as_json: bool) -> None:
    """Add hooks to Claude Code's settings, so that every session is recorded from its first prompt.

    With --mcp, register steno mcp instead, with Claude Code or Codex: the agent can then ask for its own history.

    Everything else in the settings stays as it is, and the file as it was is kept beside it. Doing it twice changes
    nothing; after an update of Claude Code or of us it brings the hooks up to date. Settings that are not JSON are left
    alone.
    """
    spec = _agents()[agent]
    if mcp:
        from stenograph.cli.mcp_settings import register

        if spec.mcp is None:
            raise click.UsageError(f"{agent} has no settings for MCP servers that we know; see steno mcp --help.")
        change = register(spec.mcp, _followed(settings or _path(spec.mcp.settings)), remove=remove)
    elif spec.hooks is None:
        raise click.UsageError(f"there are no hooks of {agent}; give --mcp, or record it with steno run.")
    else:
        version = None if remove else version_of(spec)
        change = _install(spec, _followed(settings or _path(spec.hooks.settings)), remove=remove, version=version)
    if as_json:
        print_json(change)
        return
    _print(change)


def _print(change: Change) -> None:
    if not change.added and not change.removed:
        write_text(f"{change.settings}: nothing to change\n")
        return
    gone = [name for name in change.removed if name not in change.added]
    for names, what in ((change.added, "call"), (gone, "no longer call")):
        if names:
            verb = f"{what}s" if len(names) == 1 else what
            write_text(f"{change.settings}: {', '.join(names)} {verb} {change.command}\n")
    if change.backup is not None:
        write_text(f"as it was: {change.backup}\n")


def hook_states() -> list[HookState]:
    """Whether agents call us, and can: their settings are read, and nothing is changed."""
    return [_hook_state(spec) for spec in _agents().values() if spec.hooks is not None]


def _hook_state(spec: FormatSpec) -> HookState:
    assert spec.hooks is not None
    agent, path = spec.agent.id, _path(spec.hooks.settings)
    try:
        path = _followed(path)
        settings = _parse(path, read_settings(path))
    except SourceError as error:
        return HookState(agent=agent, settings=str(path), problem=str(error).partition(";")[0])
    installed = _calling(settings)
    wanted = _wanted(spec, version_of(spec)) if installed else {}
    missing = [name for name in wanted if not _is_told(settings, name, wanted[name])]
    return HookState(
        agent=agent,
        settings=str(path),
        installed=tuple(installed),
        missing=tuple(missing),
        problem=_hindrance(settings, installed, spec.hooks.turned_off_by),
    )


def _is_told(settings: dict[str, Any], name: str, wanted: dict[str, Any]) -> bool:
    """Whether an event calls us, by whatever command, and waits for us or not as it should."""
    found = _ours_of(settings, name) if name in settings.get("hooks", {}) else []
    return bool(found) and found[0].get("async", False) == wanted.get("async", False)


def _hindrance(settings: dict[str, Any], installed: list[str], turned_off_by: str) -> str | None:
    """Why hooks that are installed cannot work."""
    if installed and settings.get(turned_off_by) is True:
        return f"hooks are installed, and `{turned_off_by}` in the settings turns them off"
    programs = {shlex.split(hook["command"])[0] for name in installed for hook in _ours_of(settings, name)}
    gone = [program for program in sorted(programs) if shutil.which(program) is None]
    return f"the hooks call {gone[0]}, which is not a program any more" if gone else None


def _path(settings: Home) -> Path:
    return Path(settings.path(os.environ, str(Path.home())))


def _followed(path: Path) -> Path:
    """The file itself: a link to it stays a link."""
    try:
        return path.resolve() if path.is_symlink() else path.absolute()
    except (OSError, RuntimeError) as error:  # a link that leads to itself
        raise SourceError(f"cannot follow {path}: {error}; check the link", str(path)) from error


def version_of(spec: FormatSpec) -> tuple[int, ...] | None:
    """The version of the agent's program that is on the PATH; None where there is none, or it does not say."""
    program = next(filter(None, map(shutil.which, spec.programs)), None)
    if program is None:
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
    hook: dict[str, Any] = {"type": "command", "command": _our_command(spec)}
    hooks = {name: hook for name in spec.hooks.events if name != spec.hooks.in_background}
    if version is not None and version >= spec.hooks.background_since:
        hooks[spec.hooks.in_background] = {**hook, "async": True}
    return {name: hooks[name] for name in spec.hooks.events if name in hooks}


def _install(spec: FormatSpec, path: Path, *, remove: bool, version: tuple[int, ...] | None) -> Change:
    text = read_settings(path)
    settings = _parse(path, text)
    ours = _our_command(spec)
    wanted = {} if remove else _wanted(spec, version)
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
    backup = replace_file(path, text, document(settings, text))
    return Change(settings=str(path), command=ours, added=tuple(added), removed=tuple(removed), backup=backup)


def _our_command(spec: FormatSpec) -> str:
    """What the agent is to call at each step."""
    return shlex.join([*our_program(), _HOOK, spec.agent.id])


def our_program() -> list[str]:
    """Stenograph by its full name: nobody knows the PATH that the agent has."""
    beside = Path(sys.executable).with_name("steno")
    steno = str(beside) if beside.is_file() else shutil.which("steno")
    if steno is None:
        return [sys.executable, "-P", "-m", "stenograph"]
    return [os.path.abspath(steno)]  # noqa: PTH100  # a link to it stays a link


# The settings.


def read_settings(path: Path) -> str | None:
    """The text of a settings file; None where there is none."""
    try:
        return path.read_bytes().decode("utf-8")  # not as text, which would forget how lines end
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not UTF-8 text ({error.reason}); mend it first, nothing was changed") from error
    except OSError as error:
        raise unreadable(path, error) from error


def _parse(path: Path, text: str | None) -> dict[str, Any]:
    """The settings, when they are what the agent takes; the order of their keys is kept."""
    problem = "it is not a JSON object"
    try:
        settings = json.loads(text) if text is not None and text.strip() else {}
        json.dumps(settings, allow_nan=False)  # Python reads numbers that JSON cannot hold, and would write them, too
        if isinstance(settings, dict):
            hooks = settings.get("hooks", {})
            if isinstance(hooks, dict) and all(isinstance(matchers, list) for matchers in hooks.values()):
                return settings
            problem = "its hooks are not lists by event"
    except (ValueError, RecursionError) as error:
        problem = f"it is not JSON ({error})"
    raise SourceError(f"{path} cannot be changed, {problem}; mend it first, nothing was changed", str(path))


def _calling(settings: dict[str, Any]) -> list[str]:
    """The events whose hooks call us."""
    return [name for name in settings.get("hooks", {}) if _ours_of(settings, name)]


def _is_right(settings: dict[str, Any], name: str, wanted: dict[str, dict[str, Any]]) -> bool:
    """Whether an event calls us once, by the wanted command and waited for or not as wanted; a timeout may be added."""
    if name not in wanted:
        return False
    found = [(hook["command"], hook.get("async", False)) for hook in _ours_of(settings, name)]
    return found == [(wanted[name]["command"], wanted[name].get("async", False))]


def _ours_of(settings: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [hook for matcher in settings["hooks"][name] for hook in _hooks(matcher) if _is_ours(hook)]


def _take_out(settings: dict[str, Any], name: str) -> None:
    """Remove our hooks of an event, and what is left empty by that."""
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


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    program, call = words[:-2], words[-2:-1]
    is_our_program = bool(program) and (program[-2:] == ["-m", "stenograph"] or Path(program[0]).name == "steno")
    return call == [_HOOK] and is_our_program


# The file.


def replace_file(path: Path, text: str | None, new: str) -> str | None:
    """Write new settings in place of the old ones, whole or not at all; where the old ones are kept."""
    if text is not None and text.count("\r\n") == text.count("\n") > 0:
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    backup = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o7777 if text is not None else 0o600
        if text is not None:
            backup = path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.bak")
            _write(backup, text, mode)
        scratch = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        try:
            _write(scratch / path.name, new, mode)
            (scratch / path.name).replace(path)
        finally:
            with suppress(OSError):
                shutil.rmtree(scratch)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; nothing was changed", str(path)) from error
    return None if backup is None else str(backup)


def document(settings: dict[str, Any], before: str | None) -> str:
    """The settings as JSON, indented as they were before."""
    indent = _indentation(before)
    text = json.dumps(settings, indent=indent, ensure_ascii=False) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:  # half a pair of surrogates, which only an escape can hold
        return json.dumps(settings, indent=indent) + "\n"
    return text


def _write(path: Path, text: str, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(fd, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123  # a descriptor
        file.write(text)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _indentation(text: str | None) -> int | str:
    """How the file is indented: two spaces unless its second line says otherwise."""
    lines = (text or "").split("\n")
    blank = lines[1][: len(lines[1]) - len(lines[1].lstrip())] if len(lines) > 1 else ""
    return blank or 2
