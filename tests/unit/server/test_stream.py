"""The stream: every event once, from any cursor, whatever comes between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from archive_cases import SESSION, claude_line, session_path, subagent_path, synced, written
from served import KINDS
from stenograph.archive.index.schema import open_index
from stenograph.archive.store.home import home_of
from stenograph.server.listing import rows_of, runs_of
from stenograph.server.site import Site
from stenograph.server.stream import TOO_FAR, Following, cursor_of

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


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_a_stream_resumes_from_any_message(tmp_path_factory: Any, data: st.DataObject) -> None:
    """Whoever comes back with the id of any message gets exactly what followed it."""
    site = archive(tmp_path_factory.mktemp("resume"), 60)
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


def test_a_run_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    """No archive, no run: nothing is sent, nothing breaks."""
    site = Site(home_of(tmp_path / "archive"))
    following = Following(site, [SESSION, "list"], {})
    assert messages(following) == []
    archive(tmp_path, 4)
    assert messages(following) == []


def test_a_list_hears_of_every_run_at_first(tmp_path: Path) -> None:
    """Also of those that ended: any of them may have changed since the page was made, and the page can tell."""
    site = archive(tmp_path, 4)
    rows = rows_of(site, runs_of(site, {})[0])
    following = Following(site, ["list"], {})
    first = [json.loads(message.decode().partition("data: ")[2]) for message in following.figures()]
    assert [(each["row"], each["is_first"]) for each in first] == [(row, True) for row in reversed(rows)]
    assert following.figures() == []
    written(session_path(tmp_path / "home"), claude_line(100, "call", "one more"))
    synced(tmp_path / "home", site.home.path)
    assert [b'"is_first":false' in message for message in following.figures()] == [True]
