"""`steno lake build`: transcripts of a folder or bucket as tables, chunk by chunk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from archive_cases import claude_line
from archive_of_goldens import converted, copy_sessions, make_archive
from lakes import age, differences, store_of
from stenograph.cli.program import cli
from stenograph.errors import InvalidTarget
from stenograph.fleet.lake import build as building
from stenograph.fleet.lake.build import build, chunks_of
from stenograph.fleet.lake.engines import Chunk, run_chunk
from stenograph.fleet.lake.reading import Lake
from stenograph.fleet.store.objects import Entry
from stenograph.lake import chunk_job, commit_parts
from stenograph.query.prices import load_prices
from stenograph.runs.archive import open_archive

SIZE = 20_000


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks are done here, one after the other; `tests/integration/test_lake_kills.py` has real processes."""
    monkeypatch.setattr(building, "mapped", lambda engine, chunks, **_: map(run_chunk, chunks))


def lines_of(url: str) -> dict[tuple[str, int], tuple[str, str]]:
    with Lake(url).connected() as connection:
        rows = connection.execute("SELECT run_id, seq, type, timestamp FROM current_events").fetchall()
    assert len({row[:2] for row in rows}) == len(rows)
    return {(run_id, seq): (kind, when) for run_id, seq, kind, when in rows}


def test_a_build_has_every_event_of_every_session(tmp_path: Path) -> None:
    """As the converter gives them, one run after the other, whatever the chunks are."""
    sessions = copy_sessions(tmp_path / "sessions")
    built = build(f"file://{sessions}", f"file://{tmp_path}/out", chunk_bytes=SIZE)
    events = list(converted(sessions))
    told = {(event.run_id, event.seq): (event.type, event.told_at or None) for event in events}
    assert lines_of(f"file://{tmp_path}/out") == told
    assert built.chunks > 3
    assert (built.events, built.unread, built.is_committed) == (len(events), 0, True)


def test_the_views_over_a_build_are_those_of_an_archive(tmp_path: Path) -> None:
    """As many rows in each, and the same tokens and cost; an archive may number the events of a run otherwise."""
    home, sessions = make_archive(tmp_path)
    age(sessions)
    build(f"file://{sessions}", f"file://{tmp_path}/out")
    found = differences([home], f"file://{tmp_path}/out")
    assert {view: (only_host.total(), only_lake.total()) for view, (only_host, only_lake) in found.items()} == {
        view: (only_lake.total(), only_lake.total()) for view, (_, only_lake) in found.items()
    }
    sums = "SELECT sum(input_tokens), sum(output_tokens), round(sum(cost_usd), 4) FROM runs"
    with open_archive(home) as archive, Lake(f"file://{tmp_path}/out").connected(prices=load_prices()) as connection:
        assert list(map(tuple, connection.execute(sums).fetchall())) == [tuple(archive.sql(sums)[0].values())]


def test_a_build_goes_on_where_one_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that are there are taken as they are; until the commit, readers see what was there before."""
    sessions, url = copy_sessions(tmp_path / "sessions"), f"file://{tmp_path}/out"

    def dying(engine: str, chunks: list[Chunk], **_: object):  # type: ignore[no-untyped-def]
        yield run_chunk(chunks[0])
        yield run_chunk(chunks[1])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(building, "mapped", dying)
        with pytest.raises(KeyboardInterrupt):
            build(f"file://{sessions}", url, chunk_bytes=SIZE)
    assert not (tmp_path / "out/lake/events/_delta_log").exists()
    built = build(f"file://{sessions}", url, chunk_bytes=SIZE)
    assert built.reused == 2
    assert len(lines_of(url)) == built.events
    again = build(f"file://{sessions}", url, chunk_bytes=SIZE)
    assert (again.reused, again.is_committed, again.events) == (again.chunks, False, built.events)


def test_a_build_replaces_the_one_before(tmp_path: Path) -> None:
    """A session that is new or grew is in it, one that is gone is not, and unchanged chunks are not read again."""
    folder, url = tmp_path / "sessions", f"file://{tmp_path}/out"
    for number in range(3):
        (folder / str(number)).mkdir(parents=True)
        name = f"550e8400-e29b-41d4-a716-44665544000{number}"
        (folder / str(number) / f"{name}.jsonl").write_bytes(claude_line(number, session=name))
    build(f"file://{folder}", url, chunk_bytes=1)
    before = lines_of(url)
    grown = next((folder / "1").iterdir())
    grown.write_bytes(grown.read_bytes() + claude_line(7, session=grown.stem))
    next((folder / "2").iterdir()).unlink()
    built = build(f"file://{folder}", url, chunk_bytes=1)
    after = lines_of(url)
    assert built.reused == 1
    assert {run_id for run_id, _ in before} - {run_id for run_id, _ in after} == {
        "550e8400-e29b-41d4-a716-446655440002"
    }
    assert sum(run_id == grown.stem for run_id, _ in after) > sum(run_id == grown.stem for run_id, _ in before)


def test_secrets_are_masked_before_anything_is_written(tmp_path: Path) -> None:
    """Neither table has them, nor has a file."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    secret = "sk-ant-" + "api03-Zx8Qw3Er5Ty7Ui9Op1As2Df4Gh6Jk8Lz0Xc1Vb3Nm5Q"
    name = "550e8400-e29b-41d4-a716-446655440000"
    (folder / f"{name}.jsonl").write_bytes(claude_line(1, text=f"my key is {secret}", session=name))
    build(f"file://{folder}", f"file://{tmp_path}/out", redact=True)
    with Lake(f"file://{tmp_path}/out").connected() as connection:
        text = str(connection.execute("SELECT text, payload, envelope, error FROM events_table").fetchall())
        text += str(connection.execute("SELECT * FROM current_runs").fetchall())
    assert "my key is" in text
    assert secret not in text


