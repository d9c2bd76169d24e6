"""Retention: `steno sync` and `steno watch` remove what a `[[keep]]` rule with `apply` no longer keeps."""

from __future__ import annotations

import time

from stenograph import config
from stenograph.archive.keep.summary import Summary
from stenograph.archive.marks import marked_runs
from stenograph.archive.reader import IndexReader
from stenograph.archive.store.damage import readable_index
from stenograph.archive.store.home import Home
from stenograph.clock import utc_now
from stenograph.query.retention import Expiry, expiries
from stenograph.runs.forgetting import forget_runs, plan_of_runs

INTERVAL = 3600.0
"""Seconds between two checks for expired runs while an archive is watched."""


def expired_runs(home: Home) -> list[Expiry]:
    """What each rule of the configuration no longer keeps; nothing where there is no rule."""
    rules = config.keep_rules()
    if not rules or not home.index.exists():
        return []
    with readable_index(), IndexReader(home.path) as reader:
        starred = marked_runs(home.path, starred=True, tag=None)
        return expiries(reader.index, rules, starred, int(time.time() * 1000))


def remove_expired(home: Home, summary: Summary) -> None:
    """Remove what has expired, or count what would be removed by rules without `apply`."""
    for each in expired_runs(home):
        if not each.run_ids:
            continue
        if each.rule.apply:
            plan = plan_of_runs(home, each.run_ids)
            forget_runs(home, plan, why=f"expired: {each}", by="steno retention", at=utc_now(), expired=True)
            summary.expired += len(each.run_ids)
        else:
            summary.expiring += len(each.run_ids)


class Retention:
    """Retention while an archive is watched: at the first sync, and then once an hour."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._next = 0.0

    def after(self, summary: Summary) -> None:
        """Remove what has expired, when it is time."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + INTERVAL
            remove_expired(self._home, summary)
