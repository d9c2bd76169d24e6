"""Token counts, by the names that a format has for them."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stenograph.formats.shared.loose import a_dict, dollars, tokens
from stenograph.model.payload import Scope, UsagePayload


class UsageFields(Struct, frozen=True, kw_only=True):
    """Where a format has each number: paths of names, tried in order; empty when it has none."""

    input: tuple[str, ...]
    output: tuple[str, ...]
    cache_read: tuple[str, ...] = ()
    cache_write: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    cost: tuple[str, ...] = ()
    input_has_cache: bool = True
    """False when reads and writes of a cache are not part of the input."""

    def read(
        self, counts: Any, *, model: str | None = None, message_id: str | None = None, scope: Scope = "call"
    ) -> UsagePayload | None:
        """The usage in an object of counts; None when it has none."""
        into, out = _first(counts, self.input), _first(counts, self.output)
        if into is None and out is None:
            return None
        read, written = _first(counts, self.cache_read), _first(counts, self.cache_write)
        cached = 0 if self.input_has_cache else (read or 0) + (written or 0)
        return UsagePayload(
            scope=scope,
            input_tokens=(into or 0) + cached,
            output_tokens=out or 0,
            cache_read_input_tokens=read,
            cache_creation_input_tokens=written,
            reasoning_output_tokens=_first(counts, self.reasoning),
            cost_usd=next((cost for path in self.cost if (cost := dollars(_at(counts, path))) is not None), None),
            model=model,
            message_id=message_id,
        )


def _first(counts: Any, paths: tuple[str, ...]) -> int | None:
    return next((number for path in paths if (number := tokens(_at(counts, path))) is not None), None)


def _at(counts: Any, path: str) -> Any:
    for name in path.split("."):
        counts = a_dict(counts).get(name)
    return counts
