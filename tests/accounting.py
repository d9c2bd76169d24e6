"""What counts of a file by our rules, and by a counter that shares no code with them: `tests/oracle/accounting.py`."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from comparison import oracle
from stenograph.fold.usage import UsageCounter
from stenograph.model import UsagePayload
from stenograph.query.prices import load_prices
from stenograph.sources import convert

TABLE = json.loads(resources.files("stenograph.query").joinpath("prices.json").read_text())["models"]
COUNTER = oracle("accounting")


def counted(path: Path) -> list[UsagePayload]:
    """The reports that count, of everything in a file or folder."""
    counter = UsageCounter()
    for event in convert(path, keep_raw=False):
        counter.add(event)
    return list(counter.counting())


def plain(payload: UsagePayload) -> tuple[Any, ...]:
    """A report in the counter's terms."""
    read, written = payload.cache_read_input_tokens or 0, payload.cache_creation_input_tokens or 0
    hour = payload.cache_creation_1h_input_tokens or 0
    numbers = (payload.input_tokens, payload.output_tokens, read, written, hour)
    return (payload.model or "", *numbers, payload.speed, payload.service_tier, payload.cost_usd)


def naive(call: dict[str, Any]) -> tuple[Any, ...]:
    """A call of the counter, in the same order."""
    numbers = (call[name] for name in ("input", "output", "read", "written", "hour"))
    return (call["model"] or "", *numbers, call["speed"], call["tier"], call["cost"] or None)


def cost_of(payloads: list[UsagePayload]) -> float:
    """What the reports cost by the product's own prices."""
    return load_prices().total(payloads).dollars or 0.0
