"""The files that an archive keeps, by path, by number, and by source."""

from __future__ import annotations

import sqlite3

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.store.kept_file import KeptFile, load_files
from stenograph.archive.store.pack import About


class KeptFiles:
    """All kept files, in memory; changes are written to the index."""

    def __init__(self, connection: sqlite3.Connection, index: IndexWriter) -> None:
        self._index = index
        self.by_path: dict[str, KeptFile] = {}
        self.by_id: dict[int, KeptFile] = {}
        self._last = 0
        self._speakers: dict[tuple[str, str, str], list[KeptFile]] = {}
        self._sources: dict[tuple[str, str], set[str]] = {}
        """The sources in the files of a run, by run and format."""
        for file in load_files(connection):
            self._enter(file)
        # The number of a file that was removed on purpose stays in the packs, and is never used again.
        self._last = max(self._last, connection.execute("SELECT coalesce(max(file), 0) FROM frames").fetchone()[0])

    def _enter(self, file: KeptFile) -> None:
        self.by_path[file.about.path] = self.by_id[file.id] = file
        self._last = max(self._last, file.id)
        self._speakers.setdefault(_speaker(file.about), []).append(file)
        self._sources.setdefault((file.about.run_id, file.about.format), set()).add(file.about.source)

    def add(self, about: About, id: int | None = None) -> KeptFile:
        """Add a file that was not kept before, with the next free number, or with `id`."""
        file = KeptFile(id or self._last + 1, about)
        self._enter(file)
        file.write(self._index)
        return file

    def rename(self, file: KeptFile, about: About) -> None:
        """Note that a file has another path now."""
        self.by_path.pop(file.about.path, None)
        self._speakers[_speaker(file.about)].remove(file)
        file.about = about
        self._enter(file)
        file.write(self._index)

    def pass_over(self, number: int) -> None:
        """Note that a number is taken by a file that is not kept any more."""
        self._last = max(self._last, number)

    def sources_beside(self, file: KeptFile) -> frozenset[str]:
        """The sources of other files of the same run."""
        about = file.about
        return frozenset(self._sources[about.run_id, about.format] - {about.source})

    def main_of(self, file: KeptFile) -> KeptFile | None:
        """The main file of the run that a subagent's file belongs to."""
        about = file.about
        mains = self._speakers.get((about.run_id, "main", about.format), []) if about.source != "main" else []
        return mains[0] if mains else None

    def same_source(self, file: KeptFile) -> list[KeptFile]:
        """Other files of the same run, source and format: copies, or pieces of one session."""
        return sorted((each for each in self._speakers[_speaker(file.about)] if each is not file), key=lambda e: e.id)


def _speaker(about: About) -> tuple[str, str, str]:
    return about.run_id, about.source, about.format
