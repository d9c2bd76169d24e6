"""`steno formats`: what can be read."""

from __future__ import annotations

import click

from stenograph.cli.options import json_option, print_json, write_text
from stenograph.formats.registry import formats


@click.command("formats", epilog="Example: steno formats --json", short_help="List the formats that can be read.")
@json_option
def command(as_json: bool) -> None:
    """List the formats that can be read: name, what, versions verified, where the agent keeps its files."""
    specs = list(formats().values())
    if as_json:
        print_json(
            [{"name": spec.name, "what": spec.what, "versions": spec.versions, "home": spec.home} for spec in specs]
        )
        return
    for spec in specs:
        write_text(f"{spec.name}\n  {spec.what}\n  verified with {spec.versions}\n")
        if spec.home:
            write_text(f"  kept in {spec.home}\n")
