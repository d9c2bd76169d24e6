"""`--store`: the same answers over everybody's runs as over an archive."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from archive_of_goldens import CLAUDE, make_archive
from lakes import age, grow, growing, push_and_load, store_of
from stenograph import open_archive
from stenograph.archive.store.identity import FILE
from stenograph.cli.program import cli
from stenograph.errors import InvalidQuery, InvalidTarget
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.push import push
from stenograph.query.views import EXAMPLES

LONG_AGO = ("--since", "2020-01-01")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Objects]:
    """An archive of golden sessions, and a store with what it pushed."""
    folder = tmp_path_factory.mktemp("stored")
    home, sessions = make_archive(folder)
    age(sessions)
    store = store_of(folder / "store")
    push_and_load([home], store)
    return home, store


def steno(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


def _long(*words: str) -> Any:
    """A case of `make scale`."""
    return pytest.param(words, marks=pytest.mark.scale)


@pytest.mark.parametrize(
    "words",
    [
        ("ls", "--json"),
        ("stats", "--json", "--by", "model"),
        ("stats", "--json", "--by", "tool"),
        ("show", "--json", CLAUDE[:6]),
        ("tail", "--json", "@2", "-n", "5"),
        _long("ls", "--json", "--agent", "codex", "--status", "finished"),
        _long("ls", "--json", "--since", "2026-11-15T19:13:00+00:00", "--until", "2026-11-15T19:13:30+00:00"),
        _long("stats", "--json", "--by", "hour"),
        _long("stats", "--json", "--by", "project", "--agent", "claude"),
        _long("stats", "--json", "--by", "block", "--since", "2026-11-15T19:13:25+00:00"),
        _long("show", "--as", "markdown", "@2"),
    ],
    ids=lambda words: " ".join(words),
)
def test_a_store_answers_as_its_archive(place: tuple[Path, Objects], words: tuple[str, ...]) -> None:
    """The very same bytes."""
    home, store = place
    own, everybody = steno(*words, "--archive", str(home)), steno(*words, "--store", store.url)
    assert everybody.exit_code == 0, everybody.output
    assert everybody.stdout == own.stdout
    assert own.stdout


@pytest.mark.parametrize("query", ["hello", 'sub* OR "fork"', "请仔细看", "--tool Bash echo"])
def test_search_finds_the_same_events(place: tuple[Path, Objects], query: str) -> None:
    """Whatever the query is; the order of events at one time may be another."""
    home, store = place
    words = ("search", "--json", "--limit", "0", *query.split(" "), *LONG_AGO)
    own, everybody = steno(*words, "--archive", str(home)), steno(*words, "--store", store.url)
    assert own.exit_code == everybody.exit_code, everybody.output
    hits = [sorted(json.dumps(hit) for hit in json.loads(each.stdout)) for each in (own, everybody)]
    assert hits[0] == hits[1]


def test_runs_are_chosen_by_words(place: tuple[Path, Objects]) -> None:
    """As on the machine; without --since, those of the last seven days, and a line says so."""
    home, store = place
    words = ("ls", "--json", "--grep", "hello OR fork", *LONG_AGO)
    own, everybody = steno(*words, "--archive", str(home)), steno(*words, "--store", store.url)
    assert everybody.stdout == own.stdout != "[]\n"
    assert "7 days" not in everybody.stderr
    assert "--grep looks at the last 7 days" in steno("stats", "--grep", "hello", "--store", store.url).stderr


def test_search_says_what_it_looked_at(place: tuple[Path, Objects]) -> None:
    """Also where nothing is found; without --since, it is seven days."""
    _, store = place
    found = steno("search", "hello", *LONG_AGO, "--store", store.url)
    assert "in 815 events of 20 runs since 2020-01-01" in found.stderr
    nothing = steno("search", "nonsense", *LONG_AGO, "--store", store.url)
    assert nothing.exit_code == 1
    assert "nothing found in 815 events of 20 runs since 2020-01-01" in nothing.stderr
    with open_archive(store=store.url) as archive:
        assert archive.searched("x", _options()).since == "7d"


def _options() -> Any:
    return {"role": None, "tool": None, "errors": False, "rank": False, "limit": 5, "mask": None}


def test_the_examples_of_sql_run(place: tuple[Path, Objects]) -> None:
    """Those that `--schema` prints, in the SQL of DuckDB, too."""
    _, store = place
    with open_archive(store=store.url) as archive:
        for _, statement in EXAMPLES:
            assert archive.sql(statement), statement


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t (a INTEGER)",
        "COPY (SELECT 1) TO '/tmp/x'",
        "SELECT * FROM read_text('/etc/passwd')",
        "ATTACH '/tmp/other.db'",
        "SELECT nothing FROM runs",
        "SELECT count(*) FROM range(10000000000) AS a, range(1000) AS b",
        "SELECT * FROM range(1000) LIMIT 100",
    ],
)
def test_sql_can_only_read_the_views_and_ends(place: tuple[Path, Objects], statement: str) -> None:
    """Each is refused in one line."""
    _, store = place
    with open_archive(store=store.url) as archive, pytest.raises(InvalidQuery):
        archive.sql(statement, max_rows=50, seconds=0.2)


def test_machine_user_and_team(tmp_path: Path) -> None:
    """Two machines in one store: each can be asked for, and both together."""
    store = store_of(tmp_path / "store")
    homes = []
    for name in ("ant", "bee"):
        home, _, session = growing(tmp_path / name)
        grow(home, session.with_name(f"550e8400-e29b-41d4-a716-4466554400{name.encode().hex()[:2]}.jsonl"), 1)
        about = home / "kept" / FILE
        said = msgspec.json.decode(about.read_bytes())
        about.write_bytes(msgspec.json.encode({**said, "host": name, "user": f"{name}-user", "team": "insects"}))
        homes.append(home)
    push_and_load(homes, store)
    with open_archive(store=store.url) as archive:
        assert {run.host for run in archive.runs()} == {"ant", "bee"}
        assert [
            tuple(row.values()) for row in archive.sql("SELECT host, user, team, runs FROM archives ORDER BY host")
        ] == [
            ("ant", "ant-user", "insects", 1),
            ("bee", "bee-user", "insects", 1),
        ]
    for filters in ({"machine": "ant"}, {"user": "ant-user"}):
        with open_archive(store=store.url, **filters) as archive:
            (run,) = archive.runs()
            assert (run.host, run.user) == ("ant", "ant-user")
            assert len(archive.search("line", since="2020-01-01")) == 1
            assert archive.stats("run").totals["runs"] == 1
    with open_archive(store=store.url, team="birds") as archive:
        assert not archive.runs()
    assert steno("ls", "--machine", "ant").exit_code == 2
    assert steno("ls", "--store", store.url, "--archive", "x").exit_code == 2


def test_open_archive_takes_one_of_both() -> None:
    """A folder or a store."""
    with pytest.raises(InvalidTarget):
        open_archive("x", store="file:///y")  # type: ignore[call-overload]
    with pytest.raises(InvalidTarget):
        open_archive(machine="x")  # type: ignore[call-overload]


def test_what_only_a_machine_knows_is_refused(place: tuple[Path, Objects]) -> None:
    """Stars and tags are not in a store."""
    _, store = place
    with open_archive(store=store.url) as archive:
        for filters in ({"starred": True}, {"tag": "x"}):
            with pytest.raises(InvalidQuery):
                archive.runs(**filters)  # type: ignore[arg-type]


def test_following_a_run_of_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the lake has, then what is pushed, loaded or not."""
    monkeypatch.setattr("stenograph.watch.SAFETY_NET", 0.05)
    home, store, session = growing(tmp_path)
    grow(home, session, 1)
    push_and_load([home], store)
    grow(home, session, 2)
    push_from(home, store)
    with open_archive(store=store.url) as archive, archive.run("@") as run, run.follow() as following:
        texts = _texts(iter(following))
        assert next(texts) == "line 1 says helloWorld"
        assert next(texts) == "line 2 says helloWorld"
        timer = threading.Timer(0.2, lambda: (grow(home, session, 3), push_from(home, store)))
        timer.start()
        assert next(texts) == "line 3 says helloWorld"
        timer.join()


def push_from(home: Path, store: Objects) -> None:
    from stenograph.archive.store.home import home_of

    push(home_of(home), store)


def _texts(events: Iterator[Any]) -> Iterator[str]:
    return (event.payload.blocks[0].text for event in events if event.type == "message.user")
