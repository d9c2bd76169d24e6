"""The tree of exceptions: as drawn, as built, as caught."""

from __future__ import annotations

import builtins
import re

import pytest

from stenograph import errors
from stenograph.errors import InvalidRunId, SourceError, StenographError, StoreError, StoreLocked

NAMES = errors.__all__
LINE = re.compile(r"^    (?P<lead>[│├└─ ]*)(?P<name>\w+)(?: \((?P<builtin>\w+)\))?(?:  +(?P<why>.+))?$")


def _drawn() -> dict[str, tuple[str | None, str | None]]:
    """Name to (parent, builtin), read from the tree in the module's docstring."""
    tree: dict[str, tuple[str | None, str | None]] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := LINE.match(line):
            depth = len(found["lead"]) // 4
            above[depth:] = [found["name"]]
            tree[found["name"]] = (above[depth - 1] if depth else None, found["builtin"])
    return tree


def test_the_drawn_tree_is_the_real_one() -> None:
    """Every exception stands in the docstring under its real parent, with the builtin it adds, and no other does."""
    built = {}
    for name in NAMES:
        bases = getattr(errors, name).__bases__
        own = [base.__name__ for base in bases if base.__module__ == errors.__name__]
        foreign = [base.__name__ for base in bases if base.__module__ == "builtins" and base is not Exception]
        assert len(own) <= 1, name
        assert len(foreign) <= 1, name
        built[name] = (own[0] if own else None, foreign[0] if foreign else None)
    assert _drawn() == built


def test_every_exception_is_listed() -> None:
    """`__all__` is sorted and holds each exception class of the module."""
    defined = [
        name for name, value in vars(errors).items() if isinstance(value, type) and value.__module__ == errors.__name__
    ]
    assert sorted(defined) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_exception_can_be_caught_by_root_and_builtin(name: str) -> None:
    """Each derives from the root and from the builtin that its branch of the tree names."""
    kind = getattr(errors, name)
    assert issubclass(kind, StenographError)
    tree = _drawn()
    at: str | None = name
    while at is not None:
        parent, builtin = tree[at]
        assert builtin is None or issubclass(kind, getattr(builtins, builtin))
        at = parent


@pytest.mark.parametrize("name", NAMES)
def test_every_exception_has_an_exit_code_and_says_what_it_is(name: str) -> None:
    """The command line can return it, and it is documented by a sentence."""
    kind = getattr(errors, name)
    assert isinstance(kind.exit_code, int)
    assert 1 <= kind.exit_code <= 9
    assert (kind.__doc__ or "").rstrip().endswith(".")


def test_exit_codes_tell_whose_fault_it_is() -> None:
    """A caller's mistake, an unreadable source and an unwritable store have three different codes, none the root's."""
    codes = [kind.exit_code for kind in (StenographError, errors.InvalidEvent, SourceError, StoreError)]
    assert len(set(codes)) == 4


@pytest.mark.parametrize("kind", [SourceError, StoreError, errors.RunNotFound, errors.StoreClosed])
def test_a_store_or_source_error_reads_as_its_sentence(kind: type[SourceError] | type[StoreError]) -> None:
    """It is an OSError that prints the message alone, not errno and path, and has the path as an attribute."""
    error = kind("the journal is gone; look elsewhere", "/tmp/x.jsonl")
    assert isinstance(error, OSError)
    assert str(error) == "the journal is gone; look elsewhere"
    assert error.path == "/tmp/x.jsonl"


def test_facts_are_attributes() -> None:
    """Who holds a lock, which runs fit, which value was wrong: nobody has to parse a message."""
    locked = StoreLocked("/tmp/x.jsonl", 4711)
    assert (locked.path, locked.pid) == ("/tmp/x.jsonl", 4711)
    assert "process 4711" in str(locked)
    assert "another process" in str(StoreLocked("/tmp/x.jsonl", None))
    assert errors.AmbiguousRun("two runs fit", ("a", "b")).run_ids == ("a", "b")
    assert InvalidRunId("nope").value == "nope"
