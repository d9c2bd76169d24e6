"""The base of every wire value: frozen, compact on the wire, and keeps fields that it does not know."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

EXTRA_KEY = "\x7f"
"""Stands for `extra` while a value is being encoded; a rare byte, so one memchr finds whether any value has some."""


class Extra(dict[str, Any]):
    """Fields that a value carried and that do not fit its type, as they stood.

    A class of its own, so that no JSON decodes into it by accident: only `mend` builds one.
    """


class Value(
    Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    gc=False,  # JSON holds no cycles, and untracked values are cheaper to make
):
    """One value of the wire format.

    A field without a default is always written. `extra` holds what a newer writer (or a broken one)
    put beside the known fields; it is written back in place of them, key by key.
    """

    extra: Extra = field(default=None, name=EXTRA_KEY)  # type: ignore[assignment]  # None until mended
