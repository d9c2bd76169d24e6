"""`steno run` and sessions that are not files of lines: which is the command's, and what of it is new."""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from hermes_database import change, make_database
from stenograph import read_events
from stenograph.adapters.commands.agent_program import SessionSearch
from stenograph.adapters.following.collection import SessionCollection, unrecorded
from stenograph.formats.registry import formats
from stenograph.sources.detection import Detection, detect_file
from stored_sessions import laid_out

FOLDER = Path("/home/user/proj")
FAILED = "20261116_130044_6d188e"


def found_by(home: Path, name: str, *, before: float = 0.0, folder: Path = FOLDER) -> list[str]:
    """The sessions that a command in a folder has written since it began."""
    began = datetime.fromtimestamp(datetime.now(UTC).timestamp() - before, UTC)
    search = SessionSearch({"HOME": str(home)}, folder, began)
    search.by_folder([formats()[name]])
    return list(search.found)


def test_a_document_is_the_commands_by_its_folder_and_time(tmp_path: Path) -> None:
    """What stands beside the document names the folder; an old one is not the command's."""
    laid_out("cline", "full", tmp_path / ".cline" / "data" / "sessions")
    (main,) = tmp_path.rglob("*.messages.json")
    os.utime(main)
    assert found_by(tmp_path, "cline", before=60) == [f"{main}#{main.parent.name}"]
    assert found_by(tmp_path, "cline", before=60, folder=FOLDER / "deeper") == []
    os.utime(main, (1, 1))
    assert found_by(tmp_path, "cline", before=60) == []


def test_only_sessions_of_a_database_that_changed_are_the_commands(tmp_path: Path) -> None:
    """All are in one file, which is always new: how far each had come before says which was written."""
    database = make_database(tmp_path / ".hermes" / "state.db", "resumed", "model-error")
    search = SessionSearch({"HOME": str(tmp_path)}, FOLDER, datetime.fromtimestamp(0, UTC))
    search.note_databases([formats()["hermes_agent"]])
    search.by_folder([formats()["hermes_agent"]])
    assert search.found == {}
    with change(database) as connection:
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', 'on', 1794834099.5)",
            (FAILED,),
        )
    search.hurry()
    search.by_folder([formats()["hermes_agent"]])
    assert list(search.found) == [f"{database}#{FAILED}"]


def test_a_session_that_was_whole_before_the_first_look_is_the_commands_by_its_times(tmp_path: Path) -> None:
    """A quick command has written its database before our modules are loaded; an older session stays out."""
    database = make_database(tmp_path / ".hermes" / "state.db", "resumed", "model-error")
    began = datetime.now(UTC)
    with change(database) as connection:
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', 'on', ?)",
            (FAILED, began.timestamp() + 1),
        )
    search = SessionSearch({"HOME": str(tmp_path)}, FOLDER, began)
    search.note_databases([formats()["hermes_agent"]])
    search.by_folder([formats()["hermes_agent"]])
    assert search.found == {}
    search.hurry()
    search.by_folder([formats()["hermes_agent"]])
    assert list(search.found) == [f"{database}#{FAILED}"]


def _recorded(found: Detection, root: Path) -> int:
    collection = SessionCollection(found, root)
    try:
        return collection.finish()
    finally:
        collection.close()


def test_a_session_that_goes_on_is_recorded_once(tmp_path: Path) -> None:
    """A second command that resumes it adds what is new, wherever in the document that stands."""
    laid_out("openhands", "resumed", tmp_path / "conversations")
    (folder,) = (tmp_path / "conversations").iterdir()
    late = sorted((folder / "events").iterdir())[11:]
    texts = {path: path.read_bytes() for path in late}
    for path in late:
        path.unlink()
    found = detect_file(folder / "base_state.json")
    first = _recorded(found, tmp_path / "root")
    for path, text in texts.items():
        path.write_bytes(text)
    assert unrecorded(found, tmp_path / "root") > 0
    second = _recorded(found, tmp_path / "root")
    (journal,) = (tmp_path / "root").rglob("*.jsonl")
    events = list(read_events(journal))
    assert len(events) == first + second
    assert unrecorded(found, tmp_path / "root") == 0
    told = Counter(json.dumps(event.payload.message_id) for event in events if event.type == "token.usage")
    assert set(told.values()) == {1}
    assert len(told) == 6
