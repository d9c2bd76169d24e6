"""gemini_cli: the chat files of Gemini CLI.

Theory of operation. A chat file is a log of changes: a header, messages, a message again under the same id with more in
it (its tool calls), and patches (`$set`), some of which hold the whole history in changed form: after a resume without
thoughts and tokens, after a compaction under new ids. The transcript is what was written first. `Emitted` remembers it,
so a message gives events only for what is new in it, and a line with nothing new is a `system.event` `repeated`. What a
patch drops from the history stays in the transcript; it is only counted.
"""

from stenograph.formats.gemini_cli.spec import SPEC

__all__ = ["SPEC"]
