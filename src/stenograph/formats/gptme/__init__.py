"""gptme: conversations of gptme (`conversation.jsonl`)."""

from stenograph.formats.gptme.spec import SPEC

__all__ = ["SPEC"]
