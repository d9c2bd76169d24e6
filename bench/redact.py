"""What masking costs: a harmless event, and the worst text of a megabyte."""

from __future__ import annotations

import time
from pathlib import Path

from bench.measure import Row
from stenograph.model import Event, ToolPayload
from stenograph.redact import default_masker, mask_text

_PROSE = "The parser reads a line, gives its events back, and goes on with the next one until the file ends. "
_ROUNDS = 400
_CLASSES = (
    "a",
    "0",
    "A",
    "aB3",
    "/",
    "+",
    "=",
    ":",
    '"',
    "\\",
    "<",
    " ",
    "\n",
    "-",
    "_",
    ".",
    "é",
    "密",
    "a b",
    "a=b ",
    "a: b\n",
)
_SIZE = 250_000


def rows(folder: Path) -> list[Row]:
    """Two rows: microseconds for 2 KB, seconds of processor per MB."""
    harmless = min(_harmless() for _ in range(7))
    worst, letters = max((_cost(letters), letters) for letters in _CLASSES)
    return [
        Row("mask a harmless event of 2 KB", "60 µs", f"{harmless * 1e6:.0f} µs", "", harmless <= 60e-6),
        Row("mask 1 MB of the worst class of characters", "1.5 s", f"{worst:.2f} s ({letters!r})", "", worst <= 1.5),
    ]


def _harmless() -> float:
    mask = default_masker()
    payload = ToolPayload(name="Read", call_id="toolu_01A09q90", input=None, output=_PROSE * 18, fidelity="router")
    event = Event(
        seq=1,
        run_id="550e8400-e29b-41d4-a716-446655440000",
        type="tool.result",
        path="main",
        iteration=0,
        timestamp="2026-06-08T08:14:42.123Z",
        payload=payload,
    )
    mask(event)
    began = time.process_time()
    for _ in range(_ROUNDS):
        mask(event)
    return (time.process_time() - began) / _ROUNDS


def _cost(letters: str) -> float:
    text = (letters * (_SIZE // len(letters) + 1))[:_SIZE]
    began = time.process_time()
    mask_text(text)
    return (time.process_time() - began) * 1_000_000 / _SIZE
