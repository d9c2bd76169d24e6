"""Layouts are data: patterns, homes and what belongs together, read the same for every format."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stenograph.formats import Home, Layout, Links, Sidecar
from stenograph.formats.registry import formats
from stenograph.sources.detection import detect_file
from stenograph.sources.layout import SessionFiles
from stenograph.sources.layouts import layout_of, placed_formats, sidecar_suffixes, transcript_suffixes
from stenograph.sources.pattern import glob_of, words_in
from strategies import examples

PATTERNS = (
    "{session}.jsonl",
    "{project}/{session}.jsonl",
    "**/run-{time}-{session}.jsonl",
    "a*/x[1].{session}",
    "*.db",
)
PATHS = ("s.jsonl", "p/s.jsonl", "p/q/s.jsonl", "run-1-s.jsonl", "p/q/run-1-s.jsonl", "ab/x[1].s", "ab/x1.s", "o.db")


def test_a_pattern_finds_on_disk_what_it_matches(tmp_path: Path) -> None:
    """The glob of a pattern and its words agree on every path."""
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    for pattern in PATTERNS:
        found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob(glob_of(pattern)) if path.is_file()}
        assert found == {path for path in PATHS if words_in(pattern, path) is not None}


@given(
    words=st.lists(
        st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1), min_size=2, max_size=2
    )
)
@examples(50)
def test_words_are_found_again(words: list[str]) -> None:
    """Whatever a word is, also one that a glob would take for its own."""
    project, session = words
    assert words_in("{project}/{session}.x", f"{project}/{session}.x") == {"project": project, "session": session}


def test_a_home_is_by_variable_default_and_file() -> None:
    """The variable wins; a file's variable names its folder, also by a relative name."""
    home = Home(default=".a", variable="A_HOME", folder="sessions", file_variable="A_FILE")
    assert home.path({}, "/h") == "/h/.a/sessions"
    assert home.path({"A_HOME": "/x/"}, "/h") == "/x/sessions"
    assert home.path({"A_FILE": "/y/z.db"}, "/h") == "/y"
    assert home.path({"A_FILE": "sub/z.db"}, "/h") == "/h/.a/sessions/sub"
    assert home.path({"A_HOME": "", "A_FILE": ":memory:"}, "/h") == "/h/.a/sessions"


def test_every_placed_format_has_its_home(tmp_path: Path) -> None:
    """Below the user's home by default, and where each variable says."""
    for spec in placed_formats():
        assert spec.layout is not None
        files = layout_of(spec.name)
        assert all(root.is_relative_to(tmp_path) for root in files.roots({}, tmp_path))
        for home in (home for home in spec.layout.homes if home.variable):
            moved = files.roots({home.variable: str(tmp_path / "else")}, Path("/nowhere"))
            assert any(root.is_relative_to(tmp_path / "else") for root in moved)
    assert sidecar_suffixes() == (".meta.json",)
    assert {".jsonl", ".db"} <= set(transcript_suffixes())


LINE = {"type": "user", "sessionId": "s1", "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A session with a subagent in a folder of its own, a second one nearby, and a stranger."""
    for name in ("s1.jsonl", "s1/agents/agent-a1.jsonl", "agent-a2.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        sidechain = {"isSidechain": True, "agentId": name[-8:-6]} if "agent-" in name else {}
        (tmp_path / name).write_text(json.dumps({**LINE, **sidechain}) + "\n")
    (tmp_path / "agent-a3.jsonl").write_text(json.dumps({**LINE, "sessionId": "other"}) + "\n")
    return tmp_path


def _files(**fields: object) -> SessionFiles:
    layout = Layout(homes=(), sessions=("{session}.jsonl",), members=("{stem}/agents/agent-{agent}.jsonl",))
    return SessionFiles(replace(formats()["claude_code"], layout=replace(layout, **fields)))


def test_members_are_those_below_and_those_nearby_that_name_the_session(folder: Path) -> None:
    """By their place, or by what they say."""
    session = detect_file(folder / "s1.jsonl", formats()["claude_code"])
    assert [each.path.name for each in _files().members(session, detect_file)] == ["agent-a1.jsonl"]
    nearby = _files(nearby=("agent-{agent}.jsonl",))
    assert [each.path.name for each in nearby.members(session, detect_file)] == ["agent-a1.jsonl", "agent-a2.jsonl"]
    assert "subagent:a1" in nearby.separate(folder / "s1.jsonl")
    assert "subagent:a9" not in nearby.separate(folder / "s1.jsonl")
    assert [path.name for path in nearby.sessions(folder)] == ["s1.jsonl"]


def test_a_sidecar_says_who_spawned_and_links_stand_in_for_it(folder: Path) -> None:
    """The sidecar's word counts; without one, a line of the session's file says it."""
    files = _files(
        sidecar=Sidecar(suffix=".who", parent=lambda content: ("main", content["call"]), unfinished=".tmp."),
        links=Links(mark=b"spawned", of=lambda record: record.get("spawned", {}).items()),
    )
    member = folder / "s1" / "agents" / "agent-a1.jsonl"
    with (folder / "s1.jsonl").open("a") as file:
        file.write(json.dumps({**LINE, "spawned": {"a1": "call-by-line"}}) + "\n")
    session = detect_file(folder / "s1.jsonl", formats()["claude_code"])
    (found,) = files.members(session, detect_file)
    assert (found.parent_source, found.parent_call_id) == ("main", "call-by-line")
    half = member.with_suffix(".who.tmp.17")
    half.write_text("{")
    assert files.being_linked([member]) == {member}
    os.utime(half, (1, 1))
    assert files.being_linked([member]) == set()
    member.with_suffix(".who").write_text(json.dumps({"call": "call-by-sidecar"}))
    (found,) = files.members(session, detect_file)
    assert found.parent_call_id == "call-by-sidecar"
    assert files.parent_of(member) == ("main", "call-by-sidecar")
    assert files.sidecar_of(member) == member.with_suffix(".who")


def test_of_several_files_of_a_session_one_goes_on(tmp_path: Path) -> None:
    """The last by name, unless the layout says the first; an old suffix gives way to its successor."""
    for name in ("run-1-s1.jsonl", "run-2-s1.jsonl", "run-3-s1.json", "run-3-s1.jsonl"):
        (tmp_path / name).write_text(json.dumps(LINE) + "\n")
    patterns = ("run-{time}-{session}.jsonl", "run-{time}-{session}.json")
    files = _files(sessions=patterns, replaced_by={".json": ".jsonl"})
    assert [path.name for path in files.sessions(tmp_path)] == ["run-1-s1.jsonl", "run-2-s1.jsonl", "run-3-s1.jsonl"]
    assert files.find(tmp_path, "s1") == tmp_path / "run-3-s1.jsonl"
    assert _files(sessions=patterns, continues_in="first").find(tmp_path, "s1") == tmp_path / "run-1-s1.jsonl"
    assert files.find(tmp_path, "s*") is None
