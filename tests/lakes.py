"""Lakes for tests: archives that are pushed to a folder, and views compared with those of a host."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from archive_cases import claude_line
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.fleet.lake.load import load
from stenograph.fleet.lake.reading import Lake
from stenograph.fleet.store.objects import Objects, open_store
from stenograph.fleet.store.push import push
from stenograph.query.prices import load_prices
from stenograph.query.views import VIEWS
from stenograph.runs.archive import open_archive, views


def age(sessions: Path) -> None:
    """Let files be old, so that no run of theirs is taken to be running."""
    for path in sessions.rglob("*"):
        os.utime(path, (1, 1))


def store_of(folder: Path) -> Objects:
    """A store in a folder."""
    return open_store(f"file://{folder}")


def push_and_load(homes: Iterable[Path], store: Objects) -> None:
    """Push archives, and load them."""
    for home in homes:
        push(home_of(home), store)
    load(store)


def differences(
    homes: Iterable[Path], url: str, shown: Callable[[object], str] = repr
) -> dict[str, tuple[Counter[str], Counter[str]]]:
    """By view: rows that only the hosts have (as `steno sql` gives them), and rows that only the lake has.

    Rows are the same that are `shown` alike.
    """
    host: dict[str, Counter[str]] = {view.name: Counter() for view in VIEWS}
    for home in homes:
        with open_archive(home) as archive, views(archive) as connection:
            for view in VIEWS:
                rows: Iterable[Any] = connection.execute(f"SELECT {', '.join(view.columns)} FROM {view.name}")
                host[view.name].update(map(shown, rows))
    found = {}
    with Lake(url).connected(prices=load_prices()) as connection:
        for view in VIEWS:
            rows = connection.execute(f"SELECT {', '.join(view.columns)} FROM {view.name}").fetchall()
            lake = Counter(map(shown, rows))
            if host[view.name] != lake:
                found[view.name] = (host[view.name] - lake, lake - host[view.name])
    return found


def growing(folder: Path) -> tuple[Path, Objects, Path]:
    """An archive, a store, and a session that `grow` adds to."""
    session = folder / "sessions" / "project" / "550e8400-e29b-41d4-a716-446655440000.jsonl"
    session.parent.mkdir(parents=True)
    return folder / "archive", store_of(folder / "store"), session


def grow(home: Path, session: Path, number: int) -> None:
    """A line more, and a sync."""
    with session.open("ab") as file:
        file.write(claude_line(number))
    age(session.parent)
    with Store(home_of(home)) as store:
        sync(store, [Root(session.parent.resolve(), None)])
