"""`steno show --as markdown|html`, `-o` and `--redact`."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from html_reading import Page
from stenograph import start_run
from stenograph.model import Event, Origin, UnknownPayload, encode

GOLDEN = Path(__file__).parents[2] / "golden"
FORMS = ["terminal", "text", "markdown", "html", "json", "entries"]
SECRET = "ghp_" + "a8Kd02mXq7Lr5Tn1Vb9Zc4Ws6Ye3Uf0Hg2Jd"
MASK = "[masked:github-token]"


def test_html_is_one_page(steno: Any, recorded: Any) -> None:
    """With everything that was said and done."""
    run, child = recorded
    shown = steno("show", run.path, "--as", "html")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith("<!DOCTYPE html>")
    read = Page(shown.out).text
    for words in ("review", "Review it.", "Be careful.", "hm", "Fine. 零", "read_file", "line 49", child.run_id):
        assert words in read


def test_full_folds_no_output(steno: Any, recorded: Any) -> None:
    """On a page everything is there in either case; long outputs are open with --full."""
    run, _ = recorded
    assert '<details class="more">' in steno("show", run.path, "--as", "html").out
    assert '<details class="more">' not in steno("show", run.path, "--as", "html", "--full").out
    assert "50 lines</summary>" in steno("show", run.path, "--as", "markdown").out
    assert "50 lines</summary>" not in steno("show", run.path, "--as", "markdown", "--full").out


def test_markdown_is_one_document(steno: Any, recorded: Any) -> None:
    """With a heading for the unit."""
    run, _ = recorded
    shown = steno("show", run.path, "--as", "markdown")
    assert (shown.code, shown.err) == (0, "")
    assert "\n## 1. Review it.\n" in shown.out


@pytest.mark.parametrize("form", FORMS)
def test_a_file_holds_what_would_be_printed(steno: Any, recorded: Any, tmp_path: Path, form: str) -> None:
    """And standard output nothing; only its owner may read it; no other file is left beside it."""
    run, _ = recorded
    printed = steno("show", run.path, "--as", form).out
    file = tmp_path / "out" / "page"
    file.parent.mkdir()
    written = steno("show", run.path, "--as", form, "-o", file)
    assert (written.code, written.out, written.err) == (0, "", "")
    assert file.read_text("utf-8") == printed
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_cannot_be_written_is_one_line(steno: Any, recorded: Any, tmp_path: Path) -> None:
    """A folder, and a folder that is not there."""
    run, _ = recorded
    for place, words in [(tmp_path, "is a folder; name a file in it"), (tmp_path / "no" / "x", "check the folder")]:
        written = steno("show", run.path, "--as", "html", "--output", place)
        assert written.code == 4
        assert words in written.err
        assert written.err.count("\n") == 1


def test_what_stood_in_the_file_stays_when_something_breaks(
    steno: Any, recorded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is there whole or not at all."""
    run, _ = recorded
    file = tmp_path / "page.html"
    file.write_text("before")

    def broken(*_: Any, **__: Any) -> Any:
        yield "half of"
        raise KeyboardInterrupt

    monkeypatch.setattr("stenograph.render.html.html_page", broken)
    assert steno("show", run.path, "--as", "html", "-o", file).code == 130
    assert file.read_text() == "before"
    assert list(tmp_path.glob(".page*")) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_planted_secret_is_found_nowhere(steno: Any, root: Path, form: str) -> None:
    """In prompts, thinking, inputs, outputs, errors, names and paths it is masked; without --redact it is there."""
    with start_run(f"run {SECRET}", root=root) as run, run.step(f"step {SECRET}", "agent") as step:
        step.user(f"Use {SECRET}.", f"Never tell {SECRET}.")
        step.assistant([{"type": "thinking", "thinking": SECRET}, {"type": "text", "text": f"`{SECRET}`"}])
        with step.tool(f"push {SECRET}", {"path": f"/tmp/{SECRET}", "env": {"GH": SECRET}}) as call:
            call.output = {"log": [f"\x1b[31m{SECRET}\x1b[0m"]}
        step.system("note", f"saw {SECRET}")
    with run.path.open("ab") as file:
        file.write(encode(_everywhere()) + b"\n")
    assert SECRET in steno("show", run.path, "--as", form, "--full").out
    shown = steno("show", run.path, "--as", form, "--full", "--redact")
    assert shown.code == 0
    assert SECRET not in shown.out
    assert MASK.replace("[", "\\[").replace("]", "\\]") in shown.out or MASK in shown.out


def _everywhere() -> Event:
    origin = Origin(adapter=SECRET, source=f"subagent:{SECRET}", session_id=SECRET, prompt_name=SECRET, file=SECRET)
    return Event(
        seq=99,
        run_id=SECRET,
        parent_run_id=SECRET,
        child_run_id=SECRET,
        type=f"new.{SECRET}",
        path=SECRET,
        iteration=0,
        timestamp=SECRET,
        origin=origin,
        payload=UnknownPayload(text=SECRET),
    )


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_an_empty_journal_is_a_document(steno: Any, tmp_path: Path, form: str) -> None:
    """That says so."""
    path = tmp_path / "550e8400-e29b-41d4-a716-446655440000.jsonl"
    path.touch()
    shown = steno("show", path, "--as", form)
    assert shown.code == 0
    assert "An empty run" in shown.out


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_flaws_are_on_the_page_and_on_stderr(steno: Any, recorded: Any, form: str) -> None:
    """Malformed lines and a torn tail are counted once, although the journal is read twice."""
    run, _ = recorded
    with run.path.open("ab") as file:
        file.write(b'not json\n{"seq":')
    shown = steno("show", run.path, "--as", form)
    assert shown.code == 0
    assert shown.err.count("1 lines are not JSON") == 1
    assert shown.err.count("7 bytes at the end") == 1
    assert "not json" in shown.out


SESSIONS = sorted(
    path
    for path in GOLDEN.glob("*/*/input*")
    if path.is_file()
    and path.suffix == ".jsonl"
    and path.parent.parent.name not in ("exchange", "otlp")  # files of spans hold many runs
)[::6]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.relative_to(GOLDEN).parts[:2])
def test_every_agent_has_a_page(steno: Any, path: Path) -> None:
    """Golden cases of each format: every event is on the page once, and all tags are ours."""
    events = steno("show", path, "--json").json
    read = Page(steno("show", path, "--as", "html").out)
    runs = {event["run_id"] for event in events}
    if len(runs) == 1:
        assert {f"seq-{event['seq']}" for event in events} <= set(read.ids)
    assert len([name for name in read.ids if "seq-" in name]) == len(events)
