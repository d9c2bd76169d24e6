"""Exporter: a format to write runs in. Each entry point of the group `stenograph.exporters` names one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from stenograph.errors import InvalidFormat, InvalidOption
from stenograph.fold.losses import LossReport
from stenograph.model.event import Event

GROUP = "stenograph.exporters"


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file beside the main one, such as a picture."""

    name: str
    """Relative to the folder of the main file."""
    data: bytes


Piece = bytes | SideFile


@dataclass(frozen=True, kw_only=True, slots=True)
class Exporter:
    """A format to write runs in: `exporter(events, report)` yields the file in pieces."""

    name: str
    what: str
    """One line for users: what reads it."""
    suffix: str
    """The suffix of the file's name, with the dot."""
    write: Callable[..., Iterator[Piece]]
    """Takes the events of one run, the report to fill in, and the options by their names."""
    version: str = ""
    """The version of the format; empty if it has none."""
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values of each option; the first is the default."""
    is_lines: bool = False
    """Whether one file can hold several runs, one after the other."""

    def __call__(self, events: Iterable[Event], report: LossReport, **options: str) -> Iterator[Piece]:
        """Raises `InvalidOption` for an option or value that the format does not have."""
        return self.write(events, report, **self.chosen(options))

    def chosen(self, options: Mapping[str, str]) -> dict[str, str]:
        """The value of every option: the given one, else the default. Raises `InvalidOption`."""
        for name, value in options.items():
            self._check(name, value)
        return {name: values[0] for name, values in self.options.items()} | dict(options)

    def _check(self, name: str, value: str) -> None:
        values = self.options.get(name)
        if values is None:
            known = ", ".join(f"--{each}" for each in self.options) or "none"
            raise InvalidOption(f"--{name} does not apply to {self.name}; its options: {known}")
        if value not in values:
            raise InvalidOption(f"--{name} {value} is not an option of {self.name}; use one of {', '.join(values)}")


def exporters() -> dict[str, Exporter]:
    """Every installed exporter by its name, in alphabetical order."""
    from importlib.metadata import entry_points  # slow to import

    found: dict[str, Exporter] = {point.name: point.load() for point in entry_points(group=GROUP)}
    return dict(sorted(found.items()))


def exporter_named(name: str) -> Exporter:
    """The exporter of that name. Raises `InvalidFormat`."""
    from importlib.metadata import entry_points  # slow to import

    points = {point.name: point for point in entry_points(group=GROUP)}
    if name not in points:
        raise InvalidFormat(name, tuple(sorted(points)))
    exporter: Exporter = points[name].load()
    return exporter
