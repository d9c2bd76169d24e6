"""How each agent writes: bytes or objects to canonical events, one module each. No I/O, no clock."""

from stenograph.formats.base import Context, Format, FormatSpec, Identity, Report

__all__ = ["Context", "Format", "FormatSpec", "Identity", "Report"]
