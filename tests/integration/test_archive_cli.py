"""The archive as a person asks it: `steno ls`, `search`, `sql`, `stats`, `show` and `tree` as real processes."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from archive_of_goldens import CHILD, CLAUDE, PARENT, WORKFLOW, make_archive
from stenograph import start_run
from stenograph.archive import IndexReader, home_of
from stenograph.archive.index.schema import open_index
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.writer import Store
from stenograph.cli import main

PATIENCE = 60
TOKENS = [
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of real sessions."""
    return make_archive(tmp_path_factory.mktemp("cli"))[0]


class Steno:
    """`steno(home, "ls", …)`: the command line in this process, or as one of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capfd = capfd

    def __call__(self, home: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        self._monkeypatch.setenv("STENOGRAPH_HOME", str(home))
        self._monkeypatch.chdir(cwd or home)
        self._monkeypatch.setattr(sys, "argv", ["steno", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = self._capfd.readouterr()
        code = ended.value.code
        return subprocess.CompletedProcess(arguments, 0 if code is None else int(code), out, err)

    def json(self, home: Path, *arguments: str) -> Any:
        """Its output with `--json`; it must end well."""
        done = self(home, *arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def process(self, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The same as a process of its own."""
        environment = {**os.environ, "STENOGRAPH_HOME": str(home)}
        command = [sys.executable, "-W", "error", "-m", "stenograph", *arguments]
        return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=PATIENCE)


@pytest.fixture
def steno(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Steno:
    """The command line."""
    return Steno(monkeypatch, capfd)


def test_ls_lists_runs_for_people(steno: Steno, home: Path) -> None:
    """With a head, one line per run, and what was left out on stderr."""
    done = steno(home, "ls", "--limit", "3")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0].split() == [
        "run",
        "agent",
        "project",
        "when",
        "took",
        "turns",
        "tools",
        "tokens",
        "cost",
        "status",
        "first",
        "prompt",
    ]
    assert len(lines) == 5
    assert done.stderr == "steno: 3 of 20 runs, --limit 0 for all\n"
    everything = steno(home, "ls", "--limit", "0")
    assert (len(everything.stdout.splitlines()) - 2, everything.stderr) == (len(steno.json(home, "ls")), "")
    assert "↳ of 01a1e1c4-e1: Please count the files." in everything.stdout
    assert "unknown" in next(line for line in everything.stdout.splitlines() if line.startswith(WORKFLOW[:8]))


def test_ls_as_json_has_every_run_with_its_id_first(steno: Steno, home: Path) -> None:
    """And children with their parents, tokens by the names of the wire format, and the cost."""
    runs = steno.json(home, "ls")
    assert {next(iter(run)) for run in runs} == {"run_id"}
    by_id = {run["run_id"]: run for run in runs}
    assert len(by_id) == len(runs) > 10
    assert by_id[CHILD]["parent_run_id"] == PARENT
    assert set(TOKENS) <= by_id[CLAUDE].keys()
    assert by_id[CLAUDE]["cost_usd"] > 0
    assert [run["run_id"] for run in steno.json(home, "ls", "--agent", "codex", "--limit", "2")] == [
        run["run_id"] for run in runs if run["agent"] == "codex"
    ][:2]
    assert steno.json(home, "ls", "--until", "2020-01-01") == []


def test_search_cites_what_it_found(steno: Steno, home: Path) -> None:
    """As JSON with exactly the fields that were promised, and `show --from` opens the place."""
    hits = steno.json(home, "search", "请仔细看", "--role", "user")
    assert [list(hit) for hit in hits] == [["run_id", "source", "seq", "timestamp", "role", "tool_name", "snippet"]] * 3
    assert all("请仔细看" in hit["snippet"] for hit in hits)
    seq = str(hits[0]["seq"])
    shown = steno.json(home, "show", hits[0]["run_id"], "--from", seq, "--to", seq)
    assert [event["type"] for event in shown] == ["message.user"]
    done = steno(home, "search", "请仔细看", "--limit", "1")
    assert done.stdout.count("\n") == 2
    assert "\x1b" not in done.stdout


