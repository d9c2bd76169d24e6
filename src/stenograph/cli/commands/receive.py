"""`steno receive`: agents and frameworks that speak OpenTelemetry become runs of the archive."""

from __future__ import annotations

import sys

import click

from stenograph.archive.store.home import home_of
from stenograph.cli.options import archive_option, say
from stenograph.cli.otlp import OtlpListener, check_host, host_option, token_option
from stenograph.render.control_chars import visible


@click.command(
    "receive",
    epilog="Example: steno receive --port 4318",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=4318, show_default=True, metavar="N", help="Listen on this port."
)
@host_option
@token_option
@archive_option
def command(port: int, host: str | None, token: str | None, archive_dir: str | None) -> None:
    """Receive spans and log records (OTLP over HTTP, protobuf or JSON) and record them as runs, until Ctrl-C.

    Set OTEL_EXPORTER_OTLP_ENDPOINT of the agent to the printed address. A request is on disk before it is answered.
    Runs are in the archive while the agents work; steno ls, show, search and serve read them. Nothing leaves the
    machine.
    """
    check_host(host, token)
    home = home_of(archive_dir)
    home.make()
    with OtlpListener(home, host, port, token, syncs=True) as listener:

        def announce() -> None:
            click.echo(listener.address)
            sys.stdout.flush()
            say(f"receiving for {visible(str(home.path))}; press Ctrl-C to stop")

        listener.serve(announce)
        if listener.ignored:
            say(f"{listener.ignored} spans or log records did not come from an agent and were not recorded")
