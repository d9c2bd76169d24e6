"""Following a session: its main file, and files that appear while it grows."""

from __future__ import annotations

import json
import os
import random
import shutil
import threading
import time
from collections import defaultdict
from pathlib import Path

import pytest
from msgspec.structs import replace

from golden_cases import CASES, files_of, input_of, name_of
from stenograph.journal.reader import read_events
from stenograph.journal.recorder import Recorder
from stenograph.model import Event, encode
from stenograph.sources import convert
from stenograph.sources.detection import detect_file, format_named
from stenograph.sources.known import known_lines
from stenograph.sources.session_tail import OPEN_FILES, SessionTail
from stenograph.watch import FolderWatch

SPEC = format_named("claude_code")
SESSION = "11111111-2222-4333-8444-555555555555"
GROWING = [case for case in CASES if case.parent.name in ("claude_code", "codex_rollout")]


def line(text: str, **more: object) -> str:
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "sessionId": SESSION, "message": message} | more) + "\n"


def texts(tail: SessionTail, changed: set[str] | None = None) -> list[tuple[str, str]]:
    return [(event.source, event.payload.blocks[0].text) for batch in tail.read(changed) for event in batch]


@pytest.fixture
def main(tmp_path: Path) -> Path:
    return tmp_path / "projects" / "p" / f"{SESSION}.jsonl"


def append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def agent_file(main: Path, name: str) -> Path:
    return main.with_suffix("") / "subagents" / f"agent-{name}.jsonl"


def comparable(events: list[Event]) -> dict[str | None, list[bytes]]:
    """The events by file, without what the agent itself tells later: the time of the file, the call of 2.0."""
    files = defaultdict(list)
    for event in events:
        assert event.origin is not None
        origin = replace(event.origin, parent_source=None, parent_call_id=None)
        timestamp = "" if origin.time == "given" else event.timestamp
        files[origin.file].append(encode(replace(event, seq=0, origin=origin, timestamp=timestamp)))
    return files


def mains_of(case: Path) -> list[Path]:
    return [path for path in files_of(case) if detect_file(path).identity.source == "main"]


@pytest.mark.parametrize("case", GROWING, ids=name_of)
def test_what_is_followed_is_what_convert_gives_afterwards(case: Path, tmp_path: Path) -> None:
    """Real sessions that grow in pieces of any size, with a restart in the middle: event for event per file."""
    spec = format_named(case.parent.name)
    chance = random.Random(name_of(case))
    source = input_of(case) if input_of(case).is_dir() else input_of(case).parent
    for main in mains_of(case)[:2]:
        there = tmp_path / main.stem
        left = {path: path.read_bytes() for path in files_of(case)}
        for path in source.rglob("*"):  # side files are there before the lines that name them
            if path.is_file() and path not in left:
                (there / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, there / path.relative_to(source))
        here = there / main.relative_to(source)
        tail = SessionTail(here, spec)
        got: list[Event] = []
        while left:
            path = chance.choice(list(left))
            size = chance.choice([1, 50, 1000, 100_000])
            target = there / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("ab") as file:
                file.write(left[path][:size])
            left[path] = left[path][size:]
            if not left[path]:
                del left[path]
            if chance.random() < 0.2:
                got += [event for batch in tail.read() for event in batch]
            if chance.random() < 0.05:
                known = {state.file: state.known for state in tail.state()}
                tail.close()
                tail = SessionTail(here, spec, known=known)
        got += [event for batch in tail.finish() for event in batch]
        tail.close()
        assert comparable(got) == comparable(list(convert(here)))
        assert tail.problems == []


def test_a_subagent_is_found_with_the_call_that_spawned_it(main: Path) -> None:
    """The sidecar is there first; a folder inside the folder is looked into, too."""
    tail = SessionTail(main, SPEC)
    append(main, line("go"))
    assert texts(tail) == [("main", "go")]
    append(agent_file(main, "a1").with_suffix(".meta.json"), json.dumps({"toolUseId": "toolu_1"}))
    append(agent_file(main, "a1"), line("task"))
    append(main.with_suffix("") / "subagents" / "workflows" / "w1" / "agent-b2.jsonl", line("deep"))
    events = [event for batch in tail.read() for event in batch]
    assert {(event.source, event.origin.parent_call_id, event.origin.file) for event in events if event.origin} == {
        ("subagent:a1", "toolu_1", f"{SESSION}/subagents/agent-a1.jsonl"),
        ("subagent:b2", None, f"{SESSION}/subagents/workflows/w1/agent-b2.jsonl"),
    }


def test_the_run_and_the_prompt_are_the_callers(main: Path) -> None:
    """What the adapter knows is on every event."""
    append(main, line("go"))
    run_id = "550e8400-e29b-41d4-a716-446655440000"
    tail = SessionTail(main, SPEC, run_id=run_id, adapter="claude_agent_sdk", prompt_name="review", keep_raw=False)
    ((event,),) = tail.read()
    assert event.origin is not None
    assert (event.run_id, event.origin.adapter, event.origin.prompt_name) == (run_id, "claude_agent_sdk", "review")
    assert (event.raw, event.origin.session_id) == (None, SESSION)


def test_a_second_session_of_the_run_is_named_relative_to_the_first(main: Path) -> None:
    """So that a journal tells the two apart."""
    other = main.with_name("99999999-2222-4333-8444-555555555555.jsonl")
    append(other, line("again"))
    ((event,),) = SessionTail(other, SPEC, base=main).read()
    assert event.origin is not None
    assert event.origin.file == other.name


