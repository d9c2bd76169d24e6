"""Databases that hold many sessions: each is kept as a file of its own, to which new and changed rows are appended."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from msgspec.structs import replace

from stenograph.archive.keep.discovery import DATABASE, NewFile, about_of, note_skipped
from stenograph.archive.keep.opened_file import OpenedFile, lines_in
from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.walk import path_text
from stenograph.archive.store.kept_file import KeptFile
from stenograph.archive.store.pack import FRAME_BYTES, About
from stenograph.archive.writer import Store
from stenograph.formats.base import run_id_of
from stenograph.formats.layout import State, StoredSession
from stenograph.model.event import Event
from stenograph.sources.failures import named_failures
from stenograph.sources.known import digest_of
from stenograph.sources.layouts import layout_of
from stenograph.sources.session import source_file, stored_file


def keep_database(store: Store, new_file: NewFile, summary: Summary) -> None:
    """Keep the rows of a database that are new or different. Raises `SourceError` when it cannot be read."""
    assert new_file.found.spec is not None
    stored = layout_of(new_file.found.spec.name).stored(new_file.seen.path)
    assert stored is not None
    with stored as sessions:
        for _, group in groupby(sessions, key=lambda each: each.identity.native_id):
            _keep_run(store, new_file, list(group), summary)
    note_skipped(store, new_file.seen, DATABASE)


def _keep_run(store: Store, new_file: NewFile, sessions: list[StoredSession], summary: Summary) -> None:
    assert new_file.found.spec is not None
    run_id = run_id_of(new_file.found.spec.name, sessions[0].identity.native_id)
    if all(store.forgotten.holds_back(run_id, _path_of(new_file, each), each.state) for each in sessions):
        return
    store.begin_batch()
    plans: list[tuple[OpenedFile, list[bytes]]] = []
    main: KeptFile | None = None
    for session in sessions:
        path = _path_of(new_file, session)
        file = store.files.get(path)
        if file is None or not file.is_present or _state_of(file) != session.state or session.state is None:
            with named_failures(new_file.found.spec, path):
                lines = _changed_lines(store, file, session, summary)
                about = _about(new_file, session, main) if lines and file is None else None
            if about is not None:
                file = _added(store, about, summary)
            if file is not None:
                file.size, file.mtime_ns = session.state or (None, None)
                file.is_present = True
                store.write_file(file)
            if lines and file is not None:
                live = layout_of(file.about.format).side_file(new_file.seen.path, file.about.native_id)
                plans.append((store.open(file, is_begun=file.kept == 0, live=live), lines))
                plans[-1][0].cursor.open()
            summary.unchanged += not lines and file is not None
        else:
            summary.unchanged += 1
        if session.identity.source == "main":
            main = file
    plans.sort(key=lambda plan: plan[0].file.id)
    summary.grown += sum(opened.file.kept > 0 for opened, _ in plans)
    if plans:
        store.index_batch([opened for opened, _ in plans], [_kept(store, *plan) for plan in plans])
    for opened, _ in plans:
        opened.report_to(summary)


def _state_of(file: KeptFile) -> State | None:
    """The state that a session had when it was last read: a session of a database has no size and no time."""
    return None if file.size is None or file.mtime_ns is None else (file.size, file.mtime_ns)


def _changed_lines(store: Store, file: KeptFile | None, session: StoredSession, summary: Summary) -> list[bytes]:
    """The lines of rows that are new or different: by what the database noted, else by comparing all of them."""
    state = None if file is None or session.state is None else _state_of(file)
    lines = None if state is None else session.lines_since(state)
    if lines is not None:
        summary.bytes_read += sum(map(len, lines))
        return lines
    lines = list(session.lines())
    summary.bytes_read += sum(map(len, lines))
    if file is None:
        return lines
    kept = lines_in(store.kept.sound_chunks(file.id, file.version))
    return [line for line in lines if digest_of(line[:-1]) not in kept]


def _added(store: Store, about: About, summary: Summary) -> KeptFile:
    summary.new += 1
    return store.add_file(about)


def _kept(store: Store, opened: OpenedFile, lines: list[bytes]) -> Iterator[Event]:
    """Keep the lines, a frame at a time, and give their events."""
    waiting: list[bytes] = []
    size = 0
    for number, line in enumerate(lines, 1):
        waiting.append(line)
        size += len(line)
        if size >= FRAME_BYTES or number == len(lines):
            data = b"".join(waiting)
            store.keep(opened, data)
            yield from opened.feed(data)
            waiting, size = [], 0
    yield from opened.settle()


def _path_of(new_file: NewFile, session: StoredSession) -> str:
    """What a session of a database is called."""
    identity = session.identity
    inside = identity.native_id if identity.source == "main" else f"{identity.native_id}/{identity.source}"
    return path_text(f"{new_file.seen.path}#{inside}")


def _about(new_file: NewFile, session: StoredSession, main: KeptFile | None) -> About:
    inside, member = stored_file(new_file.found, session)
    file = replace(source_file(inside, member=member), path=_path_of(new_file, session))
    return about_of(file, new_file.seen.root, main)
