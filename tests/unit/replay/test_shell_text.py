"""Folders in the texts of shell commands."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.replay.shell_text import bare, double, single, with_folders, word_with_folders

OLD = "/old/work"
ODD = '/tmp/it\'s $a `b` "c" (d) & #e\\f'
FOLDERS = st.text(alphabet=" '\"$`\\&()*?;#~!|<>\n\t{}[]=é-ab.", min_size=1).map("/{}x".format)
WORDS = [
    "{}/x",
    "{}",
    "'{}/x'",
    '"{}/x"',
    "a='{}'/x",
    "--to={}/x",
    '"$(printf %s {}/x)"',
    "\"$(printf %s '{}/x')\"",
    '`printf %s "{}/x"`',
    "$(sh -c 'printf %s {}/x')",
    "$(sh -c 'printf %s \"{}/x\"')",
    '$(sh -c "printf %s {}/x")',
    "$(cat <<'EOF'\nit's {}/x\nEOF\n)",
    "$(cat <<EOF\nit's {}/x\nEOF\n)",
    '"$(cat <<-EOF\n\tdon\'t {}/x\n\tEOF\n)"',
    "it\\'s # isn't {}",
    '"\'" {}/x',
    "$((1<<2)) {}/x",
]
"""Places of a command where a folder may stand."""


def _read(words: str) -> str:
    """What a shell makes of words."""
    done = subprocess.run(["bash", "-c", f"printf '<%s>' {words}"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("words", WORDS)
def test_a_shell_reads_the_folder_wherever_it_stands(words: str) -> None:
    """Once where the folder needs no quotes, and once where it needs all of them; blanks split no word anew."""
    odd = '/tmp/it\'s_$a`b`"c"(d)&#e\\f'
    expected = _read(words.format("/plain")).replace("/plain", odd)
    assert _read(with_folders(words.format(OLD), {OLD: odd})) == expected


@given(FOLDERS)
def test_a_folder_comes_back_from_a_shell(folder: str) -> None:
    """Without quotes, between single and between double ones."""
    command = with_folders(f"{OLD}/y '{OLD}/y' \"{OLD}/y\"", {OLD: folder})
    assert _read(command) == f"<{folder}/y>" * 3


@given(FOLDERS)
def test_a_quoted_folder_is_split_into_itself(folder: str) -> None:
    """By Python's own reading of shell words, which knows no dollar signs."""
    assert shlex.split(f"cat {bare(folder)}/y '{single(folder)}/y'") == ["cat", f"{folder}/y", f"{folder}/y"]
    plain = folder.replace("$", "").replace("`", "")
    assert shlex.split(f'cat "{double(plain)}/y"') == ["cat", f"{plain}/y"]


@given(FOLDERS, st.sampled_from([word for word in WORDS if not {"<", "`"} & {*word}]))
def test_a_folder_is_found_however_it_is_spelled(folder: str, words: str) -> None:
    """What was put into a command is found there again; empty quotes may be left of it."""
    there = with_folders(words.format(OLD), {OLD: folder})
    assert with_folders(there, {folder: OLD}).replace("''", "").replace("'\\'", "") == words.format(OLD)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (r"cat /My\ Work/x", "cat /new/x"),
        ("cat /'My Work'/x", "cat '/new'/x"),
        ('cat "/My Work"/x', 'cat "/new"/x'),
        ("cat /My Work/x", "cat /My Work/x"),
        (r"cat /My\ Works /My\ Work-2 x/My\ Work", r"cat /My\ Works /My\ Work-2 x/My\ Work"),
    ],
)
def test_a_recorded_folder_may_need_quotes(command: str, expected: str) -> None:
    """It is found by its meaning, not where blanks make several words of it or where it only begins a name."""
    assert with_folders(command, {"/My Work": "/new"}) == expected


@pytest.mark.parametrize(
    ("command", "is_clear"),
    [
        (r"rm -r /My\ Work/x", True),
        ('rm -r "/My Work/x"', True),
        ("make OUT='/My Work'", True),
        (r"bash -lc 'rm -r /My\ Work/x'", True),
        ("python -c 'open(\"/My Work/x\")'", True),
        ("bash -lc 'rm -r /My Work/x'", False),
        ("ssh host 'rm -r /My Work/x'", False),
        ("bash <<'EOF'\n/My Work/x\nEOF", False),
        ("rm -r '/My Work (copy)'", False),
    ],
)
def test_where_a_folder_is_surely_one_word(command: str, is_clear: bool) -> None:
    """In a text that another program may split, it is so only between quotes of that text."""
    assert ("@" in with_folders(command, {"/My Work": "/@"}, only_clear=True)) is is_clear


def test_words_that_no_shell_reads() -> None:
    """They hold the folder as it is."""
    assert word_with_folders("--to=/My Work/x", {"/My Work": "/@"}) == "--to=/@/x"
    assert word_with_folders("rm /My Work/x", {"/My Work": "/@"}) == "rm /My Work/x"


@given(st.text(alphabet="/old work'\"`$(){}<#\\\nEF;-c sh", max_size=60))
def test_no_text_is_too_odd(text: str) -> None:
    """Any text is read to its end, and without the folder it stays as it is."""
    assert with_folders(text, {"/nowhere": ODD}) == text


@pytest.mark.parametrize("text", ["$(" * 5000, "`(" * 5000, "sh -c '" * 500, "<<A " * 500 + "\nA"])
def test_no_text_is_too_deep(text: str) -> None:
    """Beyond some depth it is text like any other."""
    assert with_folders(f"{OLD} {text}", {OLD: "/new"}) == f"/new {text}"
