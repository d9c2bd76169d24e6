"""kilo: OpenCode's database at another place, under another name."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from golden_cases import FOLDER, run_of
from opencode_database import create_tables, insert
from stenograph.cli.program import cli
from stenograph.fold.usage import usage_totals
from stenograph.formats.base import run_id_of
from stenograph.formats.kilo import SPEC
from stenograph.formats.registry import formats
from stenograph.sources import convert
from stenograph.sources.detection import detect_file

CASE = FOLDER / "kilo" / "parity"


def _database(path: Path, *, is_kilos: bool = True) -> None:
    """A database with the rows of the golden case."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        create_tables(connection)
        if is_kilos:
            connection.execute("CREATE TABLE kilo_board (id)")
        for line in (CASE / "input.jsonl").read_bytes().splitlines():
            insert(connection, json.loads(line))


def test_tokens_are_those_that_the_model_counted() -> None:
    """The true counts, four calls and two of the resumed session."""
    total = usage_totals(run_of(FOLDER / "kilo" / "resume")).total
    assert (total.input_tokens, total.cache_read_input_tokens) == (4600 + 2100, 1200 + 400)
    assert (total.output_tokens, total.reasoning_output_tokens) == (120 + 56, 34 + 15)


@pytest.mark.parametrize(("is_kilos", "name"), [(True, "kilo"), (False, "opencode")])
def test_a_database_is_known_by_its_tables(is_kilos: bool, name: str, tmp_path: Path) -> None:
    """The fork's by a table of its own, wherever it is; the other one is OpenCode's and nobody else's."""
    _database(tmp_path / "some.db", is_kilos=is_kilos)
    found = detect_file(tmp_path / "some.db")
    assert found.spec is not None
    assert found.spec.name == name
    head = [{"database": "sqlite", "tables": ["session", "message", "part", "project", "kilo_board"]}]
    assert formats()["opencode"].detect(head, "") == 0


def test_a_session_is_a_run_of_kilos_with_its_subagent(tmp_path: Path) -> None:
    """Its id is made of the fork's name, so that no run of OpenCode's has the same."""
    _database(tmp_path / "kilo.db")
    events = list(convert(tmp_path / "kilo.db"))
    first = json.loads((CASE / "input.jsonl").read_bytes().splitlines()[0])
    assert {event.run_id for event in events} == {run_id_of("kilo", first["id"])}
    assert {event.source.partition(":")[0] for event in events} == {"main", "subagent"}
    assert {event.origin.adapter for event in events if event.origin} == {"kilo"}


def test_sync_finds_it_under_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At its place below the user's data."""
    _database(tmp_path / ".local" / "share" / "kilo" / "kilo.db")
    for name in ("XDG_DATA_HOME", "KILO_DB", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    archive = str(tmp_path / "archive")
    for words in (["sync", "--archive", archive], ["ls", "--archive", archive, "--json"]):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert ended.value.code == 0
    assert '"agent":"kilo"' in capsys.readouterr().out.replace(": ", ":")
    assert SPEC.layout is not None
    assert SPEC.layout.described() == "~/.local/share/kilo/*.db ($XDG_DATA_HOME, $KILO_DB)"
