"""qwen_code: the session files of Qwen Code, with their subagents."""

from stenograph.formats.qwen_code.spec import SPEC

__all__ = ["SPEC"]
