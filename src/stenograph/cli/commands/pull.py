"""`steno pull`: bring an archive back from an object store."""

from __future__ import annotations

import sys

import click
import msgspec

from stenograph.archive.store.home import home_of
from stenograph.cli.options import json_option, print_json, say, write_text
from stenograph.cli.progress import Progress
from stenograph.fleet.store.objects import Objects, open_store
from stenograph.fleet.store.pull import find_archive, pull, stored_archives
from stenograph.render.control_chars import on_one_line


@click.command(
    "pull",
    epilog="Example: steno pull s3://bucket/steno 8b655e41 --into ~/old-laptop",
)
@click.argument("url", metavar="URL")
@click.argument("archive", metavar="[ARCHIVE]", required=False)
@click.option("--into", metavar="DIR", help="The folder.  [default: $STENOGRAPH_HOME, or the data folder]")
@json_option
def command(url: str, archive: str | None, into: str | None, as_json: bool) -> None:
    """Bring back an archive that steno push sent to URL, byte for byte, and build its index.

    ARCHIVE is its id or the unique beginning of it; without one, the archives in the store are listed. The folder must
    be empty or hold an earlier pull of the same archive, which is then brought up to date. You may interrupt it at any
    moment; the next pull continues.
    """
    store = open_store(url, must_exist=True)
    if archive is None:
        _list(store, as_json=as_json)
        return
    shows = sys.stderr.isatty() and not as_json
    with (
        Progress("brought", in_bytes=True, is_shown=shows) as bringing,
        Progress("indexing what is kept", in_bytes=True, is_shown=shows) as indexing,
    ):
        home = home_of(into)
        pulled = pull(store, find_archive(store, archive), home, progress=bringing.reach, indexing=indexing.add)
    if as_json:
        print_json({"url": url, "into": str(home.path), **msgspec.to_builtins(pulled)})
        return
    whose = f"archive {pulled.archive} ({pulled.user}@{pulled.host})"
    left = f"; {pulled.forgotten} forgotten runs were left out" if pulled.forgotten else ""
    write_text(on_one_line(f"brought {pulled.bytes:,} bytes of {whose} to {home.path}{left}") + "\n")


def _list(store: Objects, *, as_json: bool) -> None:
    found = stored_archives(store)
    if as_json:
        print_json([msgspec.to_builtins(each) for each in found])
        return
    if not found:
        say(f"no archive is in {store.url} yet; steno push sends one")
    for each in found:
        team = f" ({each.team})" if each.team else ""
        write_text(on_one_line(f"{each.id}  {each.made_at}  {each.user}@{each.host}{team}") + "\n")
