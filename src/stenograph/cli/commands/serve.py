"""`steno serve`: the runs of the archive in a browser, live."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from stenograph.archive.store.home import home_of
from stenograph.cli.options import archive_option, say
from stenograph.cli.otlp import LOCAL, OtlpListener
from stenograph.errors import MissingExtra


@click.command(
    "serve",
    epilog="Example: steno serve --no-open --port 9000",
)
@click.argument("bundle", metavar="[BUNDLE]", required=False)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="Listen on this port.  [default: 8421 or the next free one]",
)
@click.option("--host", metavar="ADDRESS", help="Also listen on this address; other machines can then reach it.")
@click.option(
    "--allow-host", "allowed", multiple=True, metavar="NAME", help="Another host name by which browsers may reach it."
)
@click.option("--open/--no-open", "opens", default=None, help="Open a browser.  [default: on a terminal]")
@click.option("--no-sync", is_flag=True, help="Do not bring the archive up to date.")
@click.option("--redact", is_flag=True, help="Mask secrets of known shapes.")
@click.option("--otlp", is_flag=True, help="Also receive OpenTelemetry, as steno receive does.")
@click.option(
    "--otlp-port",
    type=click.IntRange(0, 65535),
    default=4318,
    show_default=True,
    metavar="N",
    help="The port of --otlp, on this machine only.",
)
@archive_option
@click.option("--verbose", is_flag=True, help="Print every request, without its query.")
def command(
    bundle: str | None,
    port: int | None,
    host: str | None,
    allowed: tuple[str, ...],
    opens: bool | None,
    no_sync: bool,
    redact: bool,
    otlp: bool,
    otlp_port: int,
    archive_dir: str | None,
    verbose: bool,
) -> None:
    """Show the runs of the archive in a browser, live, until Ctrl-C.

    The printed address contains a token that lets a browser in, which then keeps a cookie. Nothing leaves the machine.
    A separate process keeps the archive up to date, unless steno watch already does. With a BUNDLE, that zip is shown
    instead: its runs, its transcript, its logs, and SQL.
    """
    if bundle is not None and (archive_dir is not None or no_sync):
        raise click.UsageError("a bundle is shown by itself; leave out --archive and --no-sync")
    try:
        from stenograph.server.app import application
        from stenograph.server.serving import serve, sockets_of
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio"):
            raise
        raise MissingExtra("starlette", "web") from error
    from stenograph.server.access import Access, key_of
    from stenograph.server.feed import Feed
    from stenograph.server.keeper import Keeper
    from stenograph.server.site import Site

    with ExitStack() as until_end:
        if bundle is None:
            home = home_of(archive_dir)
            home.make()
        else:
            from stenograph.server.bundling import bundle_home

            home = until_end.enter_context(bundle_home(Path(bundle)))
        access = Access(key_of(home.path))
        sockets, number = sockets_of(host, port)
        for each in sockets:
            until_end.callback(each.close)
        mask = None
        if redact:
            from stenograph.runs.mask import RunMask

            mask = RunMask()
        keeper = None if no_sync or bundle is not None else Keeper(home)
        feed = Feed(home)
        site = Site(home, mask, keeper, None if bundle is None else Path(bundle).absolute())
        names = (*allowed, *([f"[{host}]" if ":" in host else host] if host else []))
        if verbose:
            _log_to_stderr()
        name = f"[{host}]" if host and ":" in host else host or "localhost"
        place = f"http://{name}:{number}/{'' if bundle is None else 'bundle'}?token="
        click.echo(f"{place}{access.token}")
        if host and host not in LOCAL:
            say(
                f"other machines can reach {host}: with the token they can read every transcript, and it travels "
                "unencrypted"
            )
        sys.stdout.flush()
        if sys.stdout.isatty() if opens is None else opens:
            import webbrowser

            webbrowser.open(f"{place}{access.token_for_one_use()}")
        if keeper is not None:
            keeper.start()
            until_end.callback(keeper.close)
        feed.start()
        until_end.callback(feed.close)
        if otlp:
            listener = until_end.enter_context(OtlpListener(home, None, otlp_port, None, syncs=no_sync))
            listener.start()
            say(f"receiving OpenTelemetry on {listener.address}")
        serve(application(site, access, number, names, feed), sockets, feed.close)


def _log_to_stderr() -> None:
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log = logging.getLogger("stenograph.server.access")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
