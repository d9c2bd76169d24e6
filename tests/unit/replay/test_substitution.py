"""Folders and ids of the recording, and those of now."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stenograph.replay.substitution import Folders, Substitution


def test_folders_are_replaced_where_a_path_begins_with_them() -> None:
    """Not in names that only look alike, and the longest first."""
    folders = Folders({"/home/a/work": "/tmp/now", "/home/a": "/tmp/home/"})
    assert folders.to_live("cat /home/a/work/x.txt /home/a/y") == "cat /tmp/now/x.txt /tmp/home/y"
    assert folders.to_live("cd /home/a/work. Then /home/a/works and /home/a/work-2") == (
        "cd /tmp/now. Then /tmp/home/works and /tmp/home/work-2"
    )
    assert folders.to_live("/other/home/a/x") == "/other/home/a/x"
    assert folders.to_recorded("in /tmp/now/x") == "in /home/a/work/x"


@given(st.text(alphabet="/ab. -", max_size=30))
def test_folders_come_back(text: str) -> None:
    """What was mapped to the live folders is mapped back, unless it named a live folder before."""
    folders = Folders({"/a/b": "/live"})
    assert folders.to_recorded(folders.to_live(text)) == text


def test_a_folder_is_quoted_where_a_shell_reads_it() -> None:
    """Not elsewhere; the quoted spellings are recognized in what the live agent says."""
    found = Substitution({"/old/work": "/tmp/it's $here"})
    given = {"command": ["bash", "-lc", "cat /old/work/x"], "workdir": "/old/work"}
    assert found.to_live(given, {("command", 2)}) == {
        "command": ["bash", "-lc", "cat /tmp/it\\'s\\ \\$here/x"],
        "workdir": "/tmp/it's $here",
    }
    for command in (
        "ls /old/work/x",
        "ls '/old/work/x'",
        'ls "/old/work/x"',
        "sh -c 'ls /old/work/x'",
        'sh -c "ls /old/work"',
    ):
        live = found.to_live(command, {()})
        assert live != command
        assert found.to_recorded(f"ran {live} in /tmp/it's $here") == f"ran {command} in /old/work"


@given(st.text(alphabet="/ab. -", max_size=30))
def test_plain_folders_are_replaced_alike_in_commands(text: str) -> None:
    """Whether the command is read as a shell reads it, because another folder needs quotes, or not."""
    plain = Folders({"/a/b": "/live"})
    quoted = Folders({"/a/b": "/live", "/other": "/an other"})
    assert quoted.command_to_live(text) == plain.command_to_live(text)


def test_ids_that_were_drawn_anew_are_learnt_from_results() -> None:
    """They are replaced in later inputs, in texts and as whole values; other words that differ are not."""
    found = Substitution({})
    old = 'agent "01a1e820-ab5e-7b22-b92f-28551ffaa9da" (a26540cde0619da00), session 41234, file alpha1'
    new = 'agent "01a1e999-ab5e-7b22-b92f-28551ffaa9da" (a26540cde0619db11), session 55511, file omega2'
    found.ids.learn(old, new)
    assert found.to_live({"target": "01a1e820-ab5e-7b22-b92f-28551ffaa9da", "to": ["see a26540cde0619da00."]}) == {
        "target": "01a1e999-ab5e-7b22-b92f-28551ffaa9da",
        "to": ["see a26540cde0619db11."],
    }
    assert found.to_live({"session_id": 41234, "chars": "41234 alpha1"}) == {
        "session_id": 55511,
        "chars": "41234 alpha1",
    }
    assert found.to_recorded(new.replace("55511", "41234").replace("omega2", "alpha1")) == old
    assert found.to_live([True, None, 1.5]) == [True, None, 1.5]


def test_ids_are_learnt_also_where_the_results_are_not_of_one_length() -> None:
    """A line more does not hide which id stands for which."""
    found = Substitution({})
    found.ids.learn("started a26540cde0619da00 now", "a warning\nstarted b26540cde0619da99 now")
    assert found.to_live("a26540cde0619da00") == "b26540cde0619da99"
