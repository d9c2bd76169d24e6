"""langchain: dumps of LangChain's messages, and of states that hold them."""

from stenograph.formats.langchain.spec import SPEC

__all__ = ["SPEC"]
