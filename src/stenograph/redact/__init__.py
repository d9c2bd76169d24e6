"""Events with their secrets masked: opt in with `Recorder(mask=default_masker())`.

Knows the shapes of common secrets and the names under which people keep them; promises nothing beyond. Each secret
becomes `[masked:<kind>]`, all else stays as it stood: types, keys, lengths of lists, JSON that parses.
"""

from stenograph.redact.event import default_masker
from stenograph.redact.text import mask_text

__all__ = ["default_masker", "mask_text"]
