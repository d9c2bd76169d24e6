"""chatgpt: the conversations that ChatGPT exports, one run for each."""

from stenograph.formats.chatgpt.spec import SPEC

__all__ = ["SPEC"]