def test_only_changed_files_are_read_when_they_are_known(main: Path) -> None:
    """The watch's word is taken: one file changed, one file is read; a new one is looked for."""
    tail = SessionTail(main, SPEC)
    append(main, line("go"))
    append(agent_file(main, "a1"), line("task"))
    texts(tail)
    append(main, line("more"))
    append(agent_file(main, "a1"), line("step"))
    assert texts(tail, {str(main)}) == [("main", "more")]
    assert texts(tail, {str(agent_file(main, "a1"))}) == [("subagent:a1", "step")]
    append(agent_file(main, "b2"), line("other"))
    assert texts(tail, {str(agent_file(main, "b2"))}) == [("subagent:b2", "other")]


def test_the_files_of_other_sessions_are_looked_at_once(main: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten busy neighbours in the same folder cost nothing."""
    tail = SessionTail(main, SPEC)
    append(main, line("go"))
    texts(tail)
    time.sleep(0.11)
    neighbour = main.with_name("99999999-2222-4333-8444-555555555555.jsonl")
    append(neighbour, line("not ours"))
    assert texts(tail, {str(neighbour)}) == []
    monkeypatch.setattr(tail._layout, "members", lambda *_: pytest.fail("looked for members again"))
    append(neighbour, line("not ours"))
    assert texts(tail, {str(neighbour)}) == []


def test_what_to_watch_grows_with_the_session(main: Path, tmp_path: Path) -> None:
    """The way to the session while there is none, then its folder and those inside."""
    tail = SessionTail(main, SPEC)
    assert tail.folders == {tmp_path}
    append(main, line("go"))
    texts(tail)
    assert tail.folders == {main.parent}
    append(agent_file(main, "a1"), line("task"))
    texts(tail)
    assert tail.folders == {main.parent, main.with_suffix(""), agent_file(main, "a1").parent}


def test_a_file_that_cannot_be_read_does_not_stop_the_others(main: Path) -> None:
    """It is one of the problems, once."""
    tail = SessionTail(main, SPEC)
    append(main, line("go"))
    agent_file(main, "a1").parent.mkdir(parents=True)
    os.mkfifo(agent_file(main, "a1"))
    append(agent_file(main, "b2"), line("task"))
    assert texts(tail) == [("main", "go"), ("subagent:b2", "task")]
    texts(tail)
    assert [type(problem).__name__ for problem in tail.problems] == ["SourceError"]


def test_five_hundred_files_at_once_are_read_with_few_descriptors(main: Path) -> None:
    """All of them, in order, while only a few are held open."""
    append(main, line("go"))
    for number in range(500):
        append(agent_file(main, f"a{number}"), line("one") + line("two"))
    before = len(list(Path("/proc/self/fd").iterdir()))
    tail = SessionTail(main, SPEC)
    found = texts(tail)
    assert len(list(Path("/proc/self/fd").iterdir())) - before <= OPEN_FILES + 1
    said = defaultdict(list)
    for source, text in found:
        said[source].append(text)
    assert len(said) == 501
    assert all(said[f"subagent:a{number}"] == ["one", "two"] for number in range(500))
    tail.close()


def test_a_journal_is_continued_for_every_file_of_a_session(main: Path, root: Path) -> None:
    """What the journal has is known; what it lost in a crash is recorded then."""
    append(main, line("go") + line("on"))
    append(agent_file(main, "a1"), line("task") + line("step"))
    whole = [event for batch in SessionTail(main, SPEC).read() for event in batch]
    for kept in range(len(whole) + 1):
        with Recorder(root, run_id=None) as recorder:
            for event in whole[:kept]:
                recorder.append(event)
            tail = SessionTail(main, SPEC, known=known_lines(read_events(recorder.path)))
            for batch in tail.read():
                for event in batch:
                    recorder.append(event)
            tail.close()
        assert comparable([replace(event, run_id=SESSION) for event in read_events(recorder.path)]) == comparable(whole)


def test_two_thousand_lines_a_second_all_arrive(main: Path) -> None:
    """Woken by the file system while another thread writes as fast as an agent never will."""
    append(main, line("0"))
    stop = threading.Event()
    tail = SessionTail(main, SPEC)

    def write() -> None:
        begun = time.monotonic()
        with main.open("a", buffering=1) as file:
            for number in range(1, 2001):
                file.write(line(str(number)))
                time.sleep(max(0.0, begun + number / 2000 - time.monotonic()))

    watch = FolderWatch(tail.folders, stop)
    writer = threading.Thread(target=write)
    writer.start()
    got = texts(tail)
    while len(got) < 2001:
        got += texts(tail, watch.wait())
    writer.join()
    watch.close()
    tail.close()
    assert [text for _, text in got] == [str(number) for number in range(2001)]


def test_a_subagent_waits_for_the_sidecar_that_is_being_written(main: Path) -> None:
    """Claude renames the sidecar moments before or after the first lines; the link is there either way."""
    append(main, line("hello"))
    tail = SessionTail(main, SPEC)
    list(tail.read())
    transcript = agent_file(main, "a0123456789abcdef")
    sidecar = transcript.with_suffix(".meta.json")
    scratch = sidecar.with_name(f"{sidecar.name}.tmp.0badcafe")
    append(scratch, '{"toolUseId":"toolu_1","agentType":"x","spawnDepth":1}')
    append(transcript, line("go", agentId="a0123456789abcdef", isSidechain=True))
    assert list(tail.read()) == []
    scratch.rename(sidecar)
    (events,) = tail.read({str(sidecar)})
    assert {(event.origin.parent_source, event.origin.parent_call_id) for event in events if event.origin} == {
        ("main", "toolu_1")
    }
