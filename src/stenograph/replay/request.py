"""A request to a model, the same for all APIs: its history, in order."""

from __future__ import annotations

from msgspec import Struct


class Asked(Struct, frozen=True, kw_only=True):
    """A user message: its texts, each by itself."""

    texts: tuple[str, ...]

    @property
    def text(self) -> str:
        """All texts together."""
        return "\n".join(self.texts)


class Answered(Struct, frozen=True, kw_only=True):
    """An answer of the model, or a part of one, as the client sends it back."""

    text: str = ""
    call_ids: tuple[str, ...] = ()


class Returned(Struct, frozen=True, kw_only=True):
    """The result of a tool."""

    call_id: str
    text: str


class Request(Struct, frozen=True, kw_only=True):
    """One request."""

    items: tuple[Asked | Answered | Returned, ...]
    model: str = ""
    is_streamed: bool = False
    has_tools: bool = False
    after: tuple[int, int] | None = None
    """Our answer that the request follows (`previous_response_id`)."""

    @property
    def last_asked(self) -> str:
        """The last user message; empty when there is none."""
        return next((item.text for item in reversed(self.items) if isinstance(item, Asked)), "")
