"""kimi_code: sessions of Kimi Code, from version 2 on (`wire.jsonl`)."""

from stenograph.formats.kimi_code.spec import SPEC

__all__ = ["SPEC"]
