"""`steno receive`: agents and frameworks that speak OpenTelemetry become runs of the archive."""

from __future__ import annotations

import sys

import click

from stenograph.archive.store.home import home_of
from stenograph.cli.options import archive_option, say
from stenograph.cli.otlp import Door, check_host, host_option, token_option
from stenograph.render.control_chars import visible


@click.command(
    "receive",
    epilog="Example: steno receive --port 4318",
    short_help="Record agents that send OpenTelemetry (OTLP).",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=4318, show_default=True, metavar="N", help="Listen here."
)
@host_option
@token_option
@archive_option
def command(port: int, host: str | None, token: str | None, archive_dir: str | None) -> None:
    """Receive spans and log records (OTLP over HTTP, protobuf or JSON) and make runs of them, until Ctrl-C.

    Point the agent here with OTEL_EXPORTER_OTLP_ENDPOINT. A request is on disk before it is answered. Runs are in the
    archive while the agents work: steno ls, show, search and serve have them. Nothing leaves the machine.
    """
    check_host(host, token)
    home = home_of(archive_dir)
    home.make()
    with Door(home, host, port, token, syncs=True) as door:

        def announce() -> None:
            click.echo(door.address)
            sys.stdout.flush()
            say(f"receiving for {visible(str(home.path))}; Ctrl-C ends it")

        door.serve(announce)
        if door.ignored:
            say(f"{door.ignored} spans or log records were not an agent's, and are in no run")
