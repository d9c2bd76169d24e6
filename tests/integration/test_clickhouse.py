"""The how-to about ClickHouse, statement by statement, in chdb: ClickHouse in a library."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from archive_of_goldens import make_archive
from lakes import age, push_and_load, store_of
from stenograph.fleet.lake.reading import Lake

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "clickhouse.md"
_ASK = """
import json, sys
from chdb.session import Session
session = Session()
session.query("CREATE DATABASE lake; ")
session.query("USE lake")
answers = []
for statement in json.load(sys.stdin):
    answers.append(str(session.query(statement, "JSONCompact")))
print(json.dumps(answers))
"""


@pytest.mark.scale
@pytest.mark.timeout(1200)
def test_every_statement_of_the_how_to_runs(tmp_path: Path) -> None:
    """The table is made and filled twice, and then has every event once; a word is found by the index."""
    home, sessions = make_archive(tmp_path)
    age(sessions)
    store = store_of(tmp_path / "store")
    push_and_load([home], store)
    statements = [
        code.replace("{lake}", f"{tmp_path}/store/lake").replace("'recorded'", "'hello'")
        for code in re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    ]
    create, insert, search, sums = statements
    count = "SELECT count() FROM events FINAL"
    explain = f"EXPLAIN indexes = 1 {search}"
    given = json.dumps([create, insert, insert, count, search, sums, explain])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _ASK],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers = json.loads(done.stdout.splitlines()[-1])
    with Lake(store.url).connected() as connection:
        (events,) = connection.execute("SELECT count(*) FROM current_events").fetchall()[0]
        hello = connection.execute(
            "SELECT count(*) FROM current_events WHERE regexp_matches(text, '(?i)\\bhello\\b')"
        ).fetchall()[0][0]
    assert json.loads(answers[3])["data"] == [[str(events)]] or json.loads(answers[3])["data"] == [[events]]
    assert len(json.loads(answers[4])["data"]) == min(20, hello)
    assert json.loads(answers[5])["data"]
    assert "words" in answers[6]
