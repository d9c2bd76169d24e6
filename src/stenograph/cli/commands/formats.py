"""`steno formats`: what can be read."""

from __future__ import annotations

from typing import Any

import click

from stenograph.cli.options import json_option, print_json, say, write_text
from stenograph.formats.base import FormatSpec
from stenograph.formats.registry import broken_formats, formats


@click.command("formats", epilog="Example: steno formats --json")
@json_option
def command(as_json: bool) -> None:
    """List the formats that can be read: name, description, verified versions, and where the agent keeps its files."""
    specs = list(formats().values())
    for name, why in broken_formats().items():
        say(f"the format {name} cannot be used: {why}")
    if as_json:
        print_json([_as_json(spec) for spec in specs])
        return
    for spec in specs:
        write_text(f"{spec.name} ({spec.agent.name}, {spec.kind})\n  {spec.what}\n  verified with {spec.versions}\n")
        if spec.layout is not None and spec.is_placed:
            write_text(f"  kept in {spec.layout.described()}\n")


def _as_json(spec: FormatSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "agent": spec.agent.id,
        "agent_name": spec.agent.name,
        "kind": spec.kind,
        "what": spec.what,
        "versions": spec.versions,
        "home": "" if spec.layout is None else spec.layout.described(),
        "programs": spec.programs,
        "tokens": spec.tokens,
    }
