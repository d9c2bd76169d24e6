"""kimi_cli: sessions of kimi-cli, the predecessor of Kimi Code (`wire.jsonl`)."""

from stenograph.formats.kimi_cli.spec import SPEC

__all__ = ["SPEC"]
