"""Events with their secrets masked: opt in with `Recorder(mask=default_masker())`.

Knows the shapes of common secrets and the names under which people keep them; promises nothing more. Each secret
becomes `[masked:<kind>]`, everything else stays the same: types, lengths of lists and objects, JSON that parses.
"""

from stenograph.redact.event import EventMask, sharing_mask
from stenograph.redact.recording import default_masker
from stenograph.redact.text import mask_text

__all__ = ["EventMask", "default_masker", "mask_text", "sharing_mask"]
