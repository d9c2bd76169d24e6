"""The input of a tool call, which many agents write as JSON inside a string."""

from __future__ import annotations

from typing import Any

import msgspec

from stenograph.model.codec import REFUSALS


def arguments_of(value: Any) -> Any:
    """The object or array in a string of JSON, else the value as it is.

    Tool arguments come as strings of JSON, sometimes broken or cut short, and sometimes as objects already.
    """
    if not isinstance(value, str):
        return value
    try:
        result = msgspec.json.decode(value)
    except (*REFUSALS, UnicodeEncodeError):
        return value
    return result if isinstance(result, dict | list) else value
