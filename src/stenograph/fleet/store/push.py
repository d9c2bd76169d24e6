"""Sends what is new in an archive to a store, from where the last sender stopped.

Theory of operation. This machine keeps no state: the content of the store says where to continue. The first check is
whether what the store has under our id is ours; if not, two machines use one id (a copied disk, a restored snapshot),
and this one takes a new id. Events are sent first, because readers wait for them; then packs and journals. The archive
is only read, so a sender that waits for the store blocks no other process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import Struct

from stenograph.archive.reader import IndexReader
from stenograph.archive.store.damage import readable_index
from stenograph.archive.store.forgotten import read_forgotten
from stenograph.archive.store.home import Home
from stenograph.archive.store.identity import ArchiveIdentity, renew_identity
from stenograph.archive.store.lock import Lock
from stenograph.archive.writer import Store
from stenograph.errors import RunNotFound, StoreError
from stenograph.fleet.store.keys import identity_key
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.pieces import Forked, Raced
from stenograph.fleet.store.sent_events import Reached, SentEvents
from stenograph.fleet.store.sent_journals import sent_journals
from stenograph.fleet.store.sent_packs import sent_packs, sync_packs
from stenograph.fleet.store.tombstones import forgotten_runs, read_tombstone
from stenograph.runs.forgetting import forget_runs, plan_of_runs

if TYPE_CHECKING:
    from stenograph.fleet.store.masked import MaskedRuns

_PATIENCE = 30.0
_MOST_RACES = 5
Progress = Callable[[int, int], None]
"""Called with the number of bytes that were sent, and of all."""


class Pushed(Struct, kw_only=True):
    """What was sent, or would be."""

    archive: str
    """The id under which it is in the store."""
    generation: str = ""
    events: int = 0
    event_bytes: int = 0
    """Of event segments, compressed."""
    bytes: int = 0
    """Of packs and journals."""
    objects: int = 0
    behind: int = 0
    """Of a dry run: bytes that would be sent."""
    forgotten: tuple[str, ...] = ()
    """Runs that were removed here because the store has their tombstones."""
    continues: str | None = None
    """The id that the archive had, if the store has another history under it."""
    why: str | None = None
    """What that other history has."""


def obey_tombstones(home: Home, store: Objects, archive: str, *, dry_run: bool = False) -> tuple[str, ...]:
    """Remove the runs from an archive whose tombstones the store has; returns them."""
    known = read_forgotten(home.forgotten).on_purpose()
    new = sorted(forgotten_runs(store, archive) - known)
    for run_id in () if dry_run else new:
        tombstone = read_tombstone(store, archive, run_id)
        forget_runs(home, plan_of_runs(home, [run_id]), why=tombstone.why, by=tombstone.by, at=tombstone.at)
    return tuple(new)


class _Part(Protocol):
    def behind(self) -> int: ...

    def pieces(self) -> Iterator[tuple[str, bytes]]: ...


def push(
    home: Home,
    store: Objects,
    *,
    events_only: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Pushed:
    """Send everything that the store lacks of an archive. It may be killed at any moment, and called again.

    With `events_only`, only events are sent, with secrets masked.

    Raises `StoreError` if the store cannot be written or lets objects be created twice, `ArchiveLocked` if another
    process sends, `RunNotFound` if there is no archive yet.
    """
    return Sender(home, store, events_only=events_only).send(dry_run=dry_run, progress=progress)


class Sender:
    """Sends an archive repeatedly: from the second time on, new events cost one request to the store."""

    def __init__(self, home: Home, store: Objects, *, events_only: bool = False) -> None:
        self._home = home
        self._store = store
        self._masked = _masked_runs() if events_only else None
        self._tried: str | None = None
        """The id under which the store was tried."""
        self._reached: Reached | None = None

    def send(self, *, with_files: bool = True, dry_run: bool = False, progress: Progress | None = None) -> Pushed:
        """Send what is new; without `with_files`, only events. Raises what `push` raises."""
        lock = Lock(self._home.push_lock, "steno push")
        identity = _identity(self._home)
        lock.acquire()
        try:
            pushed = Pushed(archive=identity.id)
            if not dry_run:
                self._try(identity)
            if with_files:
                pushed.forgotten = obey_tombstones(self._home, self._store, identity.id, dry_run=dry_run)
            return self._send(pushed, with_files, dry_run, progress or (lambda done, of: None))
        except BaseException:
            self._reached = None
            raise
        finally:
            if self._masked is not None:
                self._masked.rest()
            lock.release()

    def _send(self, pushed: Pushed, with_files: bool, dry_run: bool, progress: Progress) -> Pushed:
        for _ in range(_MOST_RACES):
            sending = _Sending(self._home, self._store, pushed, progress, self._masked)
            try:
                self._reached = sending.run(self._reached, with_files=with_files, dry_run=dry_run)
                return pushed
            except Raced:
                self._reached = None
            except Forked as fork:
                self._reached = None
                if dry_run:
                    pushed.why = fork.what
                    return pushed
                identity = _fork(self._home)
                self._try(identity)
                pushed = Pushed(
                    archive=identity.id, forgotten=pushed.forgotten, continues=identity.continues, why=fork.what
                )
        raise StoreError(f"another machine sends to {self._store.url} under the id {pushed.archive}; stop it")

    def _try(self, identity: ArchiveIdentity) -> None:
        if self._tried != identity.id:
            self._store.require_conditional_create(identity_key(identity.id), msgspec.json.encode(identity))
            self._tried, self._reached = identity.id, None  # progress under another id does not count


def _masked_runs() -> MaskedRuns:
    from stenograph.fleet.store.masked import MaskedRuns  # many patterns, slow to load

    return MaskedRuns()


class _Sending:
    def __init__(
        self, home: Home, store: Objects, pushed: Pushed, progress: Progress, masked: MaskedRuns | None
    ) -> None:
        self._home = home
        self._store = store
        self._pushed = pushed
        self._progress = progress
        self._masked = masked
        self._done = 0
        self._total = 0

    def run(self, reached: Reached | None, *, with_files: bool, dry_run: bool) -> Reached | None:
        """Send it; returns how far the events are sent then. `reached` is how far they were."""
        archive, home, store, pushed = self._pushed.archive, self._home, self._store, self._pushed
        with readable_index(), IndexReader(home.path) as reader:
            parts: list[_Part] = []
            if with_files and self._masked is None:
                parts = [*sent_packs(home.kept, archive, store), *sent_journals(home, archive, store)]
            events = SentEvents(reader, archive, store, masked=self._masked, reached=reached)
            pushed.generation = events.generation.name
            self._total = events.behind() + sum(part.behind() for part in parts)
            if dry_run:
                pushed.behind = self._total
                return None
            if self._total:
                sync_packs(home.kept)
            for key, data, count in events.segments():
                self._create(key, data)
                pushed.events += count
                pushed.event_bytes += len(data)
            for part in parts:
                for key, data in part.pieces():
                    self._create(key, data)
                    pushed.bytes += len(data)
            return events.reached

    def _create(self, key: str, data: bytes) -> None:
        self._progress(self._done, max(self._total, self._done))
        if not self._store.create(key, data) and self._store.find(key) != data:
            raise Raced
        self._done += len(data)
        self._pushed.objects += 1
        self._progress(self._done, max(self._total, self._done))


def _identity(home: Home) -> ArchiveIdentity:
    """The identity of the archive; an index from an older Stenograph gets its name first."""
    with readable_index(), IndexReader(home.path) as reader:
        is_named = reader.index_name != UNNAMED
    if not is_named or home.identity() is None:
        with Store(home, patience=_PATIENCE):
            pass
    identity = home.identity()
    if identity is None:
        raise RunNotFound(f"there is no archive in {home.path} yet; run: steno sync", str(home.path))
    return identity


def _fork(home: Home) -> ArchiveIdentity:
    """A new id for this archive, which continues the old one."""
    lock = Lock(home.write_lock, "steno sync or steno watch")
    lock.acquire(_PATIENCE)
    try:
        renewed = renew_identity(home.kept)
        if home.evidence.exists():  # checkpoints belong to one id: the old ones must not be continued
            home.evidence.rename(home.path / f"evidence-{renewed.continues}")
        return renewed
    finally:
        lock.release()


UNNAMED = "00000000"
