"""The archive from Python: runs, search, statistics, SQL, a run, a sync."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from archive_cases import SESSION, THREAD, claude_line, codex_line, session_path, subagent_path, thread_path, written
from stenograph import Archive, RunInfo, SourceError, open_archive, open_run
from stenograph.errors import AmbiguousRun, InvalidQuery, RunNotFound
from stenograph.query.short_ids import short_ids

OTHER = SESSION[:-1] + "1"
HOUR_AGO = 3 * 3600


@pytest.fixture
def unfilled(tmp_path: Path) -> Iterator[Archive]:
    """An archive that has nothing yet."""
    with open_archive(tmp_path / "archive") as archive:
        yield archive


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with three sessions that nobody has written to for hours, and their archive."""
    folder = tmp_path_factory.mktemp("archive")
    home = folder / "home"
    written(session_path(home), claude_line(1, text="Mend parse_config."), claude_line(2, "assistant", "Mended."))
    written(subagent_path(home), claude_line(3, isSidechain=True, agentId="a1"))
    written(session_path(home, OTHER), claude_line(9, "call", "ls", session=OTHER, cwd="/home/user/second"))
    written(thread_path(home), codex_line(0), codex_line(1, "Look at parse_config."))
    for path in home.rglob("*.jsonl"):
        status = path.stat()
        os.utime(path, (status.st_atime, status.st_mtime - HOUR_AGO))
    progress: list[tuple[int, int]] = []
    with open_archive(folder / "archive") as archive:
        summary = archive.sync(lambda done, of: progress.append((done, of)), home=str(home))
    assert (summary.new, summary.failed) == (4, 0)
    assert progress[0] == (0, 3)
    assert progress[-1] == (3, 3)
    return folder


@pytest.fixture
def archive(made: Path) -> Iterator[Archive]:
    """The archive, opened."""
    with open_archive(made / "archive") as opened:
        yield opened


def _ids(archive: Archive, **filters: object) -> list[str]:
    return [run.run_id for run in archive.runs(**filters)]  # type: ignore[arg-type]


def test_runs_are_run_infos_with_the_newest_first(archive: Archive) -> None:
    """Exactly what opening each of them says."""
    runs = archive.runs()
    assert [run.run_id for run in runs] == [THREAD, OTHER, SESSION]
    for info in runs:
        assert isinstance(info, RunInfo)
        with archive.run(info.run_id) as run:
            assert run.info == info


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"agent": "codex"}, [THREAD]),
        ({"project": "second"}, [OTHER]),
        ({"project": "/home/user/project"}, [SESSION]),
        ({"since": "2026-03-01T10:30:00+00:00"}, [THREAD]),
        ({"until": "2026-03-01T10:30:00+00:00"}, [OTHER, SESSION]),
        ({"status": "finished"}, [SESSION]),
        ({"status": "failed"}, []),
        ({"model": "claude"}, [OTHER, SESSION]),
        ({"grep": "parse_config"}, [THREAD, SESSION]),
        ({"limit": 2}, [THREAD, OTHER]),
        ({"limit": 1, "after": THREAD}, [OTHER]),
        ({"after": SESSION}, []),
        ({"agent": "claude", "grep": "parse_config", "status": "finished"}, [SESSION]),
    ],
)
def test_runs_can_be_filtered_and_taken_a_page_at_a_time(
    archive: Archive, filters: dict[str, object], wanted: list[str]
) -> None:
    """Each filter alone and together; pages join to the whole."""
    assert _ids(archive, **filters) == wanted


def test_a_mistake_in_a_filter_is_said(archive: Archive) -> None:
    """Not taken for a filter that lets nothing through."""
    with pytest.raises(InvalidQuery, match="'done' is not a status; use one of running, waiting"):
        archive.runs(status="done")
    with pytest.raises(InvalidQuery):
        archive.runs(since="some day")
    with pytest.raises(RunNotFound, match="to continue after"):
        archive.runs(after="nothing")
    with pytest.raises(InvalidQuery, match="cannot add up by 'year'"):
        archive.stats("year")


def test_search_gives_hits_that_open_at_their_event(archive: Archive) -> None:
    """Newest first; the number is that of the archived run."""
    hits = archive.search("parse_config")
    assert [hit.run_id for hit in hits] == [THREAD, SESSION]
    for hit in hits:
        with open_run(hit.run_id, archive=archive.path) as run:
            (event,) = run.events(from_seq=hit.seq, to_seq=hit.seq)
        assert event.timestamp == hit.timestamp
    assert [hit.run_id for hit in archive.search("parse_config", agent="claude", role="user", limit=1)] == [SESSION]
    assert archive.search("parse_config", status="finished")[0].run_id == SESSION
    assert archive.search("nothing like it") == ()


def test_statistics_are_rows_with_totals(archive: Archive) -> None:
    """They add up."""
    stats = archive.stats("agent")
    assert [row["agent"] for row in stats] == ["claude"]
    assert stats.totals["runs"] == 3
    assert sum(row["input_tokens"] for row in stats) == stats.totals["input_tokens"] > 0
    assert [row["agent"] for row in archive.stats("agent", status="finished")] == ["claude"]


