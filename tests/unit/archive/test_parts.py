"""Sessions that are kept in several files, and homes of agents that hold more than sessions."""

from __future__ import annotations

from pathlib import Path

from hermes_database import make_database
from stenograph.archive.keep.walk import Root, folders_below, transcript_of, walk
from stenograph.sources import convert
from stored_sessions import laid_out


def test_a_session_of_many_files_is_seen_once(tmp_path: Path) -> None:
    """Under the name of its main file, and as another one when any of its files has changed."""
    folder = laid_out("openhands", "parity", tmp_path)
    (main,) = folder.glob("*/base_state.json")
    for name in ("openhands", None):
        (before,) = walk(Root(tmp_path, name), {})
        assert before.path == main
        (event,) = folder.glob("*/subagents/*/events/event-00004-*.json")
        event.write_text(event.read_text("utf-8") + " ", "utf-8")
        (after,) = walk(Root(tmp_path, name), {})
        assert (after.path, after.size) == (main, before.size + 1)


def test_a_file_that_changed_names_the_main_one(tmp_path: Path) -> None:
    """That is what a watch looks at, also for a subagent's; a file that stands alone is itself."""
    openhands, cline = laid_out("openhands", "parity", tmp_path / "o"), laid_out("cline", "subagent", tmp_path / "c")
    (state,) = openhands.glob("*/base_state.json")
    (messages,) = cline.glob("*/1*.messages.json")
    (agent,) = cline.glob("*/agent_*.messages.json")
    events = [*openhands.glob("*/events/*.json"), *openhands.glob("*/subagents/*/events/*.json")]
    assert {transcript_of(str(path)) for path in (state, *events)} == {str(state)}
    assert {
        transcript_of(str(path)) for path in (agent, messages, messages.with_name(f"{messages.parent.name}.json"))
    } == {str(messages)}
    alone = tmp_path / agent.name
    agent.rename(alone)
    assert transcript_of(str(alone)) == str(alone)


def test_a_folder_of_such_sessions_is_converted_once(tmp_path: Path) -> None:
    """`steno convert DIR` reads each session by its main file."""
    laid_out("openhands", "parity", tmp_path / "o")
    laid_out("cline", "subagent", tmp_path / "c")
    conversion = convert(tmp_path)
    assert len({event.run_id for event in conversion}) == 2
    assert sorted(file.source or "" for file in conversion.files).count("main") == 2
    assert all(file.problem is None for file in conversion.files)


def test_the_home_of_a_database_is_not_searched_below_it(tmp_path: Path) -> None:
    """Hermes keeps programs and caches beside its database: they are neither looked into nor watched."""
    database = make_database(tmp_path / "state.db", "resumed")
    (tmp_path / "node_modules" / "deep").mkdir(parents=True)
    (tmp_path / "node_modules" / "package.json").write_text("{}\n", "utf-8")
    root = Root(tmp_path, "hermes_agent")
    assert [seen.path for seen in walk(root, {})] == [database]
    assert list(folders_below(root)) == [tmp_path]
    assert len(list(folders_below(Root(tmp_path, None)))) == 3
