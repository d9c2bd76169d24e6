"""chat_json: chats as plain JSON, a list of who said what under any of the usual names."""

from stenograph.formats.chat_json.spec import SPEC

__all__ = ["SPEC"]
