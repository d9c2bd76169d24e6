"""Every file against every format: which of them would take it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stenograph.formats.registry import detect_records, formats
from stenograph.sources import detection

GENERIC = frozenset({"openai_chat", "chat_json", "openai_responses", "anthropic_messages"})
"""Formats of messages as model APIs exchange them, which many programs write: they may be possible beside another."""
POSSIBLE = 20
"""The most that such a format may be sure of a file that another program wrote."""


class Takers:
    """What each format says about a file, and which one it is taken for."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._scores: dict[str, int] = {}
        patch.setattr(detection, "detect_records", self._detect)

    def of(self, path: Path) -> tuple[str | None, dict[str, int]]:
        """The format that takes a file, and the scores of all that would."""
        self._scores = {}
        spec = detection.detect_file(path).spec
        return None if spec is None else spec.name, self._scores

    def _detect(self, records: Sequence[Any], path: str = "") -> Any:
        if records:
            scores = {name: spec.detect(records, path) for name, spec in formats().items()}
            self._scores |= {name: score for name, score in scores.items() if score > 0}
        return detect_records(records, path)


def wrong_takers(taken: str | None, scores: dict[str, int], allowed: frozenset[str]) -> dict[str, int]:
    """The formats that would take a file and may not: all but the allowed ones, and the generic ones when unsure."""
    wrong = {name: score for name, score in scores.items() if name not in allowed}
    wrong = {name: score for name, score in wrong.items() if not (name in GENERIC and score <= POSSIBLE and allowed)}
    if taken is not None and taken not in allowed:
        wrong[taken] = scores.get(taken, 0)
    return wrong
