"""The stream: every event once, from any cursor, whatever comes between."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archive_cases import SESSION, claude_line, session_path, subagent_path, synced, written
from served import KINDS
from stenograph.archive.index.schema import open_index
from stenograph.archive.store.home import home_of
from stenograph.server import stream
from stenograph.server.feed import Feed
from stenograph.server.listing import rows_of, runs_of, state_of
from stenograph.server.site import Site
from stenograph.server.stream import TOO_FAR, Following, cursor_of, places_of

SIDE = {"isSidechain": True, "agentId": "a1"}


def messages(following: Following) -> list[tuple[str, str, dict[str, Any]]]:
    """Everything that there is to send now: the id, the event and the data of each message."""
    found = []
    while True:
        for message in following.look():
            fields = dict(line.split(": ", 1) for line in message.decode().strip().split("\n"))
            if fields["event"] != "run":
                found.append((fields["id"], fields["event"], json.loads(fields["data"])))
        if not following.is_behind:
            return found


def archive(folder: Path, lines: int) -> Site:
    written(session_path(folder / "home"), *(claude_line(number, KINDS[number % 4]) for number in range(lines)))
    home = home_of(folder / "archive")
    home.make()
    synced(folder / "home", home.path)
    return Site(home)


def last_of(site: Site) -> tuple[int, int]:
    index = open_index(site.home.path, readonly=True)
    try:
        return index.execute("SELECT revision, last_seq FROM runs WHERE run_id = ?", (SESSION,)).fetchone()
    finally:
        index.close()


def covered(sent: list[tuple[str, str, dict[str, Any]]], first: int) -> int:
    """The number of the last event; fails unless every one from the first on was sent once, in order."""
    for _, kind, data in sent:
        assert kind in ("append", "replace")
        begin = data["first"] if kind == "append" else data["seq"]
        assert begin == first
        assert data["seq"] - begin + 1 == data["count"]
        first = data["seq"] + 1
    return first - 1


def test_every_event_is_sent_once(tmp_path: Path) -> None:
    """Those behind the cursor, in order; appends are whole, a result replaces the call that was sent before."""
    site = archive(tmp_path, 4)
    revision, last = last_of(site)
    following = Following(site, [SESSION], cursor_of(f"{SESSION}:{revision}:{last}"))
    assert messages(following) == []
    written(session_path(tmp_path / "home"), *(claude_line(number, KINDS[number % 4]) for number in range(4, 7)))
    written(subagent_path(tmp_path / "home"), claude_line(90, text="look", **SIDE))
    synced(tmp_path / "home", site.home.path)
    first = messages(following)
    reached = covered(first, last + 1)
    assert [data["source"] for _, _, data in first if "source" in data] == ["subagent:a1"]
    written(session_path(tmp_path / "home"), claude_line(7, "result", "the answer"))
    synced(tmp_path / "home", site.home.path)
    second = messages(following)
    assert covered(second, reached + 1) == last_of(site)[1]
    replaced = [data for _, kind, data in second if kind == "replace"]
    assert len(replaced) == 1
    assert "the answer" in replaced[0]["html"]
    assert f'id="{replaced[0]["anchor"]}"' in replaced[0]["html"]
    assert messages(following) == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """An archive that no test changes."""
    return archive(tmp_path_factory.mktemp("streamed"), 60)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_stream_resumes_from_any_message(site: Site, data: st.DataObject) -> None:
    """Whoever comes back with the id of any message gets exactly what followed it."""
    revision, _ = last_of(site)
    whole = messages(Following(site, [SESSION], cursor_of(f"{SESSION}:{revision}:0")))
    place = data.draw(st.integers(0, len(whole) - 1))
    again = messages(Following(site, [SESSION], cursor_of(whole[place][0])))
    assert covered(again, whole[place][2]["seq"] + 1) == whole[-1][2]["seq"]


def test_a_run_that_was_numbered_anew_is_a_gap(tmp_path: Path) -> None:
    """So is one that is too far ahead, and one that has become shorter; afterwards the stream goes on."""
    site = archive(tmp_path, 8)
    revision, last = last_of(site)
    for cursor in (f"{SESSION}:{revision + 1}:{last}", f"{SESSION}:{revision}:{last + 1}"):
        following = Following(site, [SESSION], cursor_of(cursor))
        assert [kind for _, kind, _ in messages(following)] == ["gap"]
        assert messages(following) == []
    long = archive(tmp_path / "long", TOO_FAR)
    following = Following(long, [SESSION], cursor_of(f"{SESSION}:0:1"))
    assert [(kind, data["from"]) for _, kind, data in messages(following)] == [("gap", 2)]


def test_a_cursor_of_anything_else_is_left_out() -> None:
    """It comes from outside."""
    assert cursor_of("") == {}
    assert cursor_of("a:b:c,,:1:2,x:1:,y:1:2:3,z:99999999999999:1") == {}
    assert cursor_of("a:0:7,b:2:9") == {"a": (0, 7), "b": (2, 9)}
    assert cursor_of("a:0:7,a:1:2,a:0:5") == {"a": (0, 5)}


def test_a_run_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    """No archive, no run: nothing is sent, nothing breaks."""
    site = Site(home_of(tmp_path / "archive"))
    following = Following(site, [SESSION, "list"], {})
    assert messages(following) == []
    archive(tmp_path, 4)
    assert messages(following) == []


def sent(following: Following) -> list[tuple[str, dict[str, Any]]]:
    """The figures that there are to send now: the event and the data of each message."""
    lines = [message.decode().strip().split("\n") for message in following.figures()]
    return [(event.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for event, data in lines]


def test_a_list_hears_of_every_run_at_first(tmp_path: Path) -> None:
    """Also of those that ended: any of them may have changed since the page was made, and the page can tell."""
    site = archive(tmp_path, 4)
    rows = rows_of(site, runs_of(site, {})[0])
    following = Following(site, ["list"], {})
    *first, last = sent(following)
    assert [(kind, data["row"]) for kind, data in first] == [("run", row) for row in reversed(rows)]
    assert last == ("listed", {})
    assert sent(following) == []
    written(session_path(tmp_path / "home"), claude_line(100, "call", "one more"))
    synced(tmp_path / "home", site.home.path)
    assert [kind for kind, _ in sent(following)] == ["run"]


def test_a_run_that_is_not_one_of_the_newest_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an event, as when its process dies: the page of open runs hears of it, and no list puts it on top."""
    monkeypatch.setattr(stream, "_LISTED", 1)
    home = tmp_path / "home"
    old, newer = (f"0f1e2d3c-4b5a-4978-8695-00000000000{number}" for number in (1, 2))
    waits = written(session_path(home, old), claude_line(1, "user", session=old))
    written(
        session_path(home, newer), claude_line(2, "user", session=newer), claude_line(3, "assistant", session=newer)
    )
    site = archive(tmp_path, 4)
    following = Following(site, ["list", newer], {})
    first = {data["run"]: (data["status"], data["newest"]) for kind, data in sent(following) if kind == "run"}
    assert first == {SESSION: ("running", True), newer: ("finished", False), old: ("running", False)}
    os.utime(waits, (0, 0))
    assert [(data["run"], data["status"], data["newest"]) for _, data in sent(following)] == [(old, "unknown", False)]
    assert sent(following) == []


