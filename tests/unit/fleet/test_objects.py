"""The layer over obstore: which URLs, conditional create, errors in one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fleet_cases import folder_store
from stenograph.errors import InvalidTarget, MissingExtra, SourceError, StoreError
from stenograph.fleet.store.objects import Objects, open_store


def test_an_object_is_created_once(tmp_path: Path) -> None:
    """The second time is refused, and what is there stays."""
    store = folder_store(tmp_path)
    assert store.create("v1/a/b", b"one")
    assert not store.create("v1/a/b", b"two")
    assert store.get("v1/a/b") == store.find("v1/a/b") == b"one"
    assert store.get("v1/a/b", 1, 2) == b"ne"
    assert store.find("v1/a/c") is None
    assert [tuple(entry) for entry in store.entries("v1/")] == [("v1/a/b", 3)]
    assert store.folders("v1/") == ["a"]
    assert store.entries("v2/") == store.folders("v2/") == []


def test_maintenance_may_replace_and_delete(tmp_path: Path) -> None:
    """Those who may, and nobody else, call these."""
    store = folder_store(tmp_path)
    store.create("v1/a", b"one")
    store.replace("v1/a", b"two")
    assert store.get("v1/a") == b"two"
    store.delete(["v1/a"])
    store.delete([])
    assert store.entries("v1/") == []


def test_a_store_without_conditional_create_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One clear line; a store that honours it is accepted the first time and every time after."""
    store = folder_store(tmp_path)
    store.require_conditional_create("v1/probe", b"x")
    store.require_conditional_create("v1/probe", b"x")
    monkeypatch.setattr(Objects, "create", lambda self, key, data: self.replace(key, data) is None)
    with pytest.raises(StoreError, match=r"created twice .* use a store with conditional writes") as refused:
        store.require_conditional_create("v1/other", b"x")
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 4


@pytest.mark.parametrize("url", ["", "folder", "/folder", "file://folder", "ftp://x/y", "s3:", "memory:///", "s3://[x"])
def test_another_url_is_refused(url: str) -> None:
    """With what a store's URL looks like."""
    with pytest.raises(InvalidTarget, match="is not the URL of a"):
        open_store(url)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core does not need obstore."""
    monkeypatch.setitem(sys.modules, "obstore.exceptions", None)
    with pytest.raises(MissingExtra, match=r"\[store\]"):
        open_store("file:///tmp/x")


def test_what_is_refused_is_one_line(tmp_path: Path) -> None:
    """An object that is not there, and a folder that cannot be written."""
    store = folder_store(tmp_path)
    with pytest.raises(SourceError, match=r"v1/none is not in file://"):
        store.get("v1/none")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError) as refused:
        open_store(f"file://{tmp_path / 'file'}").create("v1/a", b"")
    assert "\n" not in str(refused.value)
