"""RUN|PATH means the same to every command, and nothing is silent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, claude_line, written
from run_kinds import DATABASE_SESSION, make_database, make_kinds
from stenograph import RunInfo, open_run, start_run

COMMANDS = {
    "show": ("show", "TARGET"),
    "tail": ("tail", "TARGET"),
    "tree": ("tree", "TARGET"),
    "verify": ("verify", "TARGET"),
    "text": ("text", "TARGET"),
    "bundle": ("bundle", "create", "TARGET", "-o", "made.zip", "--no-environment", "--no-page"),
    "convert": ("convert", "TARGET"),
    "restore": ("restore", "TARGET", "restored"),
}
TARGETS = ("agent file", "folder", "journal", "bundle", "archived", "prefix", "newest", "last", "database")


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same run as every kind, and a database."""
    folder = tmp_path_factory.mktemp("kinds")
    made = make_kinds(folder)
    (made["root"] / "transcripts").rename(folder / "elsewhere")
    database = make_database(folder / "opencode.db", [DATABASE_SESSION, DATABASE_SESSION[:-1] + "b"])
    return made | {
        "journal": folder / "elsewhere" / made["journal"].name,
        "prefix": Path(SESSION[:6]),
        "newest": Path("@"),
        "last": Path("last"),
        "database": Path(f"{database}#{DATABASE_SESSION}"),
    }


@pytest.fixture(autouse=True)
def _here(kinds: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of its own, with the archive."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STENOGRAPH_HOME", str(kinds["archive"]))


def _call(steno: Any, command: str, target: object) -> Any:
    return steno(*(str(target) if word == "TARGET" else word for word in COMMANDS[command]))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_every_target(steno: Any, kinds: dict[str, Path], command: str, target: str) -> None:
    """It prints something and exits with 0; or says in one line why not, and exits with 2 or 3."""
    done = _call(steno, command, kinds[target])
    if (command, target) == ("bundle", "bundle"):
        assert (done.code, done.out) == (2, "")
        assert done.err == f"steno: {kinds['bundle']} is a bundle already; give the run that it was made of\n"
    elif (command, target) == ("restore", "database"):
        assert (done.code, done.out) == (3, "")
        assert re.fullmatch(r"steno: no run '[0-9a-f-]{36}' in the archive .*; steno ls lists them\n", done.err)
    elif (command, target) == ("verify", "journal"):
        assert (done.code, done.err) == (1, "")
        assert "✗ open_call" in done.out
    else:
        assert (done.code, done.err) == (0, "")
        assert done.out


@pytest.mark.parametrize("target", TARGETS)
def test_the_events_are_those_of_the_reader(steno: Any, kinds: dict[str, Path], target: str) -> None:
    """For `show`, `tail` and `convert` alike."""
    with open_run(kinds[target]) as run:
        wanted = [event.seq for event in run.events()]
    assert [event["seq"] for event in steno("show", kinds[target], "--json").json] == wanted
    assert [event["seq"] for event in steno("tail", kinds[target], "--json").json_lines] == wanted
    assert [event["seq"] for event in steno("tail", kinds[target], "--json", "-n", 1).json_lines] == wanted[-1:]
    if target != "folder":  # which is every run in it, to `convert`
        assert [event["seq"] for event in steno("convert", kinds[target]).json_lines] == wanted


@pytest.mark.parametrize("target", ["agent file", "archived", "bundle"])
def test_verify_says_what_it_checked(steno: Any, kinds: dict[str, Path], target: str) -> None:
    """One line, and a report for programs."""
    assert ": ok, " in steno("verify", kinds[target]).out
    (report,) = steno("verify", kinds[target], "--json").json
    assert report.get("ok", not report.get("findings")) is True
    assert report["run_id"] == SESSION


