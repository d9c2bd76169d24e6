"""The ways to make agents call us, and which of them are installed on this machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from stenograph.cli.installing.hooks import hook_state, install_hooks
from stenograph.cli.installing.notify import install_notify, notify_state
from stenograph.cli.installing.plugin import install_plugin, plugin_state
from stenograph.cli.installing.settings_file import Change, followed, path_of
from stenograph.formats.base import FormatSpec
from stenograph.formats.layout import Home
from stenograph.formats.registry import formats
from stenograph.query.doctor.report import HookState

_BACKUP = re.compile(r"\.(\d{8}T\d{6}\.\d{6}Z)\.bak")


@dataclass(frozen=True)
class Way:
    """One way to make an agent call us."""

    name: str
    file: Callable[[FormatSpec], Home | None]
    install: Callable[..., Change]
    """Takes the spec, the file, and whether to `remove`."""
    state: Callable[[FormatSpec], HookState]


WAYS = (
    Way("hooks", lambda spec: spec.hooks.settings if spec.hooks else None, install_hooks, hook_state),
    Way("notify", lambda spec: spec.notify.settings if spec.notify else None, install_notify, notify_state),
    Way("plugin", lambda spec: spec.plugin.file if spec.plugin else None, install_plugin, plugin_state),
)


def agents_that_call() -> dict[str, FormatSpec]:
    """The agents that can be made to call us, by their ids."""
    return {spec.agent.id: spec for spec in formats().values() if ways_of(spec)}


def ways_of(spec: FormatSpec) -> list[Way]:
    """The ways that an agent supports, the best first."""
    return [way for way in WAYS if way.file(spec) is not None]


def install(spec: FormatSpec, settings: Path | None, *, remove: bool) -> Change:
    """Install or remove every way that an agent supports; changes to further files are in `also`."""
    changes = []
    for way in ways_of(spec):
        home = way.file(spec)
        assert home is not None
        changes.append(way.install(spec, followed(settings or path_of(home)), remove=remove))
    return replace(changes[0], also=tuple(changes[1:]))


def states() -> list[HookState]:
    """Whether agents call us, and can. Reads their settings and changes nothing."""
    return [way.state(spec) for spec in agents_that_call().values() for way in ways_of(spec)]


def since(state: HookState) -> str | None:
    """When our part was added to a file, if known: the time of the newest backup without it."""
    if not state.installed:
        return None
    path = Path(state.settings)
    if state.installed == ("plugin",):
        return _moment(datetime.fromtimestamp(path.stat().st_mtime, UTC))
    for backup in sorted(path.parent.glob(f"{path.name}.*.bak"), reverse=True):
        found = _BACKUP.search(backup.name)
        if found and b" hook " not in backup.read_bytes():
            return _moment(datetime.strptime(found[1], "%Y%m%dT%H%M%S.%f%z"))
    return None


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
