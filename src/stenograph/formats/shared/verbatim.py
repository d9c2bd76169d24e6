"""Parts of messages that no block of ours stands for, kept as the agent wrote them."""

from __future__ import annotations

from typing import Any, get_args

from stenograph.model.block import Block, UnknownBlock
from stenograph.model.value import Extra

_OURS = {str(kind.__struct_config__.tag) for kind in get_args(Block)}


def verbatim(part: Any) -> UnknownBlock:
    """A part as it stood, under its own type; whole, as `value`, where a reader would take it for a block of ours."""
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind in _OURS:
        return UnknownBlock(extra=Extra(fidelity="agent_emitted", value=part))
    told = {name: value for name, value in part.items() if name != "fidelity"}  # who vouches is not the agent's to say
    return UnknownBlock(extra=Extra({"type": kind, "fidelity": "agent_emitted", **told}))