def _on_a_terminal(home: Path, *arguments: str) -> list[str]:
    """What a terminal of 80 columns gets."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "STENOGRAPH_HOME": str(home), "TERM": "xterm"}
    for name in ("COLUMNS", "NO_COLOR"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "stenograph", *arguments]
    with subprocess.Popen(command, stdout=terminal, stderr=subprocess.DEVNULL, env=environment, cwd=home) as running:
        os.close(terminal)
        read = b""
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            while piece := os.read(screen, 65536):
                read += piece
        os.close(screen)
        assert running.wait(PATIENCE) == 0
    return read.decode().splitlines()


def test_a_terminal_gets_marks_and_lines_that_fit(home: Path) -> None:
    """What was looked for stands out; a table is cut to the width, wide characters counted as such."""
    hit = _on_a_terminal(home, "search", "仔细", "--limit", "1")
    assert "\x1b[1;31m仔细\x1b[0m" in hit[1]
    for line in _on_a_terminal(home, "ls") + _on_a_terminal(home, "stats", "--by", "tool"):
        assert sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line) <= 80, line


def test_search_that_finds_nothing_ends_with_1_like_grep(steno: Steno, home: Path) -> None:
    """And says what was looked through."""
    done = steno(home, "search", "zebrafish")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"steno: nothing found in 815 events of 20 runs of {home}\n"
    done = steno(home, "search", "zebrafish", "--json")
    assert (done.returncode, done.stdout) == (1, "[]\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "a OR"),
        ("search", '"open'),
        ("search", "(a"),
        ("ls", "--since", "soon"),
        ("ls", "--grep", "NOT a"),
        ("sql", "DELETE FROM runs"),
        ("sql", "SELECT nothing FROM runs"),
        (
            "sql",
            "--timeout",
            "0.2",
            "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT sum(n) FROM c",
        ),
        ("sql", "--max-rows", "1", "--csv", "SELECT 1 UNION SELECT 2"),
        ("show", CLAUDE, "--unit", "99"),
        ("show", CLAUDE, "--source", "nobody"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(steno: Steno, home: Path, arguments: tuple[str, ...]) -> None:
    """What went wrong and what to do; never a traceback."""
    done = steno(home, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("steno: ")
    assert done.stderr.count("\n") == 1


def test_without_an_archive_it_says_how_to_make_one(steno: Steno, tmp_path: Path) -> None:
    """Exit code 3, as for anything that is not there."""
    for arguments in (["ls"], ["search", "a"], ["sql", "SELECT 1"], ["stats"]):
        done = steno(tmp_path / "none", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (3, "")
        assert "there is no archive in" in done.stderr
        assert "steno sync" in done.stderr
    assert not (tmp_path / "none").exists()


def test_sql_prints_tables_json_and_csv(steno: Steno, home: Path) -> None:
    """The same rows in three forms."""
    query = "SELECT agent, count(*) AS runs FROM runs GROUP BY agent ORDER BY agent"
    rows = steno.json(home, "sql", query)
    assert [list(row) for row in rows] == [["agent", "runs"]] * 4
    lines = steno(home, "sql", query, "--csv").stdout.splitlines()
    assert lines == ["agent,runs", *(f"{row['agent']},{row['runs']}" for row in rows)]
    table = steno(home, "sql", query).stdout.splitlines()
    assert [line.split() for line in table[2:]] == [[row["agent"], str(row["runs"])] for row in rows]


def test_sql_says_what_there_is_to_ask_for(steno: Steno, home: Path, tmp_path: Path) -> None:
    """Also without an archive: nine views with their columns, and five queries that run."""
    schema = json.loads(steno(tmp_path, "sql", "--schema", "--json").stdout)
    assert [view["name"] for view in schema["views"]] == (
        ["runs", "events", "entries", "tool_calls", "messages", "usage", "errors", "commands", "file_changes"]
    )
    assert len(schema["queries"]) == 5
    text = steno(tmp_path, "sql", "--schema").stdout
    for query in schema["queries"]:
        assert query["sql"] in text
        assert steno(home, "sql", query["sql"]).returncode == 0
    assert steno(home, "sql").returncode == 2


@pytest.mark.parametrize("by", ["day", "week", "model", "agent", "project", "tool"])
def test_stats_adds_up(steno: Steno, home: Path, by: str) -> None:
    """`{"totals": …, "rows": …}` with the token fields of the wire format; a table with bars for people."""
    found = steno.json(home, "stats", "--by", by)
    assert list(found) == ["totals", "rows"]
    for name in TOKENS:
        assert sum(row[name] for row in found["rows"]) == found["totals"][name]
    done = steno(home, "stats", "--by", by)
    lines = done.stdout.splitlines()
    assert lines[0].startswith(by)
    assert lines[-1].startswith("total")
    assert any("█" in line for line in lines)
    assert "no price for scripted" in done.stderr


def test_stats_takes_prices_of_ones_own(steno: Steno, home: Path, tmp_path: Path) -> None:
    """A file makes the unknown known."""
    prices = tmp_path / "prices.json"
    prices.write_text('{"models": {"scripted": {"input": 1000000, "output": 0}}}')
    rows = steno.json(home, "stats", "--by", "model", "--prices", str(prices))["rows"]
    (row,) = (row for row in rows if row["model"] == "scripted")
    assert row["cost_usd"] == row["input_tokens"] == 1200
    assert steno(home, "stats", "--prices", str(tmp_path / "none.json")).returncode == 3


def test_show_prints_a_run_of_the_archive_or_a_part_of_it(steno: Steno, home: Path) -> None:
    """By the beginning of its id; one source, one unit, or the events between two numbers."""
    events = steno.json(home, "show", CLAUDE[:8])
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    sources = {(event.get("origin") or {}).get("source", "main") for event in events}
    (subagent,) = sources - {"main"}
    for name in (subagent, subagent.removeprefix("subagent:")[:6], "subagent"):
        part = steno.json(home, "show", CLAUDE, "--source", name)
        assert part == [event for event in events if (event.get("origin") or {}).get("source") == subagent]
    first = next(event["seq"] for event in events if event["type"] == "message.user")
    assert steno.json(home, "show", CLAUDE, "--unit", "1") == events[first - 1 :]
    assert steno.json(home, "show", CLAUDE, "--unit", "0") == events[: first - 1]
    assert steno.json(home, "show", CLAUDE, "--from", "5", "--to", "7") == events[4:7]
    assert "🔧 Bash" in steno(home, "show", CLAUDE[:8]).stdout


def test_entries_of_a_part_keep_the_numbers_of_the_whole(steno: Steno, home: Path) -> None:
    """Filtering never renumbers."""
    everything = json.loads(steno(home, "show", CLAUDE, "--as", "entries").stdout)
    part = json.loads(steno(home, "show", CLAUDE, "--as", "entries", "--from", "20", "--to", "40").stdout)
    assert part
    assert part == [entry for entry in everything if entry in part]
    assert part[0]["sequence_number"] > 1


def test_a_part_of_a_journal_can_be_shown_too(steno: Steno, home: Path, tmp_path: Path) -> None:
    """The same options for files that are in no archive."""
    with start_run("r", root=tmp_path) as run:
        run.user("one")
        run.assistant("first")
        run.user("two")
        run.assistant("second")
    assert [event["seq"] for event in steno.json(home, "show", str(run.path), "--unit", "2")] == [4, 5, 6]
    assert [event["seq"] for event in steno.json(home, "show", str(run.path), "--from", "2", "--to", "3")] == [2, 3]
    done = steno(home, "show", str(run.path), "--unit", "3")
    assert (done.returncode, "it has 2 units" in done.stderr) == (2, True)


def test_trees_have_subagents_threads_forks_and_workflows(steno: Steno, home: Path) -> None:
    """Under the call that spawned them, where that is known."""
    subagent = steno.json(home, "tree", CLAUDE)["steps"][0]
    call = next(event for event in steno.json(home, "show", CLAUDE) if event["seq"] == subagent["call_seq"])
    assert (call["type"], call["payload"]["call_id"]) == ("tool.call", subagent["call_id"])
    spawned = f"by Agent, call {subagent['call_id']}, seq {subagent['call_seq']}"
    assert f"└─ ✓ subagent:abfa1aee11ae45f7c ({spawned})" in steno(home, "tree", CLAUDE[:8]).stdout
    thread = steno.json(home, "tree", PARENT)["steps"][0]
    assert (thread["name"], thread["child"]["run_id"]) == ("thread", CHILD)
    workflow = steno.json(home, "tree", WORKFLOW)
    assert [step["name"] for step in workflow["steps"]][-1] == "release"
    assert workflow["steps"][-1]["child"]["status"] == "finished"
    forks = [run for run in steno.json(home, "ls") if run["forked_from"]]
    assert forks
    steps = steno.json(home, "tree", forks[0]["forked_from"])["steps"]
    assert ("fork", forks[0]["run_id"]) in [(step["name"], step["child"]["run_id"]) for step in steps]


def test_hostile_contents_cannot_reach_the_terminal(steno: Steno, tmp_path: Path) -> None:
    """Escapes, bidirectional overrides and line breaks in prompts, names and models are shown, not obeyed."""
    evil = "\x1b[31mred\u202egnp.exe\r\x07 needle '); DROP TABLE runs; --"
    with start_run(evil, root=tmp_path / "storage") as run:
        run.user(evil)
        with run.tool(evil, {"x": evil}) as call:
            call.output = evil
        run.usage(1, 1, model=evil)
    home = tmp_path / "archive"
    with Store(home_of(home)) as store:
        sync(store, [Root((tmp_path / "storage").resolve(), None)])
    for arguments in (
        ["ls"],
        ["search", "needle"],
        ["sql", "SELECT * FROM entries"],
        ["sql", "SELECT run_id, text, payload FROM events"],
        ["stats", "--by", "model"],
        ["stats", "--by", "tool"],
        ["tree", run.run_id],
        ["show", run.run_id],
    ):
        done = steno(home, *arguments, cwd=tmp_path / "archive")
        assert done.returncode == 0, done.stderr
        for letter in "\x1b\u202e\r\x07":
            assert letter not in done.stdout + done.stderr, arguments
    with IndexReader(home) as archive:
        assert archive.find_run(run.run_id)[1] == run.run_id


def test_readers_work_while_a_writer_writes(steno: Steno, tmp_path: Path) -> None:
    """A transaction that is not done hides nothing that was there before, and blocks nobody."""
    home, _ = make_archive(tmp_path)
    before = steno.json(home, "ls")
    writer = open_index(home, readonly=False)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM runs")
    listed, found = steno.process(home, "ls", "--json"), steno.process(home, "search", "echo")
    writer.execute("ROLLBACK")
    writer.close()
    assert json.loads(listed.stdout) == before
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("damage", ["no database", "torn pages"])
def test_a_damaged_index_is_one_line_and_how_to_make_it_anew(
    steno: Steno, home: Path, tmp_path: Path, damage: str
) -> None:
    """It can always be made again from what is kept, so it is no reason for a traceback."""
    data = bytearray((home / "index.db").read_bytes())
    if damage == "no database":
        data[:] = os.urandom(5_000)
    for start in range(4096, len(data), 4096):
        data[start : start + 2_000] = b"\xff" * 2_000
    (tmp_path / "index.db").write_bytes(data)
    for arguments in (
        ["ls"],
        ["search", "echo"],
        ["stats"],
        ["sql", "SELECT * FROM events"],
        ["show", CLAUDE],
        ["tree", CLAUDE],
    ):
        done = steno(tmp_path, *arguments)
        assert done.returncode == 3, arguments
        assert done.stderr.startswith("steno: ")
        assert "steno sync --rebuild" in done.stderr
        assert done.stderr.count("\n") == 1