def test_a_list_of_nothing_is_told_once(tmp_path: Path) -> None:
    """Before there is an archive, so that whatever comes later is news."""
    following = Following(Site(home_of(tmp_path / "archive")), ["list"], {})
    assert sent(following) == [("listed", {})]
    assert sent(following) == []


def test_a_result_alone_is_a_new_state(tmp_path: Path) -> None:
    """It changes neither messages nor calls nor tokens, but the row of the run: its last event, perhaps its errors."""
    site = archive(tmp_path, 7)
    following = Following(site, ["list"], {})
    before = dict(sent(following))["run"]["row"]
    written(session_path(tmp_path / "home"), claude_line(7, "result", "the answer"))
    synced(tmp_path / "home", site.home.path)
    ((_, data),) = sent(following)
    assert data["row"] != before


def test_a_run_has_one_state_wherever_it_is_read(site: Site) -> None:
    """In the list of a page, and by itself in the stream: else a page would take a row for news."""
    ((listed,), _) = runs_of(site, {})
    with site.run(SESSION) as (reader, run, _):
        assert state_of(site.info(reader, run)) == state_of(listed)


@settings(max_examples=15)
@given(data=st.data())
def test_messages_end_at_the_place_of_every_tab(site: Site, data: st.DataObject) -> None:
    """Tabs have different parts of a run: each finds the message that follows what it has, and each event once."""
    revision, last = last_of(site)
    tabs = data.draw(st.lists(st.integers(0, last), min_size=1, max_size=5))
    text = ",".join(f"{SESSION}:{revision}:{place}" for place in tabs)
    following = Following(site, [SESSION], cursor_of(text), places_of(text))
    chain = [(each["after"], each["seq"]) for _, _, each in messages(following)]
    assert covered(messages(Following(site, [SESSION], cursor_of(text))), min(tabs) + 1) == last
    for place in tabs:
        reached = place
        for after, seq in chain:
            assert seq <= reached or after == reached  # it has the message, or it is the next one
            reached = max(reached, seq)
        assert reached == last


def test_figures_are_looked_at_once_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if a look takes longer than the pause between two: it is not a reason for the next one."""
    monkeypatch.setattr(stream, "_BREATH", 0.0)
    site = archive(tmp_path, 4)
    following = Following(site, ["list"], {})
    looks: list[int] = []
    figures = following.figures
    monkeypatch.setattr(following, "figures", lambda: looks.append(len(looks)) or figures())

    async def listen() -> None:
        feed = Feed(site.home)  # not started: it wakes when this test does
        sent = stream._messages(following, feed)
        while b"event: listed" not in await anext(sent):
            pass
        rest = asyncio.ensure_future(anext(sent))
        await asyncio.sleep(0.2)
        assert looks == [0]
        await asyncio.to_thread(grow)
        feed._wake()
        assert b"event: run" in await rest
        assert looks == [0, 1]
        feed.close()
        async for _ in sent:
            pass

    def grow() -> None:
        written(session_path(tmp_path / "home"), claude_line(100, "call", "one more"))
        synced(tmp_path / "home", site.home.path)

    asyncio.run(listen())
