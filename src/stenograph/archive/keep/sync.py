"""Bringing an archive up to date with the agents' folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import ParamSpec

from msgspec.structs import replace

from stenograph.archive.keep.comparison import Comparison
from stenograph.archive.keep.database import keep_database
from stenograph.archive.keep.discovery import (
    Discovery,
    NewFile,
    Work,
    about_of,
    lacks_facts,
    moved_about,
    updated_about,
)
from stenograph.archive.keep.input_files import InputFiles, OpenInput
from stenograph.archive.keep.opened_file import OpenedFile
from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.walk import Root, Seen, path_text
from stenograph.archive.keep.witness import OWN, rank_of
from stenograph.archive.store.kept_file import KeptFile
from stenograph.archive.writer import Store
from stenograph.errors import SourceError
from stenograph.formats.registry import formats
from stenograph.model.event import Event
from stenograph.sources.detection import Detection
from stenograph.sources.layout import SideFile
from stenograph.sources.layouts import layout_of

P = ParamSpec("P")
_Plan = tuple[OpenedFile, OpenInput]
Progress = Callable[[int, int], None]
"""Called with the number of sessions that are done, and of all sessions."""


def sync(
    store: Store, roots: Iterable[Root], progress: Progress | None = None, only: Collection[str] | None = None
) -> Summary:
    """Keep and index everything that is new below the roots; with `only`, of these files alone.

    Raises `StoreError` when the archive cannot be written.
    """
    return _Sync(store).run(list(roots), progress or (lambda done, of: None), only)


class _Sync:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._inputs = InputFiles()
        self._comparison = Comparison(store.batches.index)
        self.summary = Summary(rebuilt=store.is_rebuilt)

    def run(self, roots: list[Root], progress: Progress, only: Collection[str] | None) -> Summary:
        store, summary = self._store, self.summary
        events, written = store.events, store.packs.written
        discovery = Discovery(store, self._inputs)
        works = discovery.look(roots, only)
        own = [work for work in works if rank_of(work.format) == OWN]
        others = [work for work in works if rank_of(work.format) != OWN]
        for number, work in enumerate(own):
            progress(number, len(works))
            self._session(work, discovery)
        for each in discovery.databases:
            try:
                keep_database(store, each, summary)
            except SourceError as error:
                self.summary.fail(error)
        for number, work in enumerate(others, len(own)):
            progress(number, len(works))
            self._session(work, discovery)
        self._note_absence(discovery)
        progress(len(works), len(works))
        store.commit()
        for problem in discovery.problems:
            self.summary.fail(problem)
        summary.unchanged += discovery.unchanged
        summary.moved = len(discovery.moved)
        summary.left_out = dict(sorted(discovery.left_out.items()))
        summary.bytes_read += self._inputs.bytes
        summary.events = store.events - events
        summary.bytes_written = store.packs.written - written
        summary.damaged = store.damaged
        return summary

    def _note_absence(self, discovery: Discovery) -> None:
        for file in discovery.gone:
            file.is_present = False
            self._store.write_file(file)
            self.summary.gone += 1

    # One session.

    def _session(self, work: Work, discovery: Discovery) -> None:
        with ExitStack() as files:
            self._store.begin_batch()
            plans: list[_Plan] = []
            for file, seen in work.changed:
                if file.id in discovery.moved:
                    self._store.move_file(file, moved_about(file, seen))
                self._plan(plans, self._changed, file, seen, files)
            main: KeptFile | None = None
            for new_file in work.new:
                if new_file.main is not None:
                    main = self._store.files.get(path_text(new_file.main))
                self._plan(plans, self._new, new_file, main, files)
            plans.sort(key=lambda plan: plan[0].file.id)
            if plans:
                self._store.index_batch(
                    [opened for opened, _ in plans], [self._kept(opened, source) for opened, source in plans]
                )
            for opened, _ in plans:
                opened.report_to(self.summary)

    def _plan(self, plans: list[_Plan], make: Callable[P, _Plan | None], *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            plan = make(*args, **kwargs)
            if plan is not None:
                plan[0].cursor.open()
        except SourceError as error:
            self.summary.fail(error)
            return
        if plan is not None:
            plans.append(plan)

    def _new(self, new_file: NewFile, main: KeptFile | None, files: ExitStack) -> _Plan:
        source = files.enter_context(self._inputs.opened(new_file.seen.path))
        file = self._store.add_file(about_of(new_file.file, new_file.seen.root, main))
        self.summary.new += 1
        self._note_status(file, new_file.seen, source)
        opened = self._store.open(file, is_begun=True, live=self._side_file(file))
        self._keep_sidecar(file, new_file.seen.path)
        return opened, source

    def _learn(self, file: KeptFile, found: Detection) -> None:
        """Add facts that a file's beginning did not have yet: a session that has just begun names no folder."""
        about = updated_about(file, found)
        if about != file.about:
            self._store.move_file(file, about)

    def _changed(self, file: KeptFile, seen: Seen, files: ExitStack) -> _Plan | None:
        """Plan for a file that has grown or was rewritten; None for one that was only touched."""
        if file.about.is_document or lacks_facts(file):
            found, (_, records) = self._inputs.detect(seen.path, formats().get(file.about.format))
            if file.about.is_document and _names_other_run(file, found):
                return self._replaced(file, NewFile(seen, found, records), files)
            self._learn(file, found)
        source = files.enter_context(self._inputs.opened(seen.path))
        size = source.status.st_size
        is_same = self._comparison.is_same(file, source)
        self._note_status(file, seen, source)
        if is_same and size == file.kept:
            self._store.write_file(file)
            self.summary.unchanged += 1
            return None
        live = self._side_file(file)
        if is_same:
            opened = self._store.open(file, is_begun=False, live=live)
            if opened.cursor.is_continued_by(source.read(file.kept, 2)):
                self.summary.grown += 1
                self._keep_sidecar(file, seen.path)
                return opened, source
        self.summary.rewritten += 1
        file.version += 1
        file.kept = file.unchecked = file.next_range = 0
        return self._store.open(file, is_begun=True, live=live), source

    def _replaced(self, file: KeptFile, new_file: NewFile, files: ExitStack) -> _Plan:
        """An agent that keeps only its last run wrote the next one over it: both are kept, each as its own file."""
        about = replace(file.about, path=f"{file.about.path}~{file.about.run_id}")
        self._store.move_file(file, about)
        file.is_present = False
        self._store.write_file(file)
        return self._new(new_file, None, files)

    def _note_status(self, file: KeptFile, seen: Seen, source: OpenInput) -> None:
        status = source.status
        file.size, file.mtime_ns, file.inode = status.st_size, status.st_mtime_ns, status.st_ino
        file.is_present = True

    def _side_file(self, file: KeptFile) -> SideFile:
        main = file if file.about.main is None else self._store.by_id[file.about.main]
        return layout_of(file.about.format).side_file(Path(main.about.path), file.about.native_id, self._inputs.open)

    def _keep_sidecar(self, file: KeptFile, path: Path) -> None:
        """Keep a subagent's sidecar with its file."""
        sidecar = layout_of(file.about.format).sidecar_of(path)
        if sidecar is None or file.about.main is None or not os.path.lexists(sidecar):
            return
        try:
            with self._inputs.opened(sidecar) as source:
                data = b"".join(source.chunks(0))
            if not file.kept or data != self._store.kept.side(file.id, sidecar.name):
                self._store.keep_side(file, sidecar.name, data)
        except SourceError as error:
            self.summary.fail(error)

    def _kept(self, opened: OpenedFile, source: OpenInput) -> Iterator[Event]:
        """Keep what is new in a file, a frame at a time, and yield its events."""
        try:
            if source.status.st_size == 0:  # the packs must say that the version began
                self._store.keep(opened, b"")
            for chunk in source.chunks(opened.file.kept):
                self._store.keep(opened, chunk)
                yield from opened.feed(chunk)
        except SourceError as error:
            self.summary.fail(error)
        yield from opened.settle()


def _names_other_run(file: KeptFile, found: Detection) -> bool:
    """Whether a document names another run than the one that was kept under its path."""
    name, known = found.identity.native_id, file.about.native_id
    return bool(name and known) and name != known