def test_a_chunk_for_a_scheduler_of_ones_own(tmp_path: Path) -> None:
    """`chunk_job` and `commit_parts` are all that it takes; a chunk that is done twice is there once."""
    sessions, url = copy_sessions(tmp_path / "sessions"), f"file://{tmp_path}/out"
    keys = [str(path.relative_to(sessions)) for path in sorted(sessions.rglob("*.json*")) if path.is_file()]
    first = chunk_job(keys, f"file://{sessions}", url)
    second = chunk_job(keys, f"file://{sessions}", url)
    assert first == second
    commit_parts(url, [second])
    assert second.events is not None
    assert len(lines_of(url)) == second.events.rows
    with pytest.raises(InvalidTarget):
        chunk_job(["../secret.jsonl"], f"file://{sessions}", url)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """They do not stop the build."""
    sessions = copy_sessions(tmp_path / "sessions")
    (sessions / "notes.jsonl").write_text("just words\n")
    found = CliRunner().invoke(cli, ["lake", "build", f"file://{sessions}", f"file://{tmp_path}/out", "--json"])
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert told["unread"] == 1
    assert told["problems"] == ["notes.jsonl: no format recognizes it, skipped"]
    empty = CliRunner().invoke(cli, ["lake", "build", f"file://{tmp_path}/none", f"file://{tmp_path}/out"])
    assert "there are no transcripts below" in str(empty.exception)


names = st.sampled_from(["a", "b", "c", "agent-1", "subagents"])
keys = st.lists(st.lists(names, min_size=1, max_size=4).map(lambda parts: "/".join(parts) + ".jsonl"), max_size=30)


@settings(max_examples=100, deadline=None)
@given(keys, st.integers(1, 2000))
def test_chunks_have_every_key_once_and_keep_sessions_whole(found: list[str], most: int) -> None:
    """A file is in one chunk with everything below the folder of its name."""
    entries = [Entry(key, 100) for key in set(found)]
    chunks = chunks_of(entries, most)
    assert sorted(entry for chunk in chunks for entry in chunk.entries) == sorted(entries)
    places = {entry.key: number for number, chunk in enumerate(chunks) for entry in chunk.entries}
    for key in places:
        for other in places:
            if other.startswith(key.removesuffix(".jsonl") + "/"):
                assert places[other] == places[key]


def test_the_tables_are_made_where_the_url_says(tmp_path: Path) -> None:
    """And the commands of a load say so in one line each."""
    home, sessions = make_archive(tmp_path)
    age(sessions)
    store = store_of(tmp_path / "store")
    runner = CliRunner()
    for words in (
        ["push", store.url, "--archive", str(home)],
        ["lake", "load", store.url],
        ["lake", "compact", store.url],
    ):
        assert runner.invoke(cli, words).exit_code == 0
    found = runner.invoke(cli, ["lake", "check", store.url])
    assert found.stdout == "ok: 815 events of 1 archive, 0 of them with events to load\n"
    assert (tmp_path / "store/lake/events/_delta_log").is_dir()
