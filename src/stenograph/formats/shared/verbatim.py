"""Parts of messages that have no block type, kept as the agent wrote them."""

from __future__ import annotations

from typing import Any, get_args

from stenograph.model.block import Block, UnknownBlock
from stenograph.model.value import Extra

_OURS = {str(kind.__struct_config__.tag) for kind in get_args(Block)}


def verbatim(part: Any) -> UnknownBlock:
    """A part unchanged, under its own type; as `value`, when its type is the name of one of our blocks."""
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind in _OURS:
        return UnknownBlock(extra=Extra(fidelity="agent_emitted", value=part))
    others = {name: value for name, value in part.items() if name != "fidelity"}  # we set it, not the agent
    return UnknownBlock(extra=Extra({"type": kind, "fidelity": "agent_emitted", **others}))
