"""`[[keep]]` rules: what they no longer keep is removed by `sync` where they say so, and reported where they do not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from archive_cases import claude_line, session_path, written
from canary import places_of
from stenograph import config
from stenograph.archive.marks import MarkChange, add_mark
from stenograph.errors import InvalidConfig

Steno = Callable[..., Any]
RUNS = [f"0f1e2d3c-4b5a-4978-8695-00000000000{n}" for n in range(1, 5)]
AGES = [400, 200, 20, 1]
"""Days."""


class Kept:
    """An archive of four sessions of different ages, and its configuration."""

    def __init__(self, folder: Path, steno: Steno) -> None:
        self.home, self.path, self.config = folder / "home", folder / "archive", folder / "config.toml"
        self._steno = steno
        for number, (run, age) in enumerate(zip(RUNS, AGES, strict=True), 1):
            written(session_path(self.home, run), line(run, age, f"canary{number}word stands here"))
        self.sync()

    def rules(self, text: str) -> None:
        self.config.write_text(text)

    def sync(self, *options: str) -> Any:
        return self._steno("sync", "--home", self.home, "--archive", self.path, "--json", *options).json

    def runs(self) -> list[str]:
        listed = self._steno("ls", "--archive", self.path, "--json", "--limit", "0").json
        return [run for run in RUNS if run in {each["run_id"] for each in listed}]


def line(run: str, age: float, text: str) -> bytes:
    """One message of a session, so many days old."""
    at = (datetime.now(UTC) - timedelta(days=age)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return claude_line(1, text=text, session=run, timestamp=at)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steno: Steno) -> Kept:
    """The archive, without a rule so far."""
    (tmp_path / "config.toml").write_text("")
    monkeypatch.setenv("STENOGRAPH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return Kept(tmp_path, steno)


def test_without_a_rule_nothing_expires(kept: Kept) -> None:
    """However old a run is."""
    told = kept.sync()
    assert (told["expired"], told["expiring"]) == (0, 0)
    assert kept.runs() == RUNS


def test_a_rule_that_is_not_applied_only_says_what_it_would_do(kept: Kept, steno: Steno) -> None:
    """In the summary of a sync and in `steno doctor`."""
    kept.rules('[[keep]]\nage = "90d"\n')
    told = kept.sync()
    assert (told["expired"], told["expiring"]) == (0, 2)
    assert kept.runs() == RUNS
    found = [each["message"] for each in steno("doctor", "--json").json["findings"] if each["kind"] == "retention"]
    assert len(found) == 1
    assert "would remove 2 runs" in found[0]
    assert "age = '90d'" in found[0]


def test_runs_that_are_too_old_are_really_removed(kept: Kept) -> None:
    """Content, index and words; a later sync does not bring them back, and `--no-retention` holds it off."""
    kept.rules('[[keep]]\nage = "90d"\napply = true\n')
    assert kept.sync("--no-retention")["expired"] == 0
    assert kept.sync()["expired"] == 2
    assert kept.runs() == RUNS[2:]
    assert places_of(kept.path, "canary1word") == []
    assert kept.sync()["new"] == 0
    assert kept.runs() == RUNS[2:]
    assert session_path(kept.home, RUNS[0]).exists()


def test_a_session_that_goes_on_after_it_expired_is_kept_again(kept: Kept) -> None:
    """Whole: what it said before is in its file, too. So is a session of which nothing but the time changed."""
    kept.rules('[[keep]]\nage = "90d"\napply = true\n')
    kept.sync()
    with session_path(kept.home, RUNS[0]).open("ab") as file:
        file.write(line(RUNS[0], 0.001, "and now it goes on") + b"\n")
    told = kept.sync()
    assert (told["new"], told["expired"]) == (1, 0)
    assert kept.runs() == [RUNS[0], *RUNS[2:]]


def test_a_run_with_a_star_is_removed_only_by_a_rule_that_says_so(kept: Kept) -> None:
    """Stars protect, unless a rule speaks of them."""
    add_mark(kept.path, MarkChange(run_id=RUNS[0], star=True))
    kept.rules('[[keep]]\nage = "90d"\napply = true\n')
    kept.sync()
    assert kept.runs() == [RUNS[0], *RUNS[2:]]
    kept.rules('[[keep]]\nstarred = true\nage = "300d"\napply = true\n')
    kept.sync()
    assert kept.runs() == RUNS[2:]


def test_the_first_rule_that_fits_a_run_decides(kept: Kept) -> None:
    """A rule without age and size keeps what it speaks of."""
    kept.rules('[[keep]]\nagent = "claude"\n\n[[keep]]\nage = "1d"\napply = true\n')
    assert kept.sync()["expired"] == 0
    kept.rules('[[keep]]\nagent = "codex"\n\n[[keep]]\nage = "10d"\napply = true\n')
    assert kept.sync()["expired"] == 3


def test_beyond_a_size_the_oldest_go(kept: Kept) -> None:
    """As many as it takes."""
    size = session_path(kept.home, RUNS[0]).stat().st_size
    kept.rules(f'[[keep]]\nsize = "{2 * size + 20}B"\napply = true\n')
    assert kept.sync()["expired"] == 2
    assert kept.runs() == RUNS[2:]


def test_a_run_that_may_still_go_on_does_not_expire(kept: Kept) -> None:
    """Whatever the size allows."""
    written(session_path(kept.home, RUNS[3]), line(RUNS[3], 0, "now"))
    kept.rules('[[keep]]\nsize = "1B"\napply = true\n')
    kept.sync()
    assert kept.runs() == [RUNS[3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[keep]\nage = '1d'\n", "write [[keep]] above the keys of each rule"),
        ("[[keep]]\nold = '1d'\n", "rule 1 of [[keep]]: unknown key old; known keys: agent,"),
        ("[[keep]]\n[[keep]]\nage = 'soon'\n", "rule 2 of [[keep]]: age is 'soon'; write hours, days or weeks"),
        ("[[keep]]\nsize = 'much'\n", "size is 'much'; write it as 500MB or 20GB"),
        ("[[keep]]\napply = 'yes'\n", "apply is 'yes'; it must be true or false"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    """In one line, before anything is removed."""
    (tmp_path / "config.toml").write_text(text)
    monkeypatch.setenv("STENOGRAPH_CONFIG", str(tmp_path / "config.toml"))
    with pytest.raises(InvalidConfig) as raised:
        config.keep_rules()
    assert message in str(raised.value)
