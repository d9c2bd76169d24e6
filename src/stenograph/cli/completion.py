"""What the shell offers when Tab is pressed: runs of the archive, agents and formats; never an error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from stenograph.errors import StenographError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_OFFERED = 50


class _Completed(click.ParamType):  # type: ignore[type-arg]  # generic only in newer versions of click
    """A text argument with completions."""

    name = "text"

    def __init__(self, offers: Callable[[str], Iterable[CompletionItem]], *, files: bool = False) -> None:
        """`offers` returns the completions of what was typed; with `files`, file names are offered, too."""
        self._offers = offers
        self._files = files

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            found = list(self._offers(incomplete))
        except (StenographError, OSError):  # an error must not appear in a shell's completion
            found = []
        return [*([_item(incomplete, type="file")] if self._files else []), *found]


def _item(value: str, **about: str) -> CompletionItem:
    from click.shell_completion import CompletionItem  # only a shell that asks needs it

    return CompletionItem(value, **about)


def _runs(incomplete: str) -> Iterable[CompletionItem]:
    from stenograph.render.control_chars import on_one_line
    from stenograph.runs.archive import open_archive

    with open_archive() as archive, archive.reading() as reader:
        query = """
            SELECT run_id, agent, coalesce(name, first_prompt, '') FROM runs WHERE run_id >= ? AND run_id < ?
            ORDER BY ended_ms DESC LIMIT ?
        """
        prefix = incomplete.lower()
        for run_id, agent, about in reader.index.execute(query, (prefix, prefix + "\U0010ffff", _OFFERED)):
            yield _item(run_id, help=on_one_line(f"{agent} {' '.join(about.split())[:60]}"))


def _agents(incomplete: str) -> Iterable[CompletionItem]:
    from stenograph.archive.keep.walk import agent_names

    return [_item(name) for name in sorted(set(agent_names().values())) if name.startswith(incomplete)]


def _formats(incomplete: str) -> Iterable[CompletionItem]:
    from stenograph.formats.registry import formats

    return [_item(name, help=spec.what) for name, spec in formats().items() if name.startswith(incomplete)]


def _exporters(incomplete: str) -> Iterable[CompletionItem]:
    from stenograph.export.exporter import exporters

    return [_item(name, help=each.what) for name, each in exporters().items() if name.startswith(incomplete)]


RUN = _Completed(_runs, files=True)
AGENT = _Completed(_agents)
FORMAT = _Completed(_formats)
EXPORTER = _Completed(_exporters)
