"""Texts made searchable elsewhere: the same as here, whatever becomes of the process."""

from __future__ import annotations

import logging
import os
import signal
import sys
from pathlib import Path

import pytest

from stenograph.archive.index.text_mill import TextMill
from stenograph.archive.index.word_process import WordProcess, all_searchable

TEXTS = ["parseHttpRequest 修复 bug".encode(), b"", b"plain", "é ".encode() * 200_000, b"aB" * 200_000]


@pytest.fixture
def words() -> WordProcess:
    """One that is closed in the test."""
    return WordProcess()


def test_the_process_does_what_is_done_here(words: WordProcess) -> None:
    """Text for text, time and again."""
    for texts in (TEXTS, TEXTS[::-1], [b"x " * 300_000]):
        assert words.searchable(texts) == all_searchable(texts)
    assert words._process is not None
    words.close()
    assert words._process is None


def test_little_text_needs_no_process(words: WordProcess) -> None:
    """Small syncs do not pay for its start."""
    assert words.searchable([b"fooBar"]) == [b"fooBar\nfoo Bar"]
    assert words._process is None


def test_without_the_process_the_work_is_done_here(words: WordProcess, caplog: pytest.LogCaptureFixture) -> None:
    """It is killed between two questions: nothing is lost, it is told once, and nobody starts another."""
    words.searchable(TEXTS)
    assert words._process is not None
    os.kill(words._process.pid, signal.SIGKILL)
    for _ in range(2):
        assert words.searchable(TEXTS) == all_searchable(TEXTS)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert words._process is None


def test_a_process_that_cannot_start_is_done_without(
    words: WordProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There is no such program."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    assert words.searchable(TEXTS) == all_searchable(TEXTS)


def test_modules_of_the_current_folder_are_not_run(
    words: WordProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Somebody's folder may have a module of our name."""
    (tmp_path / "stenograph.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    assert words.searchable(TEXTS) == all_searchable(TEXTS)
    words.close()
    assert not (tmp_path / "ran").exists()


def test_a_mill_gives_back_what_was_sent_since_the_last_time() -> None:
    """Each text with its event, in sacks large and small, by the ids of the events."""
    mill = TextMill()
    words = list(enumerate(TEXTS * 4))
    for number, text in reversed(words):
        mill.add(number, text)
    mill.send()
    first = mill.take()
    mill.add(99, b"later")
    assert list(mill.take()) == []
    mill.send()
    second = mill.take()
    sacks = list(first)
    assert len(sacks) > 1
    assert [pair for sack in sacks for pair in sack] == list(enumerate(all_searchable(TEXTS * 4)))
    assert list(second) == [[(99, b"later")]]
    assert list(mill.take()) == []
    mill.close()
