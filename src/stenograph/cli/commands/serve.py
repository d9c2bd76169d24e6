"""`steno serve`: the runs of the archive in a browser, live."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypedDict, Unpack

import click
from msgspec.structs import asdict

from stenograph.archive.store.home import home_of
from stenograph.cli.options import archive_option, say
from stenograph.cli.otlp import LOCAL, OtlpListener
from stenograph.cli.store import store_options
from stenograph.errors import MissingExtra

if TYPE_CHECKING:
    from stenograph.fleet.lake.archive import StoreArchive
    from stenograph.runs.mask import RunMask
    from stenograph.server.site import Site


class _Listening(TypedDict):
    """The options of the server: where it listens, whether it opens a browser, what it masks and logs."""

    port: int | None
    host: str | None
    allowed: tuple[str, ...]
    opens: bool | None
    redact: bool
    verbose: bool


def _of_store(
    archive: StoreArchive,
    bundle: str | None,
    no_sync: bool,
    otlp: bool,
    otlp_port: int,
    **listening: Unpack[_Listening],
) -> None:
    """Show the runs of all machines in a store; they can only be read."""
    if bundle is not None:
        raise click.UsageError("a bundle is shown alone; leave out --store")
    for is_given, name in ((no_sync, "--no-sync"), (otlp, "--otlp")):
        if is_given:
            raise click.UsageError(f"{name} is about this machine's archive and cannot be used with --store")
    _check_installed()
    from stenograph.server.site import Site
    from stenograph.server.store_runs import StoreRuns

    owners = {name: value for name, value in asdict(archive.lake.owners).items() if value is not None}
    with ExitStack() as until_end:
        # The server needs a folder: for the access key, and for the indexes of the runs that are opened.
        home = home_of(until_end.enter_context(TemporaryDirectory(prefix="stenograph-")))
        site = Site(home, _mask(listening), store=StoreRuns(archive.url, home.path, owners))
        _listen(until_end, site, "", listening)


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
@store_options(_of_store)
@archive_option
@click.option("--verbose", is_flag=True, help="Print every request, without its query.")
def command(
    bundle: str | None,
    no_sync: bool,
    otlp: bool,
    otlp_port: int,
    archive_dir: str | None,
    **listening: Unpack[_Listening],
) -> None:
    """Show the runs of the archive in a browser, live, until Ctrl-C.

    The printed address contains a token that lets a browser in, which then keeps a cookie. Nothing leaves the machine.
    A separate process keeps the archive up to date, unless steno watch already does. With a BUNDLE, that zip is shown
    instead: its runs, its transcript, its logs, and SQL. With --store, the runs of all machines in a store are shown,
    as of the last steno lake load; they can only be read.
    """
    if bundle is not None and (archive_dir is not None or no_sync or otlp):
        raise click.UsageError("a bundle is shown alone; leave out --archive, --no-sync and --otlp")
    _check_installed()
    from stenograph.server.keeper import Keeper
    from stenograph.server.site import Site

    with ExitStack() as until_end:
        if bundle is None:
            home = home_of(archive_dir)
            home.make()
        else:
            from stenograph.server.bundling import bundle_home

            home = until_end.enter_context(bundle_home(Path(bundle)))
        keeper = None if no_sync or bundle is not None else Keeper(home)
        site = Site(home, _mask(listening), keeper, None if bundle is None else Path(bundle).absolute())
        # The keeper also syncs what is received; without one, the listener does it.
        listener = partial(OtlpListener, home, None, otlp_port, None, syncs=no_sync) if otlp else None
        _listen(until_end, site, "" if bundle is None else "bundle", listening, listener)


def _check_installed() -> None:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio"):
            raise
        raise MissingExtra("starlette", "web") from error


def _mask(listening: _Listening) -> RunMask | None:
    if not listening["redact"]:
        return None
    from stenograph.runs.mask import RunMask

    return RunMask()


def _listen(
    until_end: ExitStack, site: Site, page: str, listening: _Listening, otlp: Callable[[], OtlpListener] | None = None
) -> None:
    """Serve until Ctrl-C; `page` is opened in the browser, and `otlp` creates the OpenTelemetry receiver."""
    from stenograph.server.access import Access, key_of
    from stenograph.server.app import application
    from stenograph.server.feed import Feed
    from stenograph.server.serving import serve, sockets_of

    host, opens = listening["host"], listening["opens"]
    named = f"[{host}]" if host and ":" in host else host
    access = Access(key_of(site.home.path))
    sockets, number = sockets_of(host, listening["port"])
    for each in sockets:
        until_end.callback(each.close)
    feed = Feed(site.home)
    names = (*listening["allowed"], *([named] if named else []))
    if listening["verbose"]:
        _log_to_stderr()
    place = f"http://{named or 'localhost'}:{number}/{page}?token="

    def begin() -> None:
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
        if site.keeper is not None:
            site.keeper.start()
            until_end.callback(site.keeper.close)
        feed.start()
        until_end.callback(feed.close)
        if otlp is not None:
            listener = until_end.enter_context(otlp())
            listener.start()
            say(f"receiving OpenTelemetry on {listener.address}")

    serve(application(site, access, number, names, feed), sockets, feed.close, begin)


def _log_to_stderr() -> None:
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log = logging.getLogger("stenograph.server.access")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
