"""What is not a secret stays: code, digests, UUIDs, lock files."""

from __future__ import annotations

from harmless_texts import code_snippets, digests, lock_files
from stenograph.redact import mask_text


def share_masked(texts: list[str]) -> float:
    return sum(mask_text(text) != text for text in texts) / len(texts)


def test_code_stays_as_it_is() -> None:
    """At most one of a hundred snippets of thirty lines has something masked."""
    snippets = code_snippets(1000)
    assert len(snippets) >= 500
    assert share_masked(snippets) <= 0.01


def test_digests_uuids_and_ids_stay_as_they_are() -> None:
    """At most five of a hundred lines."""
    assert share_masked(digests(30)) <= 0.05


def test_lock_files_stay_as_they_are() -> None:
    """At most five of a hundred parts, whatever the packages are called."""
    assert share_masked(lock_files(30)) <= 0.05
