"""What tests of witnesses share: a journal of a session as `steno collect` writes it, and a run as it stands."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from archive_cases import rows
from stenograph.adapters.following.collection import SessionCollection
from stenograph.archive.index.schema import open_index
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import JOURNALS, roots_of
from stenograph.archive.reader import IndexReader
from stenograph.archive.store.home import home_of
from stenograph.archive.writer import Store
from stenograph.model.codec import encode
from stenograph.sources.detection import detect_file

OURS = ("run.started", "run.completed")
"""Our own lifecycle events: no agent tells them."""
_RUN = """
    SELECT agent, format, cwd, project, agent_version, first_prompt, model, status, turns, tools, errors, input_tokens,
      output_tokens, cache_read_input_tokens FROM runs WHERE run_id = ?
"""


def collected(session: Path, root: Path) -> Path:
    """The journal of a session below `root`, with all that the session's files hold by now."""
    collection = SessionCollection(detect_file(session), root)
    try:
        collection.finish()
    finally:
        collection.close()
    return collection.recorder.path


def synced_part(home: Path, archive: Path, *, journals: bool, files: bool) -> None:
    """A sync of the agents' folders, of our journals, or of both."""
    roots = [root for root in roots_of({}, home, archive) if (journals if root.format == JOURNALS else files)]
    with Store(home_of(archive)) as store:
        sync(store, roots)


def run_as_told(archive: Path, run_id: str, *, without: Iterable[str] = OURS) -> dict[str, Any]:
    """A run of the archive: what its sources say in their order, its calls, its tokens, its row and its words."""
    left_out = set(without)
    with IndexReader(archive) as opened:
        number, _ = opened.find_run(run_id)
        events = list(opened.events(number))
    assert [event.seq for event in events] == sorted({event.seq for event in events})
    sources: dict[str, list[str]] = {}
    for event in events:
        if event.type not in left_out:
            line = json.loads(encode(event))
            sources.setdefault(event.source, []).append(json.dumps(line | {"seq": 0}, sort_keys=True))
    calls = "SELECT source, call_id, name, call IS NULL, result IS NULL, duration_ms, error FROM calls WHERE run = ?"
    usage = "SELECT source, scope, model, message_id, input_tokens, output_tokens FROM counted WHERE run = ?"
    return {
        "sources": sources,
        "calls": sorted(rows(archive, calls, number), key=repr),
        "usage": sorted(rows(archive, usage, number), key=repr),
        "run": rows(archive, _RUN, run_id),
        "words": _words(archive, number, left_out),
    }


def _words(archive: Path, run: int, left_out: set[str]) -> list[tuple[str, int]]:
    """How often each word is found in the run."""
    index = open_index(archive, readonly=True)
    try:
        index.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, instance)")
        marks = ", ".join("?" * len(left_out))
        query = f"""
            SELECT term, count(*) FROM vocabulary JOIN events ON events.id = vocabulary.doc
            WHERE events.run = ? AND events.type NOT IN ({marks}) GROUP BY term ORDER BY term
        """
        return index.execute(query, (run, *left_out)).fetchall()
    finally:
        index.close()