def test_verify_finds_damage_in_the_archive(steno: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of a pack that are not what they were are a problem of the runs that they belong to."""
    made = make_kinds(tmp_path / "own")
    monkeypatch.setenv("STENOGRAPH_HOME", str(made["archive"]))
    (pack,) = (made["archive"] / "kept").glob("*.pack")
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    done = steno("verify", SESSION)
    assert done.code == 1
    assert "✗ damaged: " in done.out


# What is refused


def _qwen(folder: Path) -> Path:
    path = folder / f"{SESSION}.jsonl"
    record = {"uuid": "u", "sessionId": SESSION, "type": "user", "message": {"role": "user", "parts": [{"text": "hi"}]}}
    path.write_text(json.dumps(record | {"cwd": "/w", "version": "0.0.14"}) + "\n")
    return path


def _flat(folder: Path) -> Path:
    path = folder / f"{SESSION}.jsonl"
    path.write_text('{"type":"user","content":"hi"}\n{"type":"assistant","content":"ho"}\n')
    return path


def _prose(folder: Path) -> Path:
    path = folder / "notes.txt"
    path.write_text("Nothing that any agent wrote.\n")
    return path


@pytest.mark.parametrize("make", [_flat, _prose], ids=["flat records", "prose"])
@pytest.mark.parametrize("command", [*COMMANDS, "repair"])
def test_a_file_in_no_format_we_know_is_refused_by_every_command(
    steno: Any, tmp_path: Path, command: str, make: Any
) -> None:
    """In the same words, whatever its name; nothing is printed, and nothing is made."""
    path = make(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    done = steno("repair", path) if command == "repair" else _call(steno, command, path)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"steno: {path} is not in a known format; steno formats lists them")
    assert done.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_every_command_says_the_same_of_a_file_of_an_agent_nobody_knows(steno: Any, tmp_path: Path) -> None:
    """Either all read it or none does."""
    path = _qwen(tmp_path)
    codes = {command: _call(steno, command, path).code for command in COMMANDS if command != "restore"}
    assert len(set(codes.values())) == 1, codes


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("agent file", "is an agent's file (claude_code), not a journal"),
        ("archived", "is an archived run, not a journal"),
        ("bundle", "is a bundle, not a journal"),
    ],
)
def test_only_journals_are_repaired(steno: Any, kinds: dict[str, Path], target: str, what: str) -> None:
    """What cannot work for a kind is one line and exit code 2."""
    done = steno("repair", kinds[target])
    assert (done.code, done.out) == (2, "")
    assert what in done.err
    assert done.err.count("\n") == 1


def test_nothing_to_show_is_said(steno: Any, tmp_path: Path) -> None:
    """Commands that have nothing to print say so, each in one line on standard error."""
    empty = tmp_path / f"{SESSION}.jsonl"
    empty.touch()
    with start_run("quiet", root=tmp_path) as run:
        pass
    folder = tmp_path / "empty"
    folder.mkdir()
    for arguments in (
        ("show", empty),
        ("tail", empty),
        ("convert", empty),
        ("convert", folder),
        ("text", run.path),
        ("tail", run.path, "--from", 100),
    ):
        done = steno(*arguments)
        assert (done.code, done.out) == (0, ""), arguments
        assert re.fullmatch(r"steno: .+ has no (events.*|user message; nothing was written)\n", done.err), arguments


# The rest


def test_redacted_a_tail_and_a_conversion_show_no_secret(steno: Any, tmp_path: Path) -> None:
    """As `show` does."""
    secret = "ghp_" + "aB3" * 12
    path = written(tmp_path / "a.jsonl", claude_line(1, text=f"Use {secret}."))
    for command in ("show", "tail", "convert"):
        assert secret in steno(command, path).out
        assert secret not in steno(command, path, "--redact").out


def test_the_old_spelling_of_restore_works_and_says_so(steno: Any, kinds: dict[str, Path]) -> None:
    """Once, on standard error; the files are the same."""
    new = steno("restore", SESSION, "new", "--json")
    old = steno("export", SESSION, "--raw", "old", "--json")
    assert (new.code, new.err, old.code) == (0, "", 0)
    assert old.err == f"steno: export --raw is the old spelling; use: steno restore {SESSION} old\n"
    assert [Path(path).read_bytes() for path in new.json["files"]] == [
        Path(path).read_bytes() for path in old.json["files"]
    ]
    assert kinds["agent file"].read_bytes() in [Path(path).read_bytes() for path in new.json["files"]]


def test_ls_has_the_fields_of_run_info_beside_its_own(steno: Any, kinds: dict[str, Path]) -> None:
    """With the values that opening the run gives; none of the keys that were there is gone."""
    (line,) = steno("ls", "--json").json
    with open_run(SESSION) as run:
        info = run.info.to_dict()
    assert {name: line[name] for name in RunInfo.__struct_fields__} == info
    old = (
        "run_id parent_run_id forked_from agent format project cwd name status started_at ended_at duration_s turns"
        " tools errors events model input_tokens cache_read_input_tokens cache_creation_input_tokens output_tokens"
        " reasoning_output_tokens model_calls cost_usd unpriced_models first_prompt"
    )
    assert set(old.split()) <= set(line)


@pytest.mark.parametrize(
    "arguments",
    [("show", SESSION), ("tail", "@"), ("tree", "last"), ("verify", SESSION[:5]), ("text", "@"), ("convert", "@"),
     ("restore", SESSION, "given"), ("bundle", "create", "@", "-o", "b.zip", "--no-page", "--no-environment"),
     ("ls", "--json"), ("search", "parser"), ("stats", "--json"), ("sql", "SELECT run_id FROM runs", "--json")],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_another_archive_can_be_named(
    steno: Any, kinds: dict[str, Path], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """`--archive` wins over the environment."""
    monkeypatch.setenv("STENOGRAPH_HOME", "nowhere")
    assert steno(*arguments).code == 3
    done = steno(*arguments, "--archive", kinds["archive"])
    assert (done.code, bool(done.out)) == (0, True)


def test_a_sync_goes_to_the_archive_that_is_named(steno: Any, tmp_path: Path) -> None:
    """And no other is made."""
    written(tmp_path / "files" / "a.jsonl", claude_line(1))
    assert steno("sync", "--path", "files", "--archive", "mine").code == 0
    assert (tmp_path / "mine" / "index.db").is_file()
    assert [run["run_id"] for run in steno("ls", "--json", "--archive", "mine").json] == [SESSION]


@pytest.mark.parametrize("status", ["running", "failed"])
def test_ls_can_be_asked_for_a_status(steno: Any, status: str) -> None:
    """The session was just written and has a call without a result."""
    found = [run["run_id"] for run in steno("ls", "--json", "--status", status).json]
    assert found == ([SESSION] if status == "running" else [])