def test_sql_gives_rows_by_name(archive: Archive) -> None:
    """Over the views, reading only; two columns of one name are told apart."""
    rows = archive.sql("SELECT agent, count(*) AS n, 1 AS n FROM runs GROUP BY agent ORDER BY agent")
    assert rows.to_dicts() == [{"agent": "claude", "n": 2, "n_2": 1}, {"agent": "codex", "n": 1, "n_2": 1}]
    assert (rows[0]["n"], dict(rows[1])["agent"], len(rows[0])) == (2, "codex", 3)
    with pytest.raises(InvalidQuery):
        archive.sql("DELETE FROM runs")
    with pytest.raises(InvalidQuery, match="more than 1 rows"):
        archive.sql("SELECT run_id FROM runs", max_rows=1)


def test_the_view_of_runs_has_the_fields_of_run_info(archive: Archive) -> None:
    """With the same values; a truth is 1 or 0 in SQL."""
    names = [name for name in RunInfo.__struct_fields__ if name != "branch"]
    rows = archive.sql(f"SELECT {', '.join(names)} FROM runs ORDER BY ended_at DESC").to_dicts()
    wanted = [{name: info[name] for name in names} for info in archive.runs().to_dicts()]
    assert rows == wanted


def test_rows_cannot_be_changed_and_are_one_step_from_a_data_frame(archive: Archive) -> None:
    """Plain values, by column, the same columns in every row."""
    for rows in (archive.runs(), archive.search("parse_config"), archive.stats("model"), archive.sql("SELECT 1 AS a")):
        dicts = rows.to_dicts()
        assert json.loads(json.dumps(dicts)) == dicts
        assert {tuple(each) for each in dicts} == {tuple(dicts[0])}
        with pytest.raises((TypeError, AttributeError)):
            rows[0].run_id = "x"  # type: ignore[union-attr]
        with pytest.raises(TypeError):
            rows[0]["run_id"] = "x"  # type: ignore[index,unused-ignore]
        assert hash(rows[0]) == hash(rows[0])


def test_a_run_is_found_by_a_beginning_or_its_age(archive: Archive) -> None:
    """In the archive alone."""
    with archive.reading() as reader:
        short = short_ids(reader.index)[THREAD]
    for name, run_id in [(short, THREAD), ("@", THREAD), ("@3", SESSION)]:
        with archive.run(name) as run:
            assert run.info.run_id == run_id
    with pytest.raises(AmbiguousRun):
        archive.run(SESSION[:8])
    with pytest.raises(RunNotFound):
        archive.run("ffff")


def test_the_files_of_a_run_are_given_back(archive: Archive, made: Path, tmp_path: Path) -> None:
    """Byte for byte, also when the agent has deleted them."""
    written_files = archive.restore(SESSION, tmp_path)
    assert sorted(path.read_bytes() for path in written_files) == sorted(
        path.read_bytes() for path in (session_path(made / "home"), subagent_path(made / "home"))
    )


def test_an_archive_need_not_exist_before_the_first_sync(tmp_path: Path, unfilled: Archive) -> None:
    """Reading says how to make one; a sync makes it, and what it adds is seen at once."""
    archive = unfilled
    assert archive.identity is None
    with pytest.raises(RunNotFound, match="run: steno sync"):
        archive.runs()
    home = tmp_path / "home"
    path = written(session_path(home), claude_line(1))
    archive.sync(home=str(home))
    assert [run.turns for run in archive.runs()] == [1]
    written(path, claude_line(2))
    archive.sync(home=str(home), rebuild=True)
    assert [run.turns for run in archive.runs()] == [2]
    with pytest.raises(SourceError, match="there is no folder"):
        archive.sync(home=str(tmp_path / "nobody"))


def test_an_archive_has_an_id_that_is_made_once(tmp_path: Path, unfilled: Archive) -> None:
    """In `kept/archive.json`, for its owner alone; it survives the index, and moves with the packs."""
    archive = unfilled
    home = tmp_path / "home"
    written(session_path(home), claude_line(1))
    archive.sync(home=str(home))
    path = archive.path / "kept" / "archive.json"
    told = json.loads(path.read_bytes())
    assert list(told) == ["id", "made_at", "host", "user"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    archive.sync(home=str(home), rebuild=True)
    assert json.loads(path.read_bytes()) == told
    assert archive.runs()[0].archive_id == told["id"]
    path.write_bytes(msgspec.json.encode({**told, "team": "parsers", "later": 1}))
    assert archive.identity is not None
    assert archive.identity.team == "parsers"
    path.write_text("{")
    with pytest.raises(SourceError, match=r"archive\.json does not say which archive it is"):
        archive.runs()


def test_a_damaged_index_is_one_sentence(tmp_path: Path, unfilled: Archive) -> None:
    """With the way out."""
    archive = unfilled
    home = tmp_path / "home"
    written(session_path(home), claude_line(1))
    archive.sync(home=str(home))
    (archive.path / "index.db").write_bytes(b"nothing like it " * 1000)
    with pytest.raises(SourceError, match="steno sync --rebuild"):
        archive.runs()
