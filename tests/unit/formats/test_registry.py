"""Which format a file is in: the surest, then the one with the higher priority, else a question."""

from __future__ import annotations

import itertools
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from stenograph.errors import AmbiguousFormat, FormatFailed
from stenograph.fold.agent_tables import GROUP, format_points
from stenograph.formats import FormatSpec, registry
from stenograph.formats.registry import broken_formats, detect_records, formats
from stenograph.sources.detection import detect_file

RECORDS = [{"role": "user", "content": "Hello.", "ts": "2026-01-01T00:00:00Z"}]


def _spec(name: str, score: int, priority: int = 0) -> FormatSpec:
    return replace(formats()["openai_chat"], name=name, detect=lambda head, path: score, priority=priority)


def _install(monkeypatch: pytest.MonkeyPatch, *specs: FormatSpec) -> None:
    monkeypatch.setattr(registry, "formats", lambda: {spec.name: spec for spec in specs})


def test_the_surest_wins_and_then_the_priority_whatever_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every order of the names gives the same winner."""
    for names in itertools.permutations("abc"):
        sure, weak, none = (_spec(name, score) for name, score in zip(names, (60, 20, 0), strict=True))
        _install(monkeypatch, *sorted((sure, weak, none), key=lambda spec: spec.name))
        assert detect_records(RECORDS) is sure
        first, second, _ = (_spec(name, 60, priority) for name, priority in zip(names, (1, 0, -1), strict=True))
        _install(monkeypatch, *sorted((first, second), key=lambda spec: spec.name))
        assert detect_records(RECORDS) is first


def test_two_that_are_equally_sure_are_a_question(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One line names both and the option that decides; with the format given nothing is asked."""
    one, other = _spec("one", 60), _spec("other", 60)
    _install(monkeypatch, one, other, _spec("weak", 59))
    path = tmp_path / "x.jsonl"
    path.write_text('{"role": "user", "content": "Hello."}\n')
    with pytest.raises(AmbiguousFormat) as found:
        detect_file(path)
    assert str(found.value) == f"{path} may be in one or other; say which with --from one"
    assert (found.value.names, found.value.exit_code) == (("one", "other"), 3)
    assert detect_file(path, other).spec is other


def test_none_that_is_sure_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A score of 0 claims nothing, and a file without a record belongs to no format."""
    _install(monkeypatch, _spec("one", 0))
    assert detect_records(RECORDS) is None
    _install(monkeypatch, _spec("one", 90))
    assert detect_records([]) is None


def test_a_message_a_line_is_only_possibly_a_chat() -> None:
    """Many programs write a role and what was said; requests and answers are the API's own."""
    scores = [formats()["openai_chat"].detect(head, "") for head in (RECORDS, [{"object": "chat.completion"}])]
    assert scores == [20, 60]


def test_a_format_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever another package's detection raises: another format's file is its own all the same."""
    broken, other = replace(_spec("one", 0), detect=lambda head, path: head[0]["nothing"]), _spec("other", 20)
    _install(monkeypatch, broken, other)
    assert detect_records(RECORDS, "x.jsonl") is other


def test_a_format_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its detection raises is one line with the format's name, for a file that no other format claims."""
    broken = replace(_spec("one", 0), detect=lambda head, path: head[0]["nothing"])
    _install(monkeypatch, broken, _spec("other", 0))
    with pytest.raises(FormatFailed, match=r"the format one failed to read x.jsonl \(KeyError: 'nothing'\)") as found:
        detect_records(RECORDS, "x.jsonl")
    assert (found.value.name, found.value.exit_code) == ("one", 3)


def test_a_package_that_is_broken_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point that cannot be loaded, gives something else or takes a name that is taken, is set aside."""
    points = [
        EntryPoint("acp", "stenograph.formats.acp:SPEC", GROUP),
        EntryPoint("acp", "stenograph.formats.exchange:SPEC", GROUP),
        EntryPoint("gone", "no_such_module:SPEC", GROUP),
        EntryPoint("odd", "stenograph.formats.acp:__doc__", GROUP),
    ]

    def entry_points(**wanted: Any) -> list[EntryPoint]:
        return points

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    _forget()
    try:
        assert list(formats()) == ["acp"]
        assert set(broken_formats()) == {"acp", "gone", "odd"}
        assert "ModuleNotFoundError" in broken_formats()["gone"]
    finally:
        _forget()


def _forget() -> None:
    registry._installed.cache_clear()
    format_points.cache_clear()


def test_a_format_that_is_asked_for_is_loaded_without_the_others() -> None:
    """One format's name costs one format: a command that knows which it needs does not wait for forty."""
    program = """
import sys
from stenograph.formats.registry import formats
assert formats()["aider"].name == "aider" and "nothing" not in formats()
loaded = [name for name in sys.modules if name.startswith("stenograph.formats.") and name.endswith("spec")]
assert loaded == ["stenograph.formats.aider.spec"], loaded
assert len(formats()) > 40 and list(formats()) == sorted(formats())
"""
    subprocess.run([sys.executable, "-c", program], check=True)
