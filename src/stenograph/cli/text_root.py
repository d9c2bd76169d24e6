"""`--text-root` and its options: where to write runs as plain text, too, and to which thread they belong.

A module of its own because `steno run` must start fast: the writer of text transcripts is loaded when it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from stenograph import config

if TYPE_CHECKING:
    from stenograph.text_transcripts import ThreadTranscripts

_MODE = "agent"
NO_PROMPT = "no text transcript was written: each file begins with a prompt, and none was recorded"


class TextOptions(NamedTuple):
    """Where to write text transcripts, if anywhere, and what their headers say."""

    root: str | None
    thread: str | None
    chat: str | None
    mode: str

    def check(self) -> None:
        """Raise `InvalidEvent` for a thread name that cannot be a folder name."""
        if self.root and self.thread:
            self.transcripts()

    def transcripts(self) -> ThreadTranscripts | None:
        """The writer of the text transcripts; None without `--text-root`."""
        if not self.root:
            return None
        from stenograph.text_transcripts import ThreadTranscripts

        root = Path(self.root).absolute()
        return ThreadTranscripts(root, thread_id=self.thread or None, chat_id=self.chat or None, mode=self.mode)


def text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The four options, passed to the command together as `texts`."""

    @wraps(command)
    def collected(*, text_root: str | None, thread: str | None, chat: str | None, mode: str, **more: Any) -> Any:
        source = click.get_current_context().get_parameter_source
        for name in ("thread", "chat", "mode"):
            if not text_root and source(name) == ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name} is for text transcripts; add --text-root DIR")
        return command(texts=TextOptions(text_root, thread, chat, mode or _MODE), **more)

    for option in reversed(_OPTIONS):
        collected = option(collected)
    return collected


_OPTIONS = (
    click.option(
        "--text-root",
        default=lambda: config.value("archive.texts"),
        metavar="DIR",
        help="At the end, also write the run as `steno text` does.  [off unless $STENOGRAPH_TEXTS is set]",
    ),
    click.option(
        "--thread",
        envvar="STENOGRAPH_THREAD",
        metavar="ID",
        help="The thread of the text transcripts.  [default: $STENOGRAPH_THREAD or the run id]",
    ),
    click.option(
        "--chat",
        envvar="STENOGRAPH_CHAT",
        metavar="ID",
        help="The chat named in the text transcripts.  [default: $STENOGRAPH_CHAT or the agent's session id]",
    ),
    click.option(
        "--mode",
        envvar="STENOGRAPH_MODE",
        default=_MODE,
        metavar="MODE",
        help="The agent's mode in the header of the text transcripts.  [default: $STENOGRAPH_MODE or agent]",
    ),
)
